package fdridge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// leftOut computes the leave-one-out errors of each target by brute force, in 512 bits. It solves without each row of
// positive weight, and predicts the row. It returns nil if no other row has a weight. scale bounds the size of the
// terms that cancel.
func leftOut(t rapid.TB, p testkit.Table, intercept bool, gamma float64) (scores, scale []*big.Float) {
	weight := func(i int) float64 {
		if p.W == nil {
			return 1
		}
		return p.W[i]
	}
	for range p.Y[0] {
		scores, scale = append(scores, refbig.Float(0)), append(scale, refbig.Float(0))
	}
	for i, x := range p.X {
		w := weight(i)
		if w == 0 {
			continue
		}
		var xs, ys [][]float64
		var ws []float64
		total := 0.0
		for k := range p.X {
			if k != i {
				xs, ys, ws = append(xs, p.X[k]), append(ys, p.Y[k]), append(ws, weight(k))
				total += weight(k)
			}
		}
		if total == 0 {
			return nil, nil
		}
		rest := testkit.Must(refbig.New(xs, ys, ws, intercept).Solve(gamma))(t)
		for j, y := range p.Y[i] {
			r := new(big.Float).Sub(refbig.Float(y), rest.Intercept[j])
			size := new(big.Float).Add(refbig.Float(math.Abs(y)), new(big.Float).Abs(rest.Intercept[j]))
			for k, v := range x {
				term := new(big.Float).Mul(refbig.Float(v), rest.Coef[j][k])
				r.Sub(r, term)
				size.Add(size, term.Abs(term))
			}
			scores[j].Add(scores[j], r.Mul(r.Mul(r, r), refbig.Float(w)))
			scale[j].Add(scale[j], size.Mul(size.Mul(size, size), refbig.Float(w)))
		}
	}
	for j := range scores {
		scores[j].Quo(scores[j], refbig.Float(float64(len(p.X))))
	}
	return scores, scale
}

// TestLeaveOneOut: brackets by the sketch, by fits that were refined and by K hold what
// leaving each row out finds, and those by K are narrow.
func TestLeaveOneOut(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			p := testkit.DrawProblem(t, be)
			intercept := p.Sum.Config().Intercept
			gammas := []float64{p.Gamma, 100 * p.Gamma}
			path := testkit.Must(p.Sum.Path(gammas))(t)
			refined, err := ridge.SolvePath(t.Context(), p.Table, p.Sum, gammas, ridge.SolveOptions{MaxPasses: 30})
			if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
				refined = short.Solutions
			} else if err != nil {
				t.Fatal(err)
			}
			one := testkit.Must(ridge.LeaveOneOut(t.Context(), p.Table, p.Sum, path, ridge.LeaveOneOutOptions{}))(t)
			two := testkit.Must(ridge.LeaveOneOut(t.Context(), p.Table, p.Sum, refined, ridge.LeaveOneOutOptions{}))(t)
			opts := fdridge.Options{
				Candidates:  gammas,
				Select:      choose.LOO,
				GammaTol:    1e-300,
				Size:        p.Sum.Config().Size,
				NoIntercept: !intercept,
				Backend:     be,
			}
			src := &reads{Source: p.Table}
			r, err := fdridge.Fit(t.Context(), src, opts)
			if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
				t.Fatal(err)
			}
			if src.passes != r.Passes || r.Choice.By != choose.LOO {
				t.Errorf("%d passes, told are %d; by %v", src.passes, r.Passes, r.Choice.By)
			}
			opts.Method = ridge.Exact
			exactly, err := fdridge.Fit(t.Context(), p.Table, opts)
			if _, singular := errors.AsType[*ridge.SingularError](err); err != nil && !singular {
				t.Fatal(err)
			}
			var truth []float64
			for i, gamma := range gammas {
				want, scale := leftOut(t, p.Table, intercept, gamma)
				if want == nil {
					return
				}
				sum := 0.0
				for j := range want {
					testkit.Inside(t, "by the sketch", one.Bounds[i][j], want[j], scale[j])
					testkit.Inside(t, "by refined fits", two.Bounds[i][j], want[j], scale[j])
					testkit.Inside(t, "chosen by", r.Choice.Scores[i][j], want[j], scale[j])
					if exactly != nil {
						testkit.Inside(t, "chosen exactly by", exactly.Choice.Scores[i][j], want[j], scale[j])
					}
					v, _ := want[j].Float64()
					sum += v
				}
				truth = append(truth, sum)
			}
			chosenWell(t, r.Choice, truth)
		})
	})
}

// TestLeaveOneOutNarrow: with K at hand the brackets are narrow, for any leverages.
func TestLeaveOneOutNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 21))
	for _, c := range []struct{ n, d int }{{100, 8}, {20, 30}, {300, 40}} {
		p := testkit.Problem(r, "gaussian", c.n, c.d, 2, 1)
		p.X[3][0] *= 1e4 // a row of leverage next to one
		got := testkit.Must(fdridge.Fit(t.Context(), p, fdridge.Options{Select: choose.LOO, Size: 3}))(t)
		widest := 0.0
		for _, targets := range got.Choice.Scores {
			for _, v := range targets {
				widest = max(widest, (v.Hi-v.Lo)/v.Lo)
			}
		}
		t.Logf(
			"%d×%d: leave-one-out errors to %.2g at worst, %d passes on the choice",
			c.n,
			c.d,
			widest,
			got.Choice.Passes,
		)
		if !(widest <= 1e-3) {
			t.Errorf("%d×%d: as wide as %g", c.n, c.d, widest)
		}
	}
}

// TestChoosingTogether: workers that share the rows spend the same passes on the choice, find
// the same bits, and what they find is true of all rows.
func TestChoosingTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 23))
	for _, by := range []choose.Criterion{choose.GCV, choose.LOO} {
		for _, sparse := range []bool{false, true} {
			p := testkit.Problem(r, "gaussian", 50, 6, 2, 1)
			p.Sparse, p.Block = sparse, 7
			p.W = testkit.DrawWeights(r, 50)
			const workers = 3
			shares, sum := testkit.Divide(t, r, p, 50, workers, ridge.SummaryConfig{Size: 2, Intercept: true})
			g, found, all := testkit.NewGang(workers), make([]*fdridge.Result, workers), sync.WaitGroup{}
			for rank, share := range shares {
				all.Go(func() {
					opts := fdridge.Options{Select: by, Size: 2, Reducer: g.Worker(rank)}
					opts.Summarize = func(context.Context, dataset.Source, ridge.SummaryConfig, func(int64)) (*ridge.Summary, error) {
						return sum, nil
					}
					var err error
					found[rank], err = fdridge.Fit(t.Context(), share, opts)
					if err != nil {
						g.Worker(rank).Leave(err)
						t.Error(err)
					}
				})
			}
			all.Wait()
			if t.Failed() {
				return
			}
			first := found[0]
			for rank, other := range found {
				said := func(r *fdridge.Result) string {
					out := fmt.Sprint(r.Choice.Choice, r.Choice.Scores, r.Choice.Passes)
					for _, f := range slices.Concat(r.Choice.Path, r.Solutions) {
						out += fmt.Sprint(*f)
					}
					return out
				}
				if said(other) != said(first) {
					t.Errorf("%v: worker %d found something else than worker 0", by, rank)
				}
			}
			if first.Choice.Passes == 0 || !first.Choice.Whole || !(first.Choice.RelativeExcess() <= 0.01) {
				t.Errorf("%v: %d passes, %v", by, first.Choice.Passes, first.Choice.Choice)
			}
			ref := refbig.New(p.X, p.Y, p.W, true)
			for i, f := range first.Choice.Path {
				if i%10 != 0 {
					continue
				}
				testkit.Certificate(t, ref, f)
				if by == choose.LOO {
					want, scale := leftOut(t, p, true, f.Gamma)
					for j := range want {
						testkit.Inside(t, "leave-one-out", first.Choice.Scores[i][j], want[j], scale[j])
					}
				}
			}
		}
	}
}

// TestSklearnLeaveOneOut: the errors by which RidgeCV chooses are in our brackets, up to its rounding. The chosen γ is
// the same. The cases are with and without weights and intercepts.
func TestSklearnLeaveOneOut(t *testing.T) {
	t.Parallel()
	var fixture struct {
		Cases []struct {
			Data               string
			Stride             int
			Intercept, Weights bool
			Alphas, LOO        []float64
			RidgeCV            float64
		}
	}
	testkit.ReadFixture(t, "loo.json", &fixture)
	testkit.EachPublic(
		t,
		[]string{"housing", "diabetes", "abalone", "covtype", "w8a"},
		func(t *testing.T, name string, all dataset.Source) {
			for _, c := range fixture.Cases {
				if c.Data != name {
					continue
				}
				data := testkit.ReadEvery(t, all, c.Stride)
				src, _ := testkit.Prepare(t, data.Source(t, 1, false), data.Sparse == nil)
				if c.Weights {
					src = testkit.Must(
						dataset.Weigh(src, testkit.Must(dataset.FromDense(data.N, 1, 0, testkit.Weights(data.N), nil))(t)),
					)(t)
				}
				for _, method := range []ridge.Method{ridge.Auto, ridge.Exact} {
					r := testkit.Must(
						fdridge.Fit(
							t.Context(),
							src,
							fdridge.Options{
								Method:      method,
								Candidates:  c.Alphas,
								Select:      choose.LOO,
								Size:        data.D / 4,
								NoIntercept: !c.Intercept,
							},
						),
					)(
						t,
					)
					const rounding = 1e-9 // of scikit-learn's
					widest := 0.0
					for i, want := range c.LOO {
						v := r.Choice.Scores[i][0]
						if !(v.Lo <= want*(1+rounding) && want*(1-rounding) <= v.Hi) {
							t.Errorf(
								"%s, intercept %v, weights %v, alpha %g: RidgeCV has %.17g, here it is %v",
								method,
								c.Intercept,
								c.Weights,
								c.Alphas[i],
								want,
								v,
							)
						}
						widest = max(widest, (v.Hi-v.Lo)/want)
					}
					t.Logf(
						"%s, intercept %v, weights %v: %.3g, RidgeCV %.3g; brackets to %.1e",
						method,
						c.Intercept,
						c.Weights,
						r.Choice.Gamma(),
						c.RidgeCV,
						widest,
					)
					if r.Choice.Gamma() != c.RidgeCV || !(widest <= 0.01) {
						t.Errorf(
							"%s, intercept %v, weights %v: chose %g, RidgeCV %g; brackets to %g",
							method,
							c.Intercept,
							c.Weights,
							r.Choice.Gamma(),
							c.RidgeCV,
							widest,
						)
					}
				}
			}
		},
	)
}
