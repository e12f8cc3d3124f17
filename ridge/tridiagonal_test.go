package ridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// manyGammas go from what round-off hides to what leaves no weights.
var manyGammas = []float64{1e-30, 1e-14, 1e-9, 1e-5, 1e-2, 1, 30, 1e4, 1e9, 1e20}

// TestTridiagonal: one reduction serves every γ, and each certificate holds, for rows of many kinds and shapes,
// weighted or sparse, with or without an intercept. It certifies the same tolerance as a Cholesky factorisation for
// each γ. Without a tolerance its bounds are not much larger.
func TestTridiagonal(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		r := rand.New(rand.NewPCG(6, 28))
		ran := map[ridge.Method]int{}
		for _, kind := range kinds {
			for i, shape := range [][3]int{{40, 6, 2}, {5, 9, 1}, {3, 1, 1}, {1, 4, 1}, {300, 17, 1}} {
				s := problem(r, kind, shape[0], shape[1], shape[2], 0.1)
				s.sparse = i%2 == 1
				if r.IntN(2) == 0 {
					s.w = drawWeights(r, shape[0])
				}
				opts := ridge.ExactOptions{Method: ridge.Tridiagonal, Intercept: r.IntN(2) == 0, Backend: be}
				name := fmt.Sprintf("%s %v, intercept %v, weights %v", kind, shape, opts.Intercept, s.w != nil)
				p := refbig.New(s.x, s.y, s.w, opts.Intercept)
				for _, tol := range []float64{0, 1e-13} {
					opts.Tol = tol
					fits, err := ridge.SolveExact(t.Context(), s, manyGammas, opts)
					gammas := manyGammas
					if err != nil { // what Cholesky refuses
						gammas = manyGammas[2:]
						fits = mustExact(t, s, opts, gammas...)
					}
					alone := opts
					alone.Method = ridge.Cholesky
					each := mustExact(t, s, alone, gammas...)
					for i, f := range fits {
						ran[f.Method]++
						ridgetest.Certificate(t, p, f)
						if f.Gamma != gammas[i] {
							t.Errorf("%s: γ = %g for %g", name, f.Gamma, gammas[i])
						}
						compareCertificates(t, fmt.Sprintf("%s, γ = %g, tol = %g", name, f.Gamma, tol), f, each[i], tol)
					}
					if t.Failed() {
						t.Fatal(name)
					}
				}
			}
		}
		t.Logf("ran: %v", ran)
		if ran[ridge.Tridiagonal] < 300 || ran[ridge.Cholesky] < 20 {
			t.Errorf("ran: %v", ran)
		}
	})
}

// compareCertificates checks that got is certified to tol if want is. Without tol the bounds of got may be larger, up
// to 1e-8 or a thousand times the bounds of want.
func compareCertificates(t *testing.T, name string, got, want *ridge.Solution, tol float64) {
	t.Helper()
	for j, a := range got.Targets {
		g, w := a.RelativeErrorBound, want.Targets[j].RelativeErrorBound
		switch {
		case tol > 0 && w <= tol && !(g <= tol):
			t.Errorf("%s: certified to %g by %s, to %g by %s", name, g, got.Method, w, want.Method)
		case tol == 0 && !(g <= max(1e-8, 1000*w)):
			t.Errorf("%s: certified to %g by %s, to %g by %s in one pass", name, g, got.Method, w, want.Method)
		}
	}
	if g, w := got.EffectiveDimension, want.EffectiveDimension; !(g.Lo <= w.Hi*(1+1e-12)) || !(w.Lo <= g.Hi*(1+1e-12)) {
		t.Errorf("%s: effective dimension %v by %s, %v by %s", name, g, got.Method, w, want.Method)
	}
}

// TestTridiagonalUseful: of ordinary data T tells every γ what one pass can, and one pass more
// certifies all γ together.
func TestTridiagonalUseful(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 500, 40, 2, 1)
	gammas := []float64{1e-6, 1e-3, 1, 1e3, 1e6}
	for _, f := range mustExact(t, s, ridge.ExactOptions{Method: ridge.Tridiagonal}, gammas...) {
		df := f.EffectiveDimension
		if f.Method != ridge.Tridiagonal || f.Passes != 1 || f.Status != ridge.Factorized ||
			!(f.Targets[1].RelativeErrorBound <= 1e-10) ||
			!(df.Hi-df.Lo <= 1e-9*df.Hi) {
			t.Errorf(
				"γ = %g: %s, %d passes, %v, certified to %g, effective dimension %v",
				f.Gamma,
				f.Method,
				f.Passes,
				f.Status,
				f.Targets[1].RelativeErrorBound,
				df,
			)
		}
	}
	for _, f := range mustExact(t, s, ridge.ExactOptions{Method: ridge.Tridiagonal, Tol: 2e-16}, gammas...) {
		if f.Method != ridge.Tridiagonal || f.Passes != 2 || f.Status != ridge.Factorized ||
			!(f.Targets[1].RelativeErrorBound <= 2e-16) {
			t.Errorf(
				"γ = %g: %s, %d passes, %v, certified to %g",
				f.Gamma,
				f.Method,
				f.Passes,
				f.Status,
				f.Targets[1].RelativeErrorBound,
			)
		}
	}
}

// TestTridiagonalThreads: the same bits for any number of threads, at an order that is shared out.
func TestTridiagonalThreads(t *testing.T) {
	be := must(engine.Default())(t)
	if !be.Accuracy().Reproducible {
		t.Skip("not promised")
	}
	s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 90, 800, 1, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want []*ridge.Solution
	for _, threads := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(threads)
		got := mustExact(t, s, ridge.ExactOptions{Method: ridge.Tridiagonal, Tol: 1e-15}, 1, 100)
		if want == nil {
			want = got
		}
		for i, f := range got {
			if !slices.Equal(f.Targets[0].Coef, want[i].Targets[0].Coef) ||
				f.Targets[0].Certificate != want[i].Targets[0].Certificate ||
				f.EffectiveDimension != want[i].EffectiveDimension {
				t.Errorf("other bits on %d threads", threads)
			}
		}
	}
}

// TestFitReduces: a direct fit of four or more γ reduces K once, and its solutions name this method. Least squares, γ
// = 0, uses QR.
func TestFitReduces(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 100, 12, 1, 1)
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
		r := must(
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
	for _, x := range s.x {
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
	p := refbig.New(s.x, s.y, nil, false)
	for _, f := range r.Solutions {
		ridgetest.Certificate(t, p, f)
	}
}

// TestReductionCost: fifty γ cost a direct solution not much more than four do.
func TestReductionCost(t *testing.T) {
	src := fourier(t, 1000, 96)
	sum := summarize(t, src, ridge.SummaryConfig{Size: 8})
	seconds := func(k int) float64 {
		p := must(plan.New(sum, plan.Config{Rows: 10000, Sizes: []int{8}, Gammas: choose.Grid(sum, k)}))(t)
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
		s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 200, 20, 2, 30)
		p := refbig.New(s.x, s.y, nil, intercept)
		want := must(
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
				r := must(
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
				ridgetest.Certificate(t, p, f)
				for i := 0; i < len(r.Choice.Path); i += 7 {
					one := r.Choice.Path[i]
					ridgetest.Certificate(t, p, one)
					if one.Passes != 1 || r.Choice.Scores[i][1] != one.Targets[1].GCV {
						t.Errorf("γ = %g of the path: %d passes", one.Gamma, one.Passes)
					}
				}
			}
		}
		for _, method := range []ridge.Method{ridge.Cholesky, ridge.QR} { // which factor once for each γ
			r := must(
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
		r := must(
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
	s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 20, 3, 1, 1)
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
			s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 200, 20, 2, 30)
			s.sparse = sparse
			for range s.x {
				s.w = append(s.w, float64(1+len(s.w)%3))
			}
			p := refbig.New(s.x, s.y, s.w, intercept)
			gammas := []float64{1e-3, 1, 10, 30, 100, 300, 1e3, 1e5}
			want := must(
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
				r := must(
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
				ridgetest.Certificate(t, p, f)
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
	s := problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 50, 40, 1, 1)
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
	s := problem(rand.New(rand.NewPCG(7, 9)), "dependent", 60, 6, 1, 0)
	r := must(
		fdridge.Fit(t.Context(), s, fdridge.Options{NoIntercept: true, Method: ridge.Exact, Select: choose.GCV}),
	)(
		t,
	)
	if len(r.Choice.Path) <= 50 || !(r.Choice.Gamma() < r.Choice.Path[len(r.Choice.Path)-50].Gamma) {
		t.Errorf("%d γ, of which %g is chosen", len(r.Choice.Path), r.Choice.Gamma())
	}
	ridgetest.Certificate(t, refbig.New(s.x, s.y, nil, false), r.Solutions[0])
}

// TestTridiagonalGivesWay: if the rows are many, Cholesky replaces a tridiagonal form that misses the tolerance, and no
// pass follows.
func TestTridiagonalGivesWay(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(7, 10)), "gaussian", 200, 12, 2, 30)
	for i := range s.x {
		s.x[i][0] *= 1e4 // makes the error of the tridiagonal form large
	}
	p := refbig.New(s.x, s.y, nil, true)
	gammas := []float64{10, 100, 1e3, 1e4}
	loose := must(
		ridge.SolveExact(
			t.Context(),
			s,
			gammas,
			ridge.ExactOptions{Method: ridge.Tridiagonal, Intercept: true, Tol: 1},
		),
	)(
		t,
	)
	for i, f := range must(ridge.SolveExact(
		t.Context(), s, gammas, ridge.ExactOptions{Method: ridge.Tridiagonal, Intercept: true, Tol: 1e-9},
	))(t) {
		if before := loose[i]; before.Method != ridge.Tridiagonal || !(before.Targets[0].RelativeErrorBound > 1e-9) {
			t.Errorf("γ = %g: %v is certified to %g", f.Gamma, before.Method, before.Targets[0].RelativeErrorBound)
		}
		if f.Method != ridge.Cholesky || f.Passes != 1 || !(f.Targets[0].RelativeErrorBound <= 1e-9) {
			t.Errorf(
				"γ = %g: %v in %d passes, certified to %g",
				f.Gamma,
				f.Method,
				f.Passes,
				f.Targets[0].RelativeErrorBound,
			)
		}
		ridgetest.Certificate(t, p, f)
	}
}
