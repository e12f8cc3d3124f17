package ridge_test

import (
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// An alignment has the rows sᵢ·a, where a has many equal entries, so that all sums round the same way. Its ridge
// solution has the closed form
//
//	x* = a·Σsᵢbᵢ/(‖a‖²Σsᵢ²+γ).
type alignment struct {
	testkit.Table
	a    []float64
	s, b []float64
}

func newAlignment(d int, entry float64) alignment {
	p := alignment{a: make([]float64, d), s: []float64{1, 1.125, 1.5, 2}, b: []float64{1.25, 0.75, 1.5, -1}}
	for j := range p.a {
		p.a[j] = entry
	}
	p.a[0] = 1
	for i, s := range p.s {
		row := make([]float64, d)
		for j, v := range p.a {
			row[j] = math.Float64frombits(math.Float64bits(v)&^15) * s // exactly: s has four bits
		}
		p.X, p.Y = append(p.X, row), append(p.Y, []float64{p.b[i]})
	}
	copy(p.a, p.X[0])
	return p
}

// sum returns the sum of term(i) over the rows outside of fold k. The rows belong to two folds in turn. If k < 0, the
// sum is over all rows.
func (p alignment) sum(k int, term func(i int) float64) *big.Float {
	total := refbig.Float(0)
	for i := range p.s {
		if k < 0 || i%2 != k {
			total.Add(total, refbig.Float(term(i)))
		}
	}
	return total
}

// slope is x* = slope·a without fold k.
func (p alignment) slope(k int, gamma float64, norm2 *big.Float) *big.Float {
	h := new(big.Float).Mul(norm2, p.sum(k, func(i int) float64 { return p.s[i] * p.s[i] }))
	h.Add(h, refbig.Float(gamma))
	return h.Quo(p.sum(k, func(i int) float64 { return p.s[i] * p.b[i] }), h)
}

// TestWide: products over thousands of features are off by more than those over a few, and
// certificates know. If FDRIDGE_THOROUGH is set, twice as many rows are tried, and as many
// of the most features as of fewer.
func TestWide(t *testing.T) {
	t.Parallel()
	for _, d := range []int{300, 3000, 30000} {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			tried := 6
			if os.Getenv("FDRIDGE_THOROUGH") == "" {
				tried = 3
				if d == 30000 {
					tried = 1
				}
			}
			for k := range tried {
				p := newAlignment(d, 0.5+0.5*math.Mod(float64(k)*0.618034, 1))
				p.certified(t, driver)
				if t.Failed() {
					t.Fatalf("d = %d, %v, entries %v", d, driver, p.a[1])
				}
			}
		}
	}
}

// dot is xᵀa, exactly but for what 512 bits round: all entries of a but the first are equal.
func (p alignment) dot(x []float64) *big.Float {
	sum, v := refbig.Float(0), refbig.Float(0)
	for _, w := range x[1:] {
		sum.Add(sum, v.SetFloat64(w))
	}
	sum.Mul(sum, refbig.Float(p.a[1]))
	return sum.Add(sum, new(big.Float).Mul(refbig.Float(x[0]), refbig.Float(p.a[0])))
}

// distance is ‖x − slope·a‖, likewise.
func (p alignment) distance(x []float64, slope *big.Float) float64 {
	sum, e := refbig.Float(0), refbig.Float(0)
	first, other := new(big.Float).Mul(slope, refbig.Float(p.a[0])), new(big.Float).Mul(slope, refbig.Float(p.a[1]))
	for j, v := range x {
		want := other
		if j == 0 {
			want = first
		}
		e.SetFloat64(v)
		e.Sub(e, want)
		sum.Add(sum, e.Mul(e, e))
	}
	out, _ := sum.Sqrt(sum).Float64()
	return out
}

func (p alignment) certified(t *testing.T, driver fd.Driver) {
	d, norm2 := len(p.a), p.dot(p.a)
	scale, _ := norm2.Float64()
	cfg := ridge.SummaryConfig{Dim: d, Size: 3, Shrink: driver}
	sum := testkit.Must(ridge.Summarize(t.Context(), p, cfg, nil))(t)
	yy := p.sum(-1, func(i int) float64 { return p.b[i] * p.b[i] })
	gammas := []float64{1e-3 * scale, scale}
	for _, gamma := range gammas {
		slope := p.slope(-1, gamma, norm2)
		// f* = ½(‖b‖² − cᵀx*)
		optimum := new(big.Float).Mul(
			p.sum(-1, func(i int) float64 { return p.s[i] * p.b[i] }), new(big.Float).Mul(norm2, slope),
		)
		optimum.Sub(yy, optimum).Mul(optimum, refbig.Float(0.5))
		fits := []*ridge.Solution{testkit.Must(sum.Fit(gamma))(t)}
		for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			f, err := ridge.Solve(
				t.Context(),
				p,
				sum,
				gamma,
				ridge.SolveOptions{Method: method, Tol: 1e-14, MaxPasses: 8},
			)
			if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
				f, err = short.Solutions[0], nil
			}
			testkit.Check(t, err)
			fits = append(fits, f)
		}
		predictor := testkit.Must(sum.Predictor(gamma))(t)
		for _, f := range fits {
			along := p.dot(f.Targets[0].Coef)
			if e := p.distance(f.Targets[0].Coef, slope); !(e <= f.Targets[0].ErrorBound) {
				t.Errorf("%s: ‖x̂ − x*‖ = %g, bound %g", f.Method, e, f.Targets[0].ErrorBound)
			}
			rss := refbig.Float(0)
			for i, s := range p.s {
				r := new(big.Float).Mul(refbig.Float(s), along)
				r.Sub(r, refbig.Float(p.b[i]))
				rss.Add(rss, r.Mul(r, r))
			}
			testkit.Inside(t, f.Method.String()+": RSS", f.Targets[0].RSS, rss, yy)
			testkit.Inside(t, f.Method.String()+": objective", f.Targets[0].Objective, optimum, yy)
			testkit.Check(t, predictor.Narrow(f))
		}
		truth := new(big.Float).Mul(slope, norm2)
		testkit.Inside(t, "prediction", testkit.Must(sum.PredictInterval(gamma, p.a))(t)[0], truth, yy)
	}
	p.crossValidated(t, cfg, gammas, norm2)
}

// crossValidated holds what exact solutions without each fold miss the rows by.
func (p alignment) crossValidated(t *testing.T, cfg ridge.SummaryConfig, gammas []float64, norm2 *big.Float) {
	fitted := p.fitted(t, cfg, gammas)
	for _, exact := range []bool{false, true} {
		r := testkit.Must(
			choose.CrossValidate(t.Context(), p, cfg, choose.CrossValidation{Folds: 2, Gammas: gammas, Exact: exact}),
		)(
			t,
		)
		for g, gamma := range gammas {
			score := refbig.Float(0)
			for i, s := range p.s {
				r := new(big.Float).Mul(refbig.Float(s), new(big.Float).Mul(norm2, p.slope(i%2, gamma, norm2)))
				r.Sub(r, refbig.Float(p.b[i]))
				score.Add(score, r.Mul(r, r))
			}
			score.Quo(score, refbig.Float(float64(len(p.s))))
			testkit.Inside(t, "cross-validation", r.Ridge[g][0], score, score)
			testkit.Inside(t, "cross-validation: fitted", r.Fitted[g][0], fitted[g], fitted[g])
		}
	}
}

// fitted returns, for each γ, the mean squared error of one-shot fits without each fold on the rows of this fold.
func (p alignment) fitted(t *testing.T, cfg ridge.SummaryConfig, gammas []float64) []*big.Float {
	scores := make([]*big.Float, len(gammas))
	for g := range scores {
		scores[g] = refbig.Float(0)
	}
	for k := range 2 {
		var other testkit.Table
		for i := range p.X {
			if i%2 != k {
				other.X, other.Y = append(other.X, p.X[i]), append(other.Y, p.Y[i])
			}
		}
		rest := testkit.Must(ridge.NewSummary(cfg))(t)
		testkit.Check(t, rest.Merge(testkit.Must(ridge.Summarize(t.Context(), other, cfg, nil))(t)))
		for g, gamma := range gammas {
			along := p.dot(testkit.Must(rest.Fit(gamma))(t).Targets[0].Coef)
			for i := k; i < len(p.X); i += 2 { // row i is sᵢ·a, exactly
				r := new(big.Float).Mul(refbig.Float(p.s[i]), along)
				r.Sub(r, refbig.Float(p.b[i]))
				scores[g].Add(scores[g], r.Mul(r, r))
			}
		}
	}
	for _, v := range scores {
		v.Quo(v, refbig.Float(float64(len(p.s))))
	}
	return scores
}
