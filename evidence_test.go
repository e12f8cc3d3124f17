package fdridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
)

// inBracket reports whether v holds x.
func inBracket(v ridge.Interval, x *big.Float) bool {
	return (math.IsInf(v.Lo, -1) || refbig.Float(v.Lo).Cmp(x) <= 0) &&
		(math.IsInf(v.Hi, 1) || refbig.Float(v.Hi).Cmp(x) >= 0)
}

// evidenceProblem draws a table and options whose criterion is the marginal likelihood.
func evidenceProblem(t *testing.T, rng *rand.Rand) *composed {
	t.Helper()
	n, d, k := 6+rng.IntN(20), 2+rng.IntN(5), 1+rng.IntN(2)
	if rng.IntN(3) == 0 {
		n, d = 5+rng.IntN(3), 6+rng.IntN(4) // fewer rows than features
	}
	p := &composed{}
	scale := math.Pow(10, float64(rng.IntN(7)-3))
	for range n {
		row, y := make([]float64, d), make([]float64, k)
		for j := range row {
			row[j] = scale * rng.NormFloat64() * math.Pow(4, -float64(j))
		}
		for j := range y {
			y[j] = row[j%d]/scale + rng.NormFloat64()*math.Pow(10, -float64(rng.IntN(4)))
		}
		p.x, p.y = append(p.x, row), append(p.y, y)
	}
	if rng.IntN(3) == 0 {
		for range n {
			p.w = append(p.w, []float64{0.5, 1, 3}[rng.IntN(3)])
		}
	}
	o := &p.opts
	o.Select, o.Tol, o.MaxPasses = choose.MarginalLikelihood, 1e-7, 60
	o.Size = 1 + rng.IntN(12)
	methods := ridge.Methods()
	o.Method = methods[rng.IntN(len(methods))]
	o.NoIntercept = rng.IntN(3) == 0
	o.PerTarget = rng.IntN(4) == 0
	for range 3 {
		o.Candidates = append(o.Candidates, scale*scale*math.Pow(10, 6*rng.Float64()-4))
	}
	if rng.IntN(3) == 0 {
		for range d {
			o.Penalty = append(o.Penalty, math.Pow(10, 2*rng.Float64()-1))
		}
	}
	if rng.IntN(3) == 0 {
		o.Unpenalized = []int{rng.IntN(d)}
	}
	if rng.IntN(40) == 0 && !o.PerTarget {
		o.Candidates = nil // a grid, with refinements
	}
	p.makeRows(t, d)
	return p
}

// TestEvidence: the brackets hold the negative log evidence and the noise variance in 512 bits. FDRIDGE_EVIDENCE is the
// number of problems.
func TestEvidence(t *testing.T) {
	problems := 300
	if text := os.Getenv("FDRIDGE_EVIDENCE"); text != "" {
		var err error
		problems, err = strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	checked, narrow := 0, map[ridge.Method][2]int{}
	for seed := range uint64(problems) {
		p := evidenceProblem(t, rand.New(rand.NewPCG(seed, 49)))
		what := fmt.Sprintf("problem %d by %v", seed, p.opts.Method)
		r, err := p.fit(t)
		_, missed := errors.AsType[*ridge.NotConvergedError](err)
		_, dependent := errors.AsType[*columns.DependentError](err)
		_, refused := errors.AsType[*fdridge.OptionError](err)
		if dependent || refused {
			continue
		}
		if err != nil && !missed {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if r.Each != nil {
			for j, g := range r.Each.Gammas {
				noise, loss, err := p.whole(r.Solutions[0]).Evidence(g, j)
				if err != nil || loss == nil {
					continue
				}
				checked++
				if !inBracket(r.Each.Scores[j], loss) || !inBracket(r.Each.Noise[j], noise) {
					t.Errorf(
						"%s: target %d: %.17g outside %v, or %.17g outside %v", what, j, loss, r.Each.Scores[j], noise,
						r.Each.Noise[j],
					)
				}
			}
			continue
		}
		for i, f := range r.Choice.Path {
			whole := p.whole(f)
			for j := range f.Targets {
				noise, loss, err := whole.Evidence(f.Gamma, j)
				if err != nil || loss == nil {
					continue
				}
				checked++
				v := r.Choice.Scores[i][j]
				if !inBracket(v, loss) {
					t.Errorf("%s: γ = %g, target %d: %.17g is outside %v", what, f.Gamma, j, loss, v)
				}
				if i == r.Choice.Index && !inBracket(r.Choice.Noise[j], noise) {
					t.Errorf("%s: noise %.17g is outside %v", what, noise, r.Choice.Noise[j])
				}
				count := narrow[p.opts.Method]
				count[0]++
				if v.Hi-v.Lo < 1e-6 {
					count[1]++
				}
				narrow[p.opts.Method] = count
			}
		}
	}
	for m, count := range narrow {
		t.Logf("%v: %d of %d brackets are narrower than 1e-6", m, count[1], count[0])
		if m.IsDirect() && m != ridge.DualCG && count[1]*2 < count[0] {
			t.Errorf("%v: only %d of %d brackets are narrow", m, count[1], count[0])
		}
	}
	if checked < problems {
		t.Errorf("only %d brackets were checked", checked)
	}
}

// TestEvidenceScales: if the features are multiplied by s and the targets by u, γ is multiplied by s² and the
// coefficients by u/s (scikit-learn#17624). The choice is the best γ of a fine grid up to a step of the default grid.
func TestEvidenceScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 17624))
	const n, d = 120, 8
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		y[i] = 0.5 * rng.NormFloat64()
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
			y[i] += x[i*d+j] * float64(j%3)
		}
	}
	fit := func(scale, unit float64, candidates []float64) *fdridge.Result {
		t.Helper()
		scaled, targets := make([]float64, n*d), make([]float64, n)
		for i, v := range x {
			scaled[i] = v * scale
		}
		for i, v := range y {
			targets[i] = v * unit
		}
		src, err := dataset.FromDense(n, d, 1, scaled, targets)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fdridge.Fit(t.Context(), src, fdridge.Options{Select: choose.MarginalLikelihood, Candidates: candidates})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := fit(1, 1, nil)
	first := whole.Choice
	want := whole.Solutions[0].Targets[0].Coef
	for k := -9; k <= 9; k++ {
		for _, unit := range []float64{1e-6, 1, 1e6} {
			scale := math.Pow(10, float64(k))
			r := fit(scale, unit, nil)
			c := r.Choice
			if got := c.Gamma() / scale / scale; !(math.Abs(got/first.Gamma()-1) < 1e-9) || !c.Certain {
				t.Errorf("scales %g, %g: γ = %g·scale², want %g; certain: %v", scale, unit, got, first.Gamma(), c.Certain)
			}
			for j, v := range r.Solutions[0].Targets[0].Coef {
				if got := v * scale / unit; !(math.Abs(got-want[j]) < 1e-7) {
					t.Errorf("scales %g, %g: coefficient %d is %g·unit/scale, want %g", scale, unit, j, got, want[j])
				}
			}
		}
	}
	var fine []float64
	for e := -400; e <= 400; e++ {
		fine = append(fine, first.Gamma()*math.Pow(10, float64(e)/100))
	}
	best := fit(1, 1, fine).Choice
	if step := best.Gamma() / first.Gamma(); !(step > 0.7 && step < 1.4) || !(best.Score.Lo <= first.Score.Hi) {
		t.Errorf("γ = %g by a fine grid, %g by default", best.Gamma(), first.Gamma())
	}
}
