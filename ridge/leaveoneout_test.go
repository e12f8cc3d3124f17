package ridge_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// leftOut are the leave-one-out errors of each target by brute force, in 512 bits: each row
// that counts is left out and missed by the solution of the others. It is nil where no other
// counts. scale is what cancels in them.
func leftOut(t rapid.TB, p table, intercept bool, gamma float64) (scores, scale []*big.Float) {
	weight := func(i int) float64 {
		if p.w == nil {
			return 1
		}
		return p.w[i]
	}
	for range p.y[0] {
		scores, scale = append(scores, refbig.Float(0)), append(scale, refbig.Float(0))
	}
	for i, x := range p.x {
		w := weight(i)
		if w == 0 {
			continue
		}
		var xs, ys [][]float64
		var ws []float64
		total := 0.0
		for k := range p.x {
			if k != i {
				xs, ys, ws = append(xs, p.x[k]), append(ys, p.y[k]), append(ws, weight(k))
				total += weight(k)
			}
		}
		if total == 0 {
			return nil, nil
		}
		rest := must(refbig.New(xs, ys, ws, intercept).Solve(gamma))(t)
		for j, y := range p.y[i] {
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
		scores[j].Quo(scores[j], refbig.Float(float64(len(p.x))))
	}
	return scores, scale
}

// TestLeaveOneOut: brackets by the sketch, by fits that were refined and by K hold what
// leaving each row out finds, and those by K are narrow.
func TestLeaveOneOut(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			p := drawProblem(t, be)
			intercept := p.sum.Config().Intercept
			gammas := []float64{p.gamma, 100 * p.gamma}
			path := must(p.sum.Path(gammas))(t)
			refined, err := ridge.SolvePath(t.Context(), p.table, p.sum, gammas, ridge.SolveOptions{MaxPasses: 30})
			if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
				refined = short.Solutions
			} else if err != nil {
				t.Fatal(err)
			}
			one := must(ridge.LeaveOneOut(t.Context(), p.table, p.sum, path, ridge.LeaveOneOutOptions{}))(t)
			two := must(ridge.LeaveOneOut(t.Context(), p.table, p.sum, refined, ridge.LeaveOneOutOptions{}))(t)
			opts := ridge.Options{Candidates: gammas, Select: ridge.ByLOO, GammaTol: 1e-300, Size: p.sum.Config().Size, Intercept: intercept, Backend: be}
			src := &reads{Source: p.table}
			r, err := ridge.Fit(t.Context(), src, opts)
			if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
				t.Fatal(err)
			}
			if src.passes != r.Passes || r.Choice.By != ridge.ByLOO {
				t.Errorf("%d passes, told are %d; by %v", src.passes, r.Passes, r.Choice.By)
			}
			var truth []float64
			for i, gamma := range gammas {
				want, scale := leftOut(t, p.table, intercept, gamma)
				if want == nil {
					return
				}
				sum := 0.0
				for j := range want {
					ridgetest.Inside(t, "by the sketch", one[i][j], want[j], scale[j])
					ridgetest.Inside(t, "by refined fits", two[i][j], want[j], scale[j])
					ridgetest.Inside(t, "chosen by", r.Choice.Scores[i][j], want[j], scale[j])
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
		p := problem(r, "gaussian", c.n, c.d, 2, 1)
		p.x[3][0] *= 1e4 // a row of leverage next to one
		got := must(ridge.Fit(t.Context(), p, ridge.Options{Select: ridge.ByLOO, Size: 3, Intercept: true}))(t)
		widest := 0.0
		for _, targets := range got.Choice.Scores {
			for _, v := range targets {
				widest = max(widest, (v.Hi-v.Lo)/v.Lo)
			}
		}
		t.Logf("%d×%d: leave-one-out errors to %.2g at worst, %d passes on the choice", c.n, c.d, widest, got.Choice.Passes)
		if !(widest <= 1e-3) {
			t.Errorf("%d×%d: as wide as %g", c.n, c.d, widest)
		}
	}
}

// TestLeaveOneOutRefuses: other rows, and fits that are no good.
func TestLeaveOneOutRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 22))
	p, other := problem(r, "gaussian", 50, 4, 1, 1), problem(r, "gaussian", 50, 4, 1, 1)
	sum := summarize(t, p, ridge.SummaryConfig{Size: 4})
	fits := must(sum.Path([]float64{1}))(t)
	for name, c := range map[string]struct {
		src  dataset.Source
		sum  *ridge.Summary
		fits []*ridge.Solution
	}{
		"no source":        {nil, sum, fits},
		"no summary":       {p, nil, fits},
		"other rows":       {other, sum, fits},
		"fewer rows":       {must(dataset.Rows(p, 0, 40))(t), sum, fits},
		"fewer features":   {problem(r, "gaussian", 50, 3, 1, 1), sum, fits},
		"nil for a fit":    {p, sum, []*ridge.Solution{nil}},
		"fit without rows": {p, sum, []*ridge.Solution{{Gamma: 1}}},
	} {
		if _, err := ridge.LeaveOneOut(t.Context(), c.src, c.sum, c.fits, ridge.LeaveOneOutOptions{}); !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
