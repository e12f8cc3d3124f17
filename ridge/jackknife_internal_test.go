package ridge

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// drawRows returns n rows of d features with one target.
func drawRows(r *rand.Rand, n, d int) (x, y []float64) {
	for range n {
		sum := r.NormFloat64()
		for range d {
			v := 3 + r.NormFloat64()
			x, sum = append(x, v), sum+v
		}
		y = append(y, sum)
	}
	return x, y
}

// TestJackknifeGroups: the intervals do not depend on the number of new rows in a pass. The training rows have several
// blocks.
func TestJackknifeGroups(t *testing.T) {
	const n, d, fresh = 2*roundoff.StageRows + 77, 5, 7
	r := rand.New(rand.NewPCG(1, 54))
	x, y := drawRows(r, n, d)
	new, _ := drawRows(r, fresh, d)
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	j, err := NewJackknife(t.Context(), src, 1, 0.9, NormalOptions{Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	together, apart := make([]Interval, fresh), make([]Interval, fresh)
	b := dataset.Block{N: fresh, X: new}
	if err := j.Predict(t.Context(), together, b); err != nil {
		t.Fatal(err)
	}
	j.bytes = 2 * 16 * n
	if err := j.Predict(t.Context(), apart, b); err != nil {
		t.Fatal(err)
	}
	for i, v := range together {
		if !(math.Abs(v.Lo-apart[i].Lo) < 1e-9 && math.Abs(v.Hi-apart[i].Hi) < 1e-9) || !(v.Hi-v.Lo < 5) {
			t.Errorf("row %d: %v and %v", i, v, apart[i])
		}
	}
	// The rows have changed.
	j.src, err = dataset.FromDense(n-1, d, 1, x[:(n-1)*d], y[:n-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Predict(t.Context(), together, b); !errors.Is(err, ErrInput) {
		t.Errorf("with a row less: %v", err)
	}
	if err := j.Predict(t.Context(), together[1:], b); !errors.Is(err, ErrShape) {
		t.Errorf("with too few intervals: %v", err)
	}
	unknown := slices.Repeat([]float64{math.NaN()}, fresh*d)
	if err := j.Predict(t.Context(), together, dataset.Block{N: fresh, X: unknown}); err == nil {
		t.Error("NaN is accepted")
	}
}

// TestJackknifeRefuses: what proves nothing is an error, and too few rows have infinite intervals.
func TestJackknifeRefuses(t *testing.T) {
	x, y := drawRows(rand.New(rand.NewPCG(2, 54)), 8, 2)
	src, err := dataset.FromDense(8, 2, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	once, err := dataset.FromDense(4, 2, 1, []float64{1, 1, 2, 2, 3, 3, 5, 5}, y[:4])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewJackknife(t.Context(), once, 0, 0.5, NormalOptions{}); !errors.Is(err, ErrIllConditioned) {
		t.Errorf("equal columns at gamma = 0: %v", err)
	}
	for what, err := range map[string]error{
		"a negative gamma": second(NewJackknife(t.Context(), src, -1, 0.5, NormalOptions{})),
		"a level of 1":     second(NewJackknife(t.Context(), src, 1, 1, NormalOptions{})),
		"no rows":          second(NewJackknife(t.Context(), nil, 1, 0.5, NormalOptions{})),
		"other penalties":  second(NewJackknife(t.Context(), src, 1, 0.5, NormalOptions{Penalty: []float64{1}})),
		"little memory":    second(NewJackknife(t.Context(), src, 1, 0.5, NormalOptions{MaxBytes: 1})),
	} {
		if !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
	j, err := NewJackknife(t.Context(), src, 1, 0.9, NormalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]Interval, 1)
	if err := j.Predict(t.Context(), dst, dataset.Block{N: 1, X: x[:2]}); err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(dst[0].Lo, -1) || !math.IsInf(dst[0].Hi, 1) {
		t.Errorf("8 rows at level 0.9: %v", dst[0])
	}
}

func second(_ *Jackknife, err error) error { return err }

// TestNormalInverse: the error of xᵀH⁻¹y is within its bound, also for columns that nearly depend on each other,
// so that the approximate inverse has few digits.
func TestNormalInverse(t *testing.T) {
	largest := 0.0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 55))
		const n, d = 40, 4
		near := math.Pow(10, -6*r.Float64())
		var flat []float64
		var x, y [][]float64
		for range n {
			row := make([]float64, d)
			for j := range row {
				row[j] = r.NormFloat64()
			}
			row[d-1] = row[0] + row[1] + near*row[d-1]
			flat, x, y = append(flat, row...), append(x, row), append(y, []float64{0})
		}
		src, err := dataset.FromDense(n, d, 1, flat, make([]float64, n))
		if err != nil {
			t.Fatal(err)
		}
		gamma := 1e-9 * r.Float64()
		sums, err := newNormal(t.Context(), src, NormalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := sums.withGamma(gamma)
		if err != nil {
			t.Fatal(err)
		}
		largest = math.Max(largest, m.relative)
		for i := range 5 {
			mapped := m.apply(slices.Concat(x[i], x[i+1]))
			got := 0.0
			for k := range d {
				got += mapped.v[k] * mapped.v[d+k]
			}
			bound := m.error(mapped.norm[0], mapped.off[0], mapped.norm[1], mapped.off[1])
			problem := refbig.New(x, y, nil, false)
			for k, v := range x[i+1] {
				problem.C[0][k] = refbig.Float(v)
			}
			s, err := problem.Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			want := refbig.Float(0)
			for k, v := range x[i] {
				want.Add(want, new(big.Float).Mul(refbig.Float(v), s.Coef[0][k]))
			}
			want.Sub(want, refbig.Float(got))
			if want.Abs(want).Cmp(refbig.Float(bound)) > 0 {
				t.Errorf("seed %d: an error of %.3g, bounded by %g", seed, want, bound)
			}
		}
	}
	if !(largest > 1e-6) {
		t.Errorf("no inverse was worse than %g", largest)
	}
}

// TestJackknifeRounded: if entries were rounded, the intervals are wider, so that they contain the intervals of the
// exact entries.
func TestJackknifeRounded(t *testing.T) {
	const n, d, units = 12, 3, 0x1p22
	moved := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 56))
		x, y := drawRows(r, n, d)
		new, _ := drawRows(r, 2, d)
		round := func(x []float64) []float64 {
			out := slices.Clone(x)
			for i := range out {
				out[i] *= 1 + (2*r.Float64()-1)*units*0x1p-54
			}
			return out
		}
		intervals := func(x, new []float64, rounding []float64) []Interval {
			src, err := dataset.FromDense(n, d, 1, x, y)
			if err != nil {
				t.Fatal(err)
			}
			j, err := NewJackknife(t.Context(), src, 0.1, 0.7, NormalOptions{Intercept: true, Rounding: rounding})
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]Interval, 2)
			if err := j.Predict(t.Context(), dst, dataset.Block{N: 2, X: new}); err != nil {
				t.Fatal(err)
			}
			return dst
		}
		exact := intervals(x, new, nil)
		roundedX, roundedNew := round(x), round(new)
		wide := intervals(roundedX, roundedNew, slices.Repeat([]float64{units}, d))
		narrow := intervals(roundedX, roundedNew, nil)
		for i, v := range exact {
			if !(wide[i].Lo <= v.Lo && v.Hi <= wide[i].Hi) {
				t.Errorf("seed %d: %v does not contain %v", seed, wide[i], v)
			}
			if !(narrow[i].Lo <= v.Lo && v.Hi <= narrow[i].Hi) {
				moved++
			}
		}
	}
	if moved < 40 {
		t.Errorf("only %d intervals have moved", moved)
	}
}
