package model_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// solved returns the model of p with scaled columns, the rows of the fit as the model prepares them, and the solutions
// from which the model was made.
func (p *noisy) solved(t *testing.T) (*model.Model, dataset.Source, []*ridge.Solution) {
	t.Helper()
	m := p.fit(t, false)
	src := sourceOf(t, p.x, p.y)
	prep := model.Preparation{Inputs: len(p.x[0]), Scaling: m.Folded}
	rows, err := prep.Apply(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := ridge.ExactOptions{Intercept: true}
	if m.Folded != nil {
		o.Rounding = m.Folded.Rounding()
	}
	fits, err := ridge.SolveExact(t.Context(), rows, []float64{p.gamma}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, src, fits
}

// spread returns the standard deviation of each column of x.
func spread(x [][]float64) []float64 {
	out := make([]float64, len(x[0]))
	for j := range out {
		var one sample
		for _, row := range x {
			one.add(row[j])
		}
		_, deviation := one.mean()
		out[j] = deviation * math.Sqrt(one.n)
	}
	return out
}

// bootstrap draws b samples with the same features, and the residuals of the fit as noise, scaled to the variance σ².
// It returns the standard deviations of the coefficients, and of the intercept at the end.
func (p *noisy) bootstrap(t *testing.T, r *rand.Rand, m *model.Model, sigma float64, b int) []float64 {
	t.Helper()
	w, again := &m.Fits[0], *p
	fitted, residuals, squares := []float64(nil), []float64(nil), 0.0
	for i, row := range p.x {
		at := w.Intercept[0]
		for j, v := range row {
			at += v * w.Coef[0][j]
		}
		e := p.y[i][0] - at
		fitted, residuals, squares = append(fitted, at), append(residuals, e), squares+e*e
	}
	scale := sigma / math.Sqrt(squares/float64(len(residuals)))
	again.y = nil
	for i := range p.x {
		row := make([]float64, b)
		for k := range row {
			row[k] = fitted[i] + scale*residuals[r.IntN(len(residuals))]
		}
		again.y = append(again.y, row)
	}
	of := again.fit(t, false).Fits[0]
	var all [][]float64
	for k := range b {
		all = append(all, append(slices.Clone(of.Coef[k]), of.Intercept[k]))
	}
	return spread(all)
}

// resample is bootstrap for samples of rows, with their features.
func (p *noisy) resample(t *testing.T, r *rand.Rand, b int) []float64 {
	t.Helper()
	var all [][]float64
	for range b {
		again := *p
		again.x, again.y = nil, nil
		for range p.x {
			i := r.IntN(len(p.x))
			again.x, again.y = append(again.x, p.x[i]), append(again.y, p.y[i])
		}
		of := again.fit(t, false).Fits[0]
		all = append(all, append(slices.Clone(of.Coef[0]), of.Intercept[0]))
	}
	return spread(all)
}

// TestBootstrap: sampling standard errors agree with the spread of the coefficients of a bootstrap of residuals, up to
// its own error, a fraction of 1/√(2b) for b samples. FDRIDGE_BOOTSTRAP is b for real sets in the folder
// FDRIDGE_DATA. For these sets the spread of samples of rows is logged, too.
func TestBootstrap(t *testing.T) {
	b, err := strconv.Atoi(os.Getenv("FDRIDGE_BOOTSTRAP"))
	dir := os.Getenv("FDRIDGE_DATA")
	problems := []studied{{"noise of one variance", synthetic(func(r *rand.Rand, _ []float64) float64 {
		return r.NormFloat64()
	}), 4}}
	if err != nil || dir == "" {
		b, dir = 400, ""
	}
	for _, c := range realSets[:3] {
		if dir != "" {
			rows := readTable(t, filepath.Join(dir, c.file), c.separator, c.header)
			problems = append(problems, studied{c.name, fixed(rows), c.target})
		}
	}
	for at, c := range problems {
		r := rand.New(rand.NewPCG(uint64(at), 58))
		p := c.split(c.rows(t, r), r, 1000)
		m, src, fits := p.solved(t)
		all, err := m.StandardErrors(t.Context(), src, fits)
		if err != nil {
			t.Fatal(err)
		}
		got := all[0][0]
		want := []float64{}
		for _, v := range append(slices.Clone(got.Sampling), got.Intercept.Sampling) {
			want = append(want, v.Mid())
		}
		worst, rows := 1.0, make([]float64, len(want))
		if dir != "" {
			rows = p.resample(t, r, b/4)
		}
		var ratios []float64
		for j, v := range p.bootstrap(t, r, m, got.Sigma.Mid(), b) {
			if v == 0 && j < len(got.Sampling) && got.Sampling[j].Lo == 0 {
				continue // a constant column
			}
			if math.Abs(v/want[j]-1) > math.Abs(worst-1) {
				worst = v / want[j]
			}
			ratios = append(ratios, rows[j]/want[j])
		}
		slices.Sort(ratios)
		t.Logf("%s: %d rows; residuals: the worst of %d ratios is %.3f; rows: the ratios are %.2f to %.2f, median %.2f",
			c.name, len(p.x), len(want), worst, ratios[0], ratios[len(ratios)-1], ratios[len(ratios)/2])
		if most := 4.5 / math.Sqrt(2*float64(b)); !(math.Abs(worst-1) < most) {
			t.Errorf("%s: a bootstrap gives %.3f times the standard error, must be within %.3f", c.name, worst, most)
		}
	}
}

// TestStandardErrors: scaling columns by s is a penalty of s² for the columns of the file. So both fits have the same
// standard errors of coefficients and intercept, in the units of the file. Both agree with the closed form.
func TestStandardErrors(t *testing.T) {
	for seed := range uint64(40) {
		p := newNoisy(rand.New(rand.NewPCG(seed, 57)), 25, 1, 3, 2)
		p.intercept, p.scales = true, true
		scaled, src, fits := p.solved(t)
		all, err := scaled.StandardErrors(t.Context(), src, fits)
		if err != nil {
			t.Fatal(err)
		}
		const n, d = 25, 3
		x := mat.NewDense(n, d+1, nil)
		for i, row := range p.x {
			x.SetRow(i, append([]float64{1}, row...))
		}
		// The closed form with the columns around their means, in which the inverse has more digits.
		means := scaled.Folded.Mean
		for i := range n {
			for j := range d {
				x.Set(i, j+1, x.At(i, j+1)-means[j])
			}
		}
		var k, h, inverse, s mat.Dense
		k.Mul(x.T(), x)
		h.CloneFrom(&k)
		for j, v := range scaled.Folded.Scale {
			h.Set(j+1, j+1, h.At(j+1, j+1)+p.gamma*v*v)
		}
		if err := inverse.Inverse(&h); err != nil {
			t.Fatal(err)
		}
		s.Product(&inverse, &k, &inverse)
		row := mat.NewVecDense(d+1, []float64{1, -means[0], -means[1], -means[2]})
		for j, got := range all[0] {
			sigma := got.Sigma.Mid()
			close := func(what string, v ridge.Interval, variance float64) {
				want := sigma * math.Sqrt(variance)
				if !(math.Abs(v.Lo/want-1) < 1e-6 && math.Abs(v.Hi/want-1) < 1e-6) {
					t.Errorf("seed %d, target %d: %s is in %v, want %g", seed, j, what, v, want)
				}
			}
			for i := range d {
				close("sampling", got.Sampling[i], s.At(i+1, i+1))
				close("posterior", got.Posterior[i], inverse.At(i+1, i+1))
			}
			close("intercept, sampling", got.Intercept.Sampling, mat.Inner(row, &s, row))
			close("intercept, posterior", got.Intercept.Posterior, mat.Inner(row, &inverse, row))
		}
		if _, err := scaled.StandardErrors(t.Context(), src, nil); !errors.Is(err, model.ErrShape) {
			t.Error(err)
		}
		if _, err := scaled.StandardErrors(t.Context(), sourceOf(t, p.y, p.x), fits); !errors.Is(err, model.ErrShape) {
			t.Error(err)
		}
		if slices.Contains(all[0][0].Sampling, ridge.Interval{}) {
			t.Error("a standard error is missing")
		}
	}
}

// TestStandardErrorsExactly: brackets contain the closed form in 512 bits for the scaled columns without their
// rounding, in the units of the file, also if columns are far from zero.
func TestStandardErrorsExactly(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 59))
		p := newNoisy(r, 12+r.IntN(20), 1, 1+r.IntN(4), 1)
		p.intercept, p.scales = true, true
		m, src, fits := p.solved(t)
		all, err := m.StandardErrors(t.Context(), src, fits)
		if err != nil {
			t.Fatal(err)
		}
		got := all[0][0]
		problem := p.problem(t, m)
		s, err := problem.Solve(p.gamma)
		if err != nil {
			t.Fatal(err)
		}
		n, d := float64(len(p.x)), problem.D
		free := new(big.Float).Sub(refbig.Float(n-1), s.EffectiveDimension)
		square := new(big.Float).Quo(s.RSS[0], free)
		dot := func(a, b []*big.Float) *big.Float {
			sum := refbig.Float(0)
			for i := range a {
				sum.Add(sum, new(big.Float).Mul(a[i], b[i]))
			}
			return sum
		}
		check := func(what string, v ridge.Interval, variance *big.Float) {
			t.Helper()
			want := new(big.Float).Sqrt(new(big.Float).Mul(square, variance))
			if !(refbig.Float(v.Lo).Cmp(want) <= 0 && refbig.Float(v.Hi).Cmp(want) >= 0) {
				t.Errorf("seed %d: %s: %.17g is not in %v", seed, what, want, v)
			}
		}
		// variances returns xᵀH⁻¹KH⁻¹x and xᵀH⁻¹x. H⁻¹x is the solution for Aᵀb = x.
		variances := func(x []*big.Float) (sampling, posterior *big.Float) {
			of := *problem
			of.T, of.C, of.MeanY, of.YY = 1, [][]*big.Float{x}, []*big.Float{refbig.Float(0)}, []*big.Float{refbig.Float(0)}
			solution, err := of.Solve(p.gamma)
			if err != nil {
				t.Fatal(err)
			}
			along := solution.Coef[0]
			product := make([]*big.Float, d)
			for i := range product {
				product[i] = dot(problem.K[i], along)
			}
			return dot(along, product), dot(x, along)
		}
		check("sigma", got.Sigma, refbig.Float(1))
		origin := make([]*big.Float, d) // a row of zeros in the file, minus the means, scaled
		for j := range d {
			unit := make([]*big.Float, d)
			for k := range unit {
				unit[k] = refbig.Float(0)
			}
			scale := refbig.Float(m.Folded.Scale[j])
			unit[j].Quo(refbig.Float(1), scale)
			sampling, posterior := variances(unit)
			check("sampling", got.Sampling[j], sampling)
			check("posterior", got.Posterior[j], posterior)
			origin[j] = new(big.Float).Quo(refbig.Float(-m.Folded.Mean[j]), scale)
			origin[j].Sub(origin[j], problem.MeanX[j])
		}
		sampling, posterior := variances(origin)
		mean := new(big.Float).Quo(refbig.Float(1), refbig.Float(n))
		check("intercept, sampling", got.Intercept.Sampling, sampling.Add(sampling, mean))
		check("intercept, posterior", got.Intercept.Posterior, posterior.Add(posterior, mean))
	}
}
