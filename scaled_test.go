package fdridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
)

// newFarProblem returns a problem whose columns are far from zero beside their spread. No penalty is a power of four,
// so that the entries of every scaled column are rounded.
func newFarProblem(rng *rand.Rand, wide bool) *freeProblem {
	d, n, t := 1+rng.IntN(5), 8+rng.IntN(20), 1+rng.IntN(2)
	if wide {
		d, n = 8+rng.IntN(4), 4+rng.IntN(3)
	}
	p := &freeProblem{intercept: rng.IntN(3) > 0, gamma: math.Pow(10, 6*rng.Float64()-3), penalty: make([]float64, d)}
	offset := make([]float64, d)
	for j := range p.penalty {
		p.penalty[j] = []float64{3, 0.1, 10, 7, 0.3}[rng.IntN(5)]
		offset[j] = []float64{0, 1e4, 1e6, 1e8}[rng.IntN(4)]
	}
	for i := range n {
		row, y := make([]float64, d), make([]float64, t)
		for j := range row {
			row[j] = float64(rng.IntN(201)-100) / 8
			for k := range y {
				y[k] += row[j] * float64(j-k)
			}
			row[j] += offset[j]
		}
		for k := range y {
			y[k] += rng.NormFloat64()
		}
		p.x, p.y = append(p.x, row), append(p.y, y)
		if n%3 == 0 {
			p.w = append(p.w, []float64{0.5, 1, 3, 1e6}[i%4])
		}
	}
	return p
}

// TestScaledFits holds every bound of fits with penalties to an exact reference: the rounding of the quotients by the
// roots of the penalties is in the bounds.
func TestScaledFits(t *testing.T) {
	methods := []ridge.Method{
		ridge.OneShot,
		ridge.CG,
		ridge.Galerkin,
		ridge.Newton,
		ridge.Cholesky,
		ridge.QR,
		ridge.Tridiagonal,
		ridge.Exact,
		ridge.Dual,
	}
	bounded := 0
	for seed := range uint64(20) {
		for _, method := range methods {
			rng := rand.New(rand.NewPCG(seed, 77))
			p := newFarProblem(rng, method == ridge.Dual)
			opts := fdridge.Options{
				Penalty:     p.penalty,
				NoIntercept: !p.intercept,
				Gammas:      []float64{p.gamma},
				Method:      method,
				Size:        4,
				Tol:         1e-10,
			}
			found, err := fdridge.Fit(t.Context(), p.source(t), opts)
			if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
				t.Fatal(err)
			}
			what := fmt.Sprintf("problem %d, %v", seed, method)
			bounded += p.checkFree(t, what, found.Solutions[0])
			p.checkReturned(t, what, found.Solutions[0])
		}
	}
	if bounded < 200 {
		t.Errorf("only %d targets have bounds", bounded)
	}
}

// checkReturned compares Coef and its bound, and the RSS of Coef and Intercept, with the exact solution.
func (p *freeProblem) checkReturned(t *testing.T, what string, f *ridge.Solution) {
	t.Helper()
	_, want, _ := p.exact(t)
	for k, o := range f.Targets {
		bound, _ := f.CoefficientError(k)
		squares := refbig.Float(0)
		for j, v := range o.Coef {
			e := new(big.Float).Sub(refbig.Float(v), want.Coef[k][j])
			squares.Add(squares, e.Mul(e, e))
		}
		if bigger(squares.Sqrt(squares), bound) {
			t.Errorf("%s, target %d: the coefficients are off by %g, the bound is %g", what, k, squares, bound)
		}
		rss := refbig.Float(0)
		for i, row := range p.x {
			r := new(big.Float).Sub(refbig.Float(p.y[i][k]), refbig.Float(o.Intercept))
			for j, v := range row {
				r.Sub(r, new(big.Float).Mul(refbig.Float(v), refbig.Float(o.Coef[j])))
			}
			r.Mul(r, r)
			if p.w != nil {
				r.Mul(r, refbig.Float(p.w[i]))
			}
			rss.Add(rss, r)
		}
		if rss.Cmp(refbig.Float(o.RSS.Lo)) < 0 || rss.Cmp(refbig.Float(o.RSS.Hi)) > 0 {
			t.Errorf(
				"%s, target %d: the RSS of the returned coefficients is %.20g, the bracket %v",
				what,
				k,
				rss,
				o.RSS,
			)
		}
	}
}

// TestScaledChoices holds leave-one-out errors and GCV of candidates to a reference, for fits with penalties.
func TestScaledChoices(t *testing.T) {
	gammas := []float64{1e-3, 1, 1e3}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 78))
		p := newFarProblem(rng, seed%4 == 3)
		opts := fdridge.Options{
			Penalty:     p.penalty,
			NoIntercept: !p.intercept,
			Size:        4,
			Tol:         1e-4,
			Candidates:  gammas,
			Select:      choose.LOO,
		}
		opts.Method = []ridge.Method{ridge.Exact, ridge.CG, ridge.QR, ridge.Dual}[seed%4]
		found, err := fdridge.Fit(t.Context(), p.source(t), opts)
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			t.Fatal(err)
		}
		for i, gamma := range gammas {
			for k := range p.y[0] {
				if want := p.leftOut(gamma, k); !holds(found.Choice.Scores[i][k], want) {
					t.Errorf(
						"problem %d, %v, γ = %g, target %d: the leave-one-out error is %.17g, the bracket %v",
						seed,
						opts.Method,
						gamma,
						k,
						want,
						found.Choice.Scores[i][k],
					)
				}
			}
		}
	}
}

func holds(v ridge.Interval, want *big.Float) bool {
	return want == nil ||
		refbig.Float(v.Lo).Cmp(want) <= 0 && (math.IsInf(v.Hi, 1) || refbig.Float(v.Hi).Cmp(want) >= 0)
}

// leftOut returns the leave-one-out error of target k at gamma, or nil if a row determines a coefficient alone.
func (p *freeProblem) leftOut(gamma float64, k int) *big.Float {
	table := refbig.Table{X: p.x, Y: p.y, W: p.w, Penalty: p.penalty, Intercept: p.intercept}
	return table.LeftOut(gamma, k)
}

// TestPenaltyRounding: only divisions by powers of two, of at most 1, are exact.
func TestPenaltyRounding(t *testing.T) {
	got := dataset.PenaltyRounding([]float64{1, 4, 0.25, 3, 1 + 0x1p-52, 0x1p-4, 2, 4 + 0x1p-50})
	for j, exact := range []bool{true, false, true, false, false, true, false, false} {
		if (got[j] == 0) != exact {
			t.Errorf("penalty %d: %g roundings", j, got[j])
		}
	}
	if dataset.PenaltyRounding(nil) != nil || dataset.PenaltyRounding([]float64{1, 1}) != nil {
		t.Error("penalties of 1 are roundings")
	}
}

// TestRoundedEntries: with Options.Rounding, every bound is about the entries before they were rounded, also if columns
// without penalty are projected out.
func TestRoundedEntries(t *testing.T) {
	methods := []ridge.Method{ridge.OneShot, ridge.CG, ridge.Newton, ridge.Cholesky, ridge.QR, ridge.Exact}
	bounded := 0
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 79))
		p := newFarProblem(rng, seed%6 == 5)
		d := len(p.penalty)
		for j := range p.penalty {
			p.penalty[j] = []float64{1, 4, 0.25}[rng.IntN(3)]
		}
		if d > 1 && seed%2 == 0 && len(p.x) > d+2 {
			p.free = []int{0}
			p.penalty[0] = 0
		}
		read := *p // the rows that Fit reads
		read.x = nil
		units := slices.Repeat([]float64{2}, d)
		for _, row := range p.x {
			row = slices.Clone(row)
			for j, v := range row { // the next float64 is at most two unit round-offs away
				row[j] = math.Nextafter(v, math.Inf(1-2*rng.IntN(2)))
			}
			read.x = append(read.x, row)
		}
		opts := fdridge.Options{
			Penalty:     p.penalty,
			Rounding:    units,
			NoIntercept: !p.intercept,
			Gammas:      []float64{p.gamma},
			Size:        4,
			Tol:         1e-10,
		}
		for _, method := range methods {
			opts.Method = method
			found, err := fdridge.Fit(t.Context(), read.source(t), opts)
			if _, dependent := errors.AsType[*columns.DependentError](err); dependent {
				continue
			}
			if _, singular := errors.AsType[*ridge.SingularError](err); singular {
				continue
			}
			if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
				t.Fatal(err)
			}
			what := fmt.Sprintf("problem %d, %v", seed, method)
			bounded += p.checkFree(t, what, found.Solutions[0])
			p.checkReturned(t, what, found.Solutions[0])
		}
		if seed%3 > 0 {
			continue
		}
		opts.Gammas, opts.Method, opts.Candidates, opts.Select = nil, ridge.Exact, []float64{1e-2, 10}, choose.LOO
		found, err := fdridge.Fit(t.Context(), read.source(t), opts)
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			continue // dependent columns
		}
		for i, gamma := range opts.Candidates {
			for k := range p.y[0] {
				if want := p.leftOut(gamma, k); !holds(found.Choice.Scores[i][k], want) {
					t.Errorf(
						"problem %d, γ = %g, target %d: the leave-one-out error is %.17g, the bracket %v",
						seed,
						gamma,
						k,
						want,
						found.Choice.Scores[i][k],
					)
				}
			}
		}
	}
	if bounded < 100 {
		t.Errorf("only %d targets have bounds", bounded)
	}
}
