package adversary

import (
	"math"
	"math/big"
	"slices"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// A Refined is about the weights of one target, in a fit with a tolerance of 1e-14 or less. Looseness is the bound
// divided by the error. Relative is the relative bound.
type Refined struct{ Looseness, Relative float64 }

// A fit can reach a relative bound of 1e-14 near the true error if its problem is within these limits. κ(H) is at most
// refinedCondition. Without a factorisation η/γ is at most refinedShrinkage. ‖A‖², ‖b‖² and γ are in the
// range that iterations accept (ridge.ScaleError).
const (
	refinedCondition = 1e-3 * 0x1p52
	refinedShrinkage = 8
	refinedRange     = 0x1p240
)

// refined books the weights of f, where this is such a problem, the solution is not zero, and the
// passes have sufficed.
func (e *evaluation) refined(name string, f *ridge.Solution, truth *refbig.Solution, iterated bool) {
	switch {
	case f.Status == ridge.PassLimit, !(e.condition(f.Gamma) <= refinedCondition):
		return
	case iterated && !(e.sum.Sketch().Bound().FD() <= refinedShrinkage*f.Gamma):
		return
	}
	for j, o := range f.Targets {
		size := normOf(truth.Coef[j])
		if size.Sign() == 0 || !e.inRange(f.Gamma, j) {
			continue
		}
		loose := overBound(beyond(distance(o.Coef, truth.Coef[j]), size), o.ErrorBound)
		e.Refined[name] = append(e.Refined[name], Refined{1 / loose, o.RelativeErrorBound})
	}
}

// condition returns the condition number of K + γI.
func (e *evaluation) condition(gamma float64) float64 {
	if e.eigenvalues == nil {
		e.eigenvalues = refbig.Eigenvalues(e.p.moments.K)
	}
	g, all := refbig.Float(gamma), e.eigenvalues
	least, most := new(big.Float).Add(all[0], g), new(big.Float).Add(all[len(all)-1], g)
	if least.Sign() <= 0 {
		return math.Inf(1)
	}
	kappa, _ := most.Quo(most, least).Float64()
	return kappa
}

// inRange says that neither ‖A‖² nor ‖b‖² of target j nor γ, but for 0, is so large or small that
// iterations refuse it.
func (e *evaluation) inRange(gamma float64, j int) bool {
	trace := refbig.Float(0)
	for i := range e.p.moments.K {
		trace.Add(trace, e.p.moments.K[i][i])
	}
	a, _ := trace.Float64()
	b, _ := e.p.moments.YY[j].Float64()
	for _, v := range []float64{a, b, gamma} {
		if !(v <= refinedRange) || v != 0 && v < 1/refinedRange {
			return false
		}
	}
	return true
}

// RefinedNames returns the names of the fits with refined results, sorted.
func (s *Search) RefinedNames() []string {
	var out []string
	for name := range s.Refined {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// RefinedLooseness returns the median and the 95 % quantile of bound/error for the refined fits of this name, and the
// number n of such fits. certified is the number of fits with a relative bound of at most 1e-14. The genomes were drawn
// at random.
func (s *Search) RefinedLooseness(name string) (median, high float64, n, certified int) {
	var loose []float64
	for _, r := range s.Refined[name] {
		loose = append(loose, r.Looseness)
		if r.Relative <= 1e-14 {
			certified++
		}
	}
	slices.Sort(loose)
	n = len(loose)
	return loose[n/2], loose[min(n-1, n*19/20)], n, certified
}
