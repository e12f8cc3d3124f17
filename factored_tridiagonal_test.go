package fdridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestFitReduces: a direct fit of four or more γ reduces K once, and its solutions name this method. Least squares, γ
// = 0, uses QR.
func TestFitReduces(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 100, 12, 1, 1)
	for _, c := range []struct {
		method, ran ridge.Method
		gammas      []float64
	}{
		{ridge.Exact, ridge.Cholesky, []float64{1, 2, 3}},
		{ridge.Exact, ridge.Tridiagonal, []float64{1, 2, 3, 4}},
		{ridge.Exact, ridge.QR, []float64{1, 2, 3, 0}},
		{ridge.Cholesky, ridge.Cholesky, []float64{1, 2, 3, 4, 5}},
		{ridge.Tridiagonal, ridge.Tridiagonal, []float64{1}},
		{ridge.Auto, ridge.Tridiagonal, []float64{1, 2, 3, 4}},
	} {
		r := testkit.Must(
			fdridge.Fit(t.Context(), s, fdridge.Options{NoIntercept: true, Method: c.method, Gammas: c.gammas}),
		)(
			t,
		)
		want := c.method
		if want == ridge.Auto {
			want = ridge.Exact
		}
		if r.Method != want || len(r.Solutions) != len(c.gammas) || r.Solutions[0].Method != c.ran {
			t.Errorf("%v at %v: %s, of which %s", c.method, c.gammas, r.Method, r.Solutions[0].Method)
		}
	}
	// Two equal features at γ below round-off: neither T nor Cholesky does, and QR reads once more.
	for _, x := range s.X {
		x[3] = x[2]
	}
	r, err := fdridge.Fit(
		t.Context(),
		s,
		fdridge.Options{NoIntercept: true, Method: ridge.Exact, Gammas: []float64{1e-40, 2, 3, 4}},
	)
	proved := r.Solutions[0].Targets[0].Proves()
	if errors.Is(err, ridge.ErrRoundOff) == proved || proved != (err == nil) {
		t.Errorf("something is proved: %v, %v", proved, err)
	}
	got, left := r.Solutions[0].Method, givenUp(r)
	if len(left) == 1 && (left[0].Method != ridge.Tridiagonal || got != ridge.QR) ||
		len(left) == 0 && got != ridge.Cholesky {
		t.Errorf("%s after %v", got, left)
	}
	p := refbig.New(s.X, s.Y, nil, false)
	for _, f := range r.Solutions {
		testkit.Certificate(t, p, f)
	}
}

// TestReductionCost: fifty γ cost a direct solution not much more than four do.
func TestReductionCost(t *testing.T) {
	src := testkit.Fourier(t, 1000, 96)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 8})
	seconds := func(k int) float64 {
		p := testkit.Must(plan.New(sum, plan.Config{Rows: 10000, Sizes: []int{8}, Gammas: choose.Grid(sum, k)}))(t)
		return p.Options[0].Seconds
	}
	one, three, four, fifty := seconds(1), seconds(3), seconds(4), seconds(50)
	if !(one < three) || !(three < four) || !(fifty < 3*four) || math.IsNaN(fifty) {
		t.Errorf("1, 3, 4, 50 γ take %g, %g, %g, %g s", one, three, four, fifty)
	}
}

// TestExactChoice: direct solutions choose the same γ as a lossless sketch, in one pass, and certify the solution to
// the tolerance. A choice by leave-one-out errors with γ = 0 among the candidates is refused.
func TestExactChoice(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 200, 20, 2, 30)
		p := refbig.New(s.X, s.Y, nil, intercept)
		want := testkit.Must(
			fdridge.Fit(
				t.Context(),
				s,
				fdridge.Options{Method: ridge.CG, Select: choose.GCV, NoIntercept: !intercept, Size: 20},
			),
		)(
			t,
		)
		for _, method := range []ridge.Method{ridge.Exact, ridge.Tridiagonal} {
			for _, tol := range []float64{0, 2e-16} {
				r := testkit.Must(
					fdridge.Fit(
						t.Context(),
						s,
						fdridge.Options{Method: method, Select: choose.GCV, NoIntercept: !intercept, Tol: tol},
					),
				)(
					t,
				)
				f, passes := r.Solutions[0], 1
				if tol > 0 {
					passes = 2
				}
				if r.Choice.Index != want.Choice.Index || !r.Choice.Certain || !r.Choice.Whole ||
					r.Choice.By != choose.GCV ||
					math.Abs(r.Choice.Gamma()/want.Choice.Gamma()-1) > 1e-12 {
					t.Errorf(
						"%s chooses %v of %d, cg %v",
						method,
						r.Choice.Gamma(),
						len(r.Choice.Path),
						want.Choice.Gamma(),
					)
				}
				if len(r.Solutions) != 1 || f.Gamma != r.Choice.Gamma() || f.Method != ridge.Tridiagonal ||
					r.Passes != passes ||
					f.Passes != passes ||
					r.Summary != nil ||
					r.Status != ridge.Factorized {
					t.Errorf("%s, tol = %g: %d passes, %v: %+v", method, tol, r.Passes, r.Status, f)
				}
				if tol > 0 && !(f.Targets[1].RelativeErrorBound <= tol) {
					t.Errorf("certified to %g", f.Targets[1].RelativeErrorBound)
				}
				testkit.Certificate(t, p, f)
				for i := 0; i < len(r.Choice.Path); i += 7 {
					one := r.Choice.Path[i]
					testkit.Certificate(t, p, one)
					if one.Passes != 1 || r.Choice.Scores[i][1] != one.Targets[1].GCV {
						t.Errorf("γ = %g of the path: %d passes", one.Gamma, one.Passes)
					}
				}
			}
		}
		for _, method := range []ridge.Method{ridge.Cholesky, ridge.QR} { // which factor once for each γ
			r := testkit.Must(
				fdridge.Fit(
					t.Context(),
					s,
					fdridge.Options{Method: method, Select: choose.GCV, NoIntercept: !intercept},
				),
			)(
				t,
			)
			if r.Choice.Index != want.Choice.Index || r.Passes != 1 || r.Best().Method != method {
				t.Errorf("%s chooses %v, cg %v, in %d passes", method, r.Choice.Gamma(), want.Choice.Gamma(), r.Passes)
			}
		}
		r := testkit.Must(
			fdridge.Fit(
				t.Context(),
				s,
				fdridge.Options{Method: ridge.Exact, Candidates: []float64{5, 1, 0}, NoIntercept: !intercept},
			),
		)(
			t,
		)
		if len(r.Choice.Path) != 3 || r.Choice.Path[2].Gamma != 0 || r.Choice.Path[2].Method != ridge.Tridiagonal {
			t.Errorf("of three candidates: %+v", r.Choice)
		}
	}
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 20, 3, 1, 1)
	for name, o := range map[string]fdridge.Options{
		"loo and gamma = 0": {NoIntercept: true, Method: ridge.Exact, Select: choose.LOO, Candidates: []float64{1, 0}},
	} {
		if _, err := fdridge.Fit(t.Context(), s, o); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// TestExactChoiceByLOO: γ is chosen of direct solutions by leave-one-out errors as it is by an
// iteration that has K, in one pass more than by GCV; memory for K beside is asked for.
func TestExactChoiceByLOO(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 200, 20, 2, 30)
			s.Sparse = sparse
			for range s.X {
				s.W = append(s.W, float64(1+len(s.W)%3))
			}
			p := refbig.New(s.X, s.Y, s.W, intercept)
			gammas := []float64{1e-3, 1, 10, 30, 100, 300, 1e3, 1e5}
			want := testkit.Must(
				fdridge.Fit(
					t.Context(),
					s,
					fdridge.Options{
						Method:      ridge.CG,
						NoIntercept: !intercept,
						Size:        20,
						Candidates:  gammas,
						Select:      choose.LOO,
					},
				),
			)(
				t,
			)
			for _, tol := range []float64{0, 2e-16} {
				src := &reads{Source: s}
				r := testkit.Must(
					fdridge.Fit(
						t.Context(),
						src,
						fdridge.Options{
							Method:      ridge.Exact,
							NoIntercept: !intercept,
							Tol:         tol,
							Candidates:  gammas,
							Select:      choose.LOO,
						},
					),
				)(
					t,
				)
				f, c := r.Solutions[0], r.Choice
				if c.Index != want.Choice.Index || !c.Certain || !c.Whole || c.By != choose.LOO || c.Passes != 1 ||
					len(c.Spent) == 0 ||
					r.Summary != nil {
					t.Errorf("chose %v, cg %v: %+v", c.Gamma(), want.Choice.Gamma(), c.Choice)
				}
				passes := 2
				if tol > 0 {
					passes = 3
				}
				if src.passes != passes || r.Passes != passes || f.Gamma != c.Gamma() ||
					f.Method != ridge.Tridiagonal ||
					r.Status != ridge.Factorized ||
					tol > 0 && !(f.Targets[1].RelativeErrorBound <= tol) {
					t.Errorf("tol = %g: %d passes, told are %d, %v: %+v", tol, src.passes, r.Passes, r.Status, f)
				}
				testkit.Certificate(t, p, f)
				for i := range gammas {
					for j, v := range c.Scores[i] {
						if w := want.Choice.Scores[i][j]; !(v.Hi-v.Lo <= 1e-9*v.Hi) || v.Lo > w.Hi || w.Lo > v.Hi {
							t.Errorf("γ = %g: leave-one-out error in %v, by cg in %v", gammas[i], v, w)
						}
					}
				}
			}
		}
	}
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 50, 40, 1, 1)
	least := uint64(0)
	if e, ok := errors.AsType[*ridge.SizeError](fail(fdridge.Fit(
		t.Context(), s, fdridge.Options{NoIntercept: true, Method: ridge.Exact, Select: choose.GCV, MaxBytes: 1},
	))); ok {
		least = e.Bytes
	}
	_, err := fdridge.Fit(
		t.Context(),
		s,
		fdridge.Options{NoIntercept: true, Method: ridge.Exact, Select: choose.LOO, MaxBytes: least},
	)
	if e, ok := errors.AsType[*ridge.SizeError](err); !ok || !(e.Bytes > least) || e.Limit != least || least == 0 {
		t.Errorf("in %d bytes, which GCV takes: %v", least, err)
	}
	if _, err := fdridge.Fit(
		t.Context(), s, fdridge.Options{NoIntercept: true, Method: ridge.Exact, Select: choose.GCV, MaxBytes: least},
	); err != nil {
		t.Error(err)
	}
}

// fail is the error of what is to fail.
func fail[T any](_ T, err error) error { return err }

// TestExactChoiceBeyond: if the smallest γ of the grid is the best, the grid is extended until round-off ends it.
func TestExactChoiceBeyond(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "dependent", 60, 6, 1, 0)
	r := testkit.Must(
		fdridge.Fit(t.Context(), s, fdridge.Options{NoIntercept: true, Method: ridge.Exact, Select: choose.GCV}),
	)(
		t,
	)
	if len(r.Choice.Path) <= 50 || !(r.Choice.Gamma() < r.Choice.Path[len(r.Choice.Path)-50].Gamma) {
		t.Errorf("%d γ, of which %g is chosen", len(r.Choice.Path), r.Choice.Gamma())
	}
	testkit.Certificate(t, refbig.New(s.X, s.Y, nil, false), r.Solutions[0])
}
