package fdridge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A likelihood computes −log of the marginal likelihood from singular values, apart from a constant.
type likelihood struct {
	squares []float64 // squared singular values of A
	along   []float64 // squared projections of b on the left singular vectors
	rest    float64   // the squared norm of the rest of b
	free    float64   // ν
}

// likelihoodOf returns the likelihood of rows x (n×d) and targets y, centred with an intercept.
func likelihoodOf(n, d int, x, y []float64, intercept bool) *likelihood {
	a, b := mat.NewDense(n, d, append([]float64(nil), x...)), append([]float64(nil), y...)
	out := &likelihood{free: float64(n)}
	if intercept {
		out.free--
		for j := range d + 1 {
			mean := 0.0
			for i := range n {
				if j == d {
					mean += b[i] / float64(n)
				} else {
					mean += a.At(i, j) / float64(n)
				}
			}
			for i := range n {
				if j == d {
					b[i] -= mean
				} else {
					a.Set(i, j, a.At(i, j)-mean)
				}
			}
		}
	}
	var svd mat.SVD
	svd.Factorize(a, mat.SVDThin)
	var u mat.Dense
	svd.UTo(&u)
	for _, v := range b {
		out.rest += v * v
	}
	for k, s := range svd.Values(nil) {
		dot := 0.0
		for i, v := range b {
			dot += u.At(i, k) * v
		}
		out.squares, out.along = append(out.squares, s*s), append(out.along, dot*dot)
		out.rest -= dot * dot
	}
	out.rest = math.Max(out.rest, 0)
	return out
}

// at returns the score at γ.
func (l *likelihood) at(gamma float64) float64 {
	squares, logs := l.rest, 0.0
	for k, v := range l.squares {
		squares += l.along[k] * gamma / (gamma + v)
		logs += math.Log1p(v / gamma)
	}
	return (l.free*math.Log(squares) + logs) / 2
}

// TestEvidencePeak: without candidates, the choice is the best of 20,001 γ in eight powers of ten, up to their step. A
// summary and factors give the same choice, and candidates of the user are compared as they are.
func TestEvidencePeak(t *testing.T) {
	const powers, points = 8, 20001
	rng := rand.New(rand.NewPCG(49, 13))
	inside := 0
	for trial := range 200 {
		n, d := 20+rng.IntN(60), 2+rng.IntN(8)
		intercept := trial%2 == 0
		x, y := make([]float64, n*d), make([]float64, n)
		noise := math.Pow(10, 4*rng.Float64()-3)
		for i := range n {
			y[i] = 5 + noise*rng.NormFloat64()
			for j := range d {
				x[i*d+j] = rng.NormFloat64() * math.Pow(2, -float64(j))
				y[i] += x[i*d+j] * float64(j%3-1)
			}
		}
		like := likelihoodOf(n, d, x, y, intercept)
		src, err := dataset.FromDense(n, d, 1, x, y)
		if err != nil {
			t.Fatal(err)
		}
		o := fdridge.Options{Select: choose.MarginalLikelihood, NoIntercept: !intercept}
		o.Method = []ridge.Method{ridge.Auto, ridge.CG, ridge.QR, ridge.Dual}[trial%4]
		r, err := fdridge.Fit(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Choice.Gamma()
		best, at := math.Inf(1), 0
		grid := func(i int) float64 { return got * math.Pow(10, powers*(float64(i)/(points-1)-0.5)) }
		for i := range points {
			if v := like.at(grid(i)); v < best {
				best, at = v, i
			}
		}
		if !(like.at(grid(0)) > best+1e-3 && like.at(grid(points-1)) > best+1e-3) {
			continue // the likelihood has no largest value
		}
		inside++
		// A difference of a few widths of a bracket may be round-off.
		width := r.Choice.Score.Hi - r.Choice.Score.Lo
		ratio := grid(at) / got
		if width < 1e-9 && !(math.Abs(ratio-1) < 2e-3) || !(like.at(got) <= best+1e-7+16*width) {
			t.Errorf(
				"trial %d, %v: γ = %.6g, the best of a fine grid is %.6g; the scores are %.10g and %.10g",
				trial, r.Method, got, grid(at), like.at(got), best)
		}
		if !r.Choice.Certain {
			t.Errorf("trial %d, %v: not certain: %d candidates may be best", trial, r.Method, len(r.Choice.Possible))
		}
		o.PerTarget = true
		r, err = fdridge.Fit(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		if each := r.Each.Gammas[0]; r.Each.AtEnd == [2]int{} && !(math.Abs(math.Log(each/got)) < 0.05) {
			t.Errorf("trial %d, %v: γ = %.6g with PerTarget, must be near %.6g", trial, r.Method, each, got)
		}
		o.PerTarget = false
		o.Candidates = []float64{got / 2, got * 1.5, got * 4}
		r, err = fdridge.Fit(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Choice.Path) != 3 {
			t.Errorf("trial %d: %d γ were compared, 3 are given", trial, len(r.Choice.Path))
		}
		o.PerTarget = true
		r, err = fdridge.Fit(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Each.Candidates) != 3 {
			t.Errorf("trial %d: %d γ were compared with PerTarget, 3 are given", trial, len(r.Each.Candidates))
		}
	}
	if inside < 100 {
		t.Errorf("only %d of 200 trials have a largest likelihood", inside)
	}
}

// TestEvidenceReported has the rows of scikit-learn#17624. For these rows BayesianRidge returns coefficients near 0,
// though the targets are 2,000,000 and 3,000,000. The γ relative to the squares of the features is the same for all
// units, as are the coefficients relative to their units. These rows fit exactly, so that the likelihood hardly depends
// on small γ. If the units are no powers of two, round-off decides between neighbours in the grid.
func TestEvidenceReported(t *testing.T) {
	first := math.NaN()
	var coefs []float64
	for _, c := range []struct{ scales, units []float64 }{
		{[]float64{1, 0x1p-20, 0x1p-10, 2, 0x1p10, 0x1p20}, []float64{1, 0x1p-20, 0x1p-10, 0x1p10, 0x1p20, 0x1p30}},
		{[]float64{1, 1e-6, 1e-3, 10, 1e3, 1e6}, []float64{1, 1e-6, 1e-3, 1e3, 1e6, 1e9}},
	} {
		for _, scale := range c.scales {
			for _, unit := range c.units {
				x, y := []float64{scale, scale, scale, 2 * scale}, []float64{2 * unit, 3 * unit}
				src, err := dataset.FromDense(2, 2, 1, x, y)
				if err != nil {
					t.Fatal(err)
				}
				r, err := fdridge.Fit(t.Context(), src, fdridge.Options{
					Select: choose.MarginalLikelihood, NoIntercept: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				got, coef := r.Choice.Gamma()/scale/scale, r.Solutions[0].Targets[0].Coef
				if coefs == nil {
					first, coefs = got, coef
				}
				a, _ := math.Frexp(scale)
				b, _ := math.Frexp(unit)
				if a == 0.5 && b == 0.5 && got != first || !(got > 0.7*first && got < 1.4*first) {
					t.Errorf("scales %g, %g: γ = %g·scale², want %g", scale, unit, got, first)
				}
				for j, v := range coef {
					if v = v * scale / unit; !(math.Abs(v-coefs[j]) < 1e-6) || !(math.Abs(v-1) < 1e-5) {
						t.Errorf("scales %g, %g: coefficient %d is %g·unit/scale, want %g near 1", scale, unit, j, v, coefs[j])
					}
				}
			}
		}
	}
}
