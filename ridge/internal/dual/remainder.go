package dual

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// small excludes numbers whose products may underflow.
const small = 0x1p-150

// maxRemainder returns the largest accepted bound on ‖b − (AAᵀ + γI)α‖, relative to the norm of the residual
// ‖b − Ax‖. If there are many coefficients, it accepts a larger bound, because measuring them takes long. The
// brackets are then wider.
func maxRemainder(known *certify.Dual) float64 {
	if len(known.TSS) > 1<<20/known.Dim {
		return 1e-5
	}
	return 1e-8
}

// An Unformed is a system (AAᵀ + γI)α = b for a target b that is solved without computing the coefficients Aᵀα.
type Unformed struct {
	Gamma     float64
	Target    int
	Dimension certify.Dimension // the effective dimension
	B         []float64         // b, as [Samples.Centred] returns it
	// Found has only the fields Missed and Off set. It is nil if the remainder ‖b − (AAᵀ + γI)α‖ is too large.
	Found  *Found
	Bounds certify.Weights // for the coefficients
}

// Unformed solves all systems with the tridiagonal form t of g. It stores the results in the fields Found and
// Bounds of each system.
func (g *Gram) Unformed(known *certify.Dual, t *direct.TridiagonalForm, systems []Unformed) {
	if len(systems) == 0 {
		return
	}
	n := g.N
	var gammas, targets []float64
	for _, s := range systems {
		gammas = append(gammas, s.Gamma)
		targets = append(targets, s.B...)
	}
	alpha := slices.Clone(targets)
	t.SolveEach(gammas, alpha)
	for i, r := range g.Remainders(known.Backend, gammas, alpha, targets) {
		s := &systems[i]
		a := alpha[i*n : (i+1)*n : (i+1)*n]
		inRange := s.Gamma > small &&
			s.Gamma < 1/small &&
			known.Size*known.Size < 1/small
		if !inRange {
			continue
		}
		w := known.Unformed(s.Target, s.Gamma, a, s.B, r, s.Dimension)
		total, off := known.TSS[s.Target].Round()
		isAccurate := total > small*small &&
			r <= maxRemainder(known)*math.Sqrt(w.RSS.Hi) &&
			w.Relative < 1
		if (total != 0 || off != 0) && !isAccurate {
			continue
		}
		vec.Scale(s.Gamma, a)
		s.Found = &Found{Missed: a, Off: r}
		s.Bounds = w
	}
}

// Remainders returns a bound on ‖b − (AAᵀ + γI)α‖ for each penalty γ in gammas, computed with the matrix
// g. α and b are the rows of alpha and targets that belong to γ. The rows of targets are results of
// [Samples.Centred]. With an intercept, A has the additional column that [Gram] describes. docs/math.md,
// Proposition 8.8, has the bound.
func (g *Gram) Remainders(be engine.Backend, gammas, alpha, targets []float64) []float64 {
	n := g.N
	rest := slices.Clone(targets)
	out := make([]float64, len(targets)/n)
	for k, gamma := range gammas {
		from, to := k*n, (k+1)*n
		vec.Axpy(-gamma, alpha[from:to], rest[from:to])
	}
	gram := engine.View(n, n, g.G)
	be.Gemm(
		false,
		true,
		-1,
		engine.View(len(out), n, alpha),
		gram,
		1,
		engine.View(len(out), n, rest),
	)

	size := g.Size()
	off := vec.Norm(g.Off)
	dot := (be.Accuracy().Dot(n) + engine.Roundings + roundoff.Few) * roundoff.Eps
	gramError := size*size*(dot+g.Units*roundoff.Unit) +
		g.Lost +
		off*(2*size+off)
	targetError := dot + float64(n+16)*roundoff.Eps
	for k := range out {
		norm := func(of []float64) float64 {
			return vec.Norm(of[k*n : (k+1)*n])
		}
		out[k] = (norm(rest) +
			(gramError+dot*gammas[k])*norm(alpha) +
			targetError*norm(targets)) * roundoff.Inflate
		if out[k] > 0 {
			out[k] += float64(n*n) * roundoff.Underflow
		}
	}
	return out
}
