package fd_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// columnScales draws a scale for each of d columns, of many orders of magnitude or a few, as
// powers of two, so that columns are divided without rounding.
func columnScales(t *rapid.T, rng *rand.Rand, d int) []float64 {
	reach := rapid.IntRange(0, 14).Draw(t, "reach")
	out := make([]float64, d)
	for j := range out {
		out[j] = math.Ldexp(1, rng.IntN(2*reach+1)-reach)
	}
	return out
}

// TestScaled: the bound of the spectrum in scaled columns holds, on whatever was kept, and so do
// those on the trace.
func TestScaled(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			rng, spectrum := draw(t), rapid.SampledFrom(spectrumNames).Draw(t, "spectrum")
			n, d := rapid.IntRange(1, 120).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "d")
			a := stream(rng, n, d, spectrum)
			s := must(fd.New(fd.Config{
				Dim: d, Size: rapid.IntRange(1, 32).Draw(t, "m"), Backend: be,
				Shrink: rapid.SampledFrom([]fd.Driver{fd.Gram, fd.SVD}).Draw(t, "driver"),
				Store:  rapid.SampledFrom([]fd.Storage{fd.StoreRows, fd.StoreScatter}).Draw(t, "store"),
			}))(t)
			check(t, s.Append(a))
			p := must(s.Spectrum())(t)
			before := p.Bound
			scale := columnScales(t, rng, d)
			got := must(p.Scaled(scale, be))(t)
			if p.Bound != before {
				t.Fatal("the spectrum that was scaled is another")
			}
			a.Apply(func(_, j int, v float64) float64 { return v / scale[j] }, a)
			b := got.Bound
			var e *mat.SymDense
			if m := got.Matrix(); m != nil {
				e = gap(a, m)
			} else {
				e = gap(a, mat.NewDense(1, d, nil))
			}
			lo, hi := extremes(e)
			size := mat.Norm(a, 2)
			slack := 40 * eps * size * size // of gap and its eigenvalues
			if !(lo >= -b.RoundOff-slack) || !(hi <= b.FD()+slack) {
				t.Fatalf("AᵀA − BᵀB has eigenvalues from %g to %g, bound %g and %g", lo, hi, b.RoundOff, b.FD())
			}
			trace, pad := mat.Trace(e), float64(d)*b.RoundOff+slack
			if !(trace <= b.Tail+pad) || !(trace >= b.Tail-b.TailSlack-pad) {
				t.Fatalf("the trace of AᵀA − BᵀB is %g, not from %g to %g", trace, b.Tail-b.TailSlack, b.Tail)
			}
			if f := mat.Norm(a, 2); !(f*f <= b.Frobenius2*(1+1e-10)) || b.Rows != int64(n) {
				t.Fatalf("‖A‖²_F is %g, bounded by %g; %d rows", f*f, b.Frobenius2, b.Rows)
			}
		})
	})
}

// TestScaledReached: of two orthogonal rows of equal length, a sketch of one row loses as much in both directions.
// After scaling, the loss in the column with the smallest scale is at least 90 % of the bound. So a much smaller bound
// would be false.
func TestScaledReached(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		a := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
		s := must(fd.New(fd.Config{Dim: 2, Size: 1, Backend: be, Store: fd.StoreRows}))(t)
		check(t, s.Append(a))
		got := must(must(s.Spectrum())(t).Scaled([]float64{0.25, 2}, be))(t)
		e := mat.NewSymDense(2, []float64{16, 0, 0, 0.25})
		if m := got.Matrix(); m != nil {
			e.SymRankK(e, -1, m.T())
		}
		if _, hi := extremes(e); !(hi <= got.Bound.FD()*(1+1e-12)) || !(hi >= 0.9*got.Bound.FD()) {
			t.Errorf("AᵀA − BᵀB is at most %g, its bound %g", hi, got.Bound.FD())
		}
	})
}

// TestScaledAlike: if all columns are divided by 4, then σ², the bound and the tail are divided by 16.
func TestScaledAlike(t *testing.T) {
	be := must(engine.Default())(t)
	const d = 20
	s := must(fd.New(fd.Config{Dim: d, Size: 6, Store: fd.StoreRows}))(t)
	check(t, s.Append(stream(rand.New(rand.NewPCG(1, 1)), 100, d, "decay")))
	p := must(s.Spectrum())(t)
	scale := make([]float64, d)
	for j := range scale {
		scale[j] = 4
	}
	q := must(p.Scaled(scale, be))(t)
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for i, v := range p.Sigma2 {
		near("σ²", q.Sigma2[i], v/16)
	}
	near("η", q.Bound.Shrinkage, p.Bound.Shrinkage/16)
	near("the tail", q.Bound.Tail, p.Bound.Tail/16)
	if most, want := q.Bound.Frobenius2, p.Bound.Frobenius2/16; !(most >= want && most <= want+3*d*q.Bound.RoundOff) {
		t.Errorf("‖A‖² is at most %v, want %v", most, want)
	}
	if !(q.Bound.TailSlack <= 1e-12*q.Bound.Tail) {
		t.Errorf("the tail is known to within %v of %v", q.Bound.TailSlack, q.Bound.Tail)
	}
}

// TestScaledFar: the bound of scaled columns holds for scales whose squares overflow or underflow.
func TestScaledFar(t *testing.T) {
	be := must(engine.Default())(t)
	for _, size := range []float64{1e140, 1e-140} {
		s := must(fd.New(fd.Config{Dim: 3, Size: 1, Backend: be, Store: fd.StoreRows}))(t)
		check(t, s.Append(mat.NewDense(3, 3, []float64{size, 0, 0, 0, size, 0, 0, 0, size})))
		p := must(s.Spectrum())(t)
		for _, f := range []float64{1e-30, 1, 1e15, 1e21, 1e22, 1e30} {
			f *= size
			q := must(p.Scaled([]float64{f, f, f}, be))(t)
			// The triple eigenvalue of the scaled AᵀA; BᵀB has at most one.
			want := (size / f) * (size / f)
			b := q.Bound
			if !(b.FD() >= want) || !(b.FD() <= want*(1+1e-9)) || !(math.Abs(b.Tail-3*want) <= 1e-9*want) ||
				!(b.Frobenius2 >= 3*want) {
				t.Errorf("rows of %g divided by %g: %+v, want %g", size, f, b, want)
			}
		}
	}
}

func TestScaledRefuses(t *testing.T) {
	be := must(engine.Default())(t)
	s := must(fd.New(fd.Config{Dim: 2, Size: 2}))(t)
	p := must(s.Spectrum())(t)
	if q, err := p.Scaled([]float64{1, 2}, be); err != nil || len(q.Sigma2) != 0 || q.Matrix() != nil {
		t.Errorf("of no rows: %v, %v", q, err)
	}
	check(t, s.AppendRow([]float64{1, 2}))
	p = must(s.Spectrum())(t)
	for name, scale := range map[string][]float64{
		"short":    {1},
		"zero":     {1, 0},
		"negative": {-1, 1},
		"NaN":      {math.NaN(), 1},
		"infinite": {1, math.Inf(1)},
	} {
		if q, err := p.Scaled(scale, be); q != nil || !errors.Is(err, engine.ErrInput) && !errors.Is(err, fd.ErrShape) {
			t.Errorf("%s: %v, %v", name, q, err)
		}
	}
	var outside *fd.RangeError
	if q, err := p.Scaled([]float64{1e-300, 1}, be); q != nil || !errors.As(err, &outside) {
		t.Errorf("out of range: %v, %v", q, err)
	}
}

// TestScaledLost: ‖A‖²_F is bounded though columns that are divided by a small number were lost to
// rounding, by the sketch or by AᵀA.
func TestScaledLost(t *testing.T) {
	be, lost := must(engine.Default())(t), 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, d := 4+rng.IntN(20), 2+rng.IntN(4)
		a, scale := mat.NewDense(n, d, nil), make([]float64, d)
		small := math.Ldexp(1, -30-rng.IntN(30))
		for j := range d {
			size := 1.0
			scale[j] = 0x1p40
			if j > 0 {
				size, scale[j] = small, small*math.Ldexp(1, -rng.IntN(8))
			}
			for i := range n {
				a.Set(i, j, size*rng.NormFloat64())
			}
		}
		s := must(
			fd.New(
				fd.Config{
					Dim:   d,
					Size:  1 + rng.IntN(d),
					Store: []fd.Storage{fd.StoreRows, fd.StoreScatter}[rng.IntN(2)],
				},
			),
		)(
			t,
		)
		check(t, s.Append(a))
		p := must(must(s.Spectrum())(t).Scaled(scale, be))(t)
		a.Apply(func(_, j int, v float64) float64 { return v / scale[j] }, a)
		f, known := mat.Norm(a, 2), p.Bound.Tail
		for _, v := range p.Sigma2 {
			known += v
		}
		if !(f*f <= p.Bound.Frobenius2*(1+1e-12)) {
			t.Errorf("‖A‖² is %g, bounded by %g", f*f, p.Bound.Frobenius2)
		}
		if known < f*f/2 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("nothing was lost to rounding")
	}
}

// TestScaledBound: the bounds on AᵀA − BᵀB are scaled for the worst case. The worst case of η and the round-off
// is an error along the column with the smallest scale. For the tail and ‖A‖², such columns have as large a part
// of the trace as they can have.
func TestScaledBound(t *testing.T) {
	be := must(engine.Default())(t)
	p := &fd.Spectrum{
		Dim:    3,
		Sigma2: []float64{4},
		V:      []float64{1, 0, 0},
		Bound:  fd.Bound{Shrinkage: 2, RoundOff: 1, Frobenius2: 7, Tail: 3, Rows: 5},
	}
	b := must(p.Scaled([]float64{1, 0.5, 2}, be))(t).Bound
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"η", b.Shrinkage, 2 * 4}, {"round-off", b.RoundOff, 1 * 4}, {"the tail", b.Tail, 2*4 + 1*1},
		{"the least tail", b.Tail - b.TailSlack, 2*0.25 + 1*1},
		{"‖A‖²", b.Frobenius2, 4 + 3*4 + 3*1 + 3*0.25}, // of 3 + 2·3·1, 2 + 1 to each
	} {
		if !(c.got >= c.want && c.got <= c.want*(1+1e-12)) {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}
