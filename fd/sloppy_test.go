package fd_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// A sloppy backend returns eigenvectors, singular vectors or eigenvalues with an error of about off.
type sloppy struct {
	engine.Backend
	rng *rand.Rand
	off float64
	how string // one of ways
}

// ways are the errors that a sloppy backend can make. Its eigenvalues are wrong, or its vectors are not orthonormal,
// turned among themselves, outside of their span, or too long.
var ways = []string{"values", "vectors", "turned", "outside", "long"}

func (s *sloppy) spoil(w []float64, v engine.Matrix) {
	noise := func() float64 { return s.off * (2*s.rng.Float64() - 1) }
	switch s.how {
	case "values":
		for i := range w {
			w[i] *= 1 + noise()
		}
		slices.SortFunc(w, func(x, y float64) int { return cmp.Compare(y, x) })
	case "vectors":
		for i := range v.Rows {
			for j := range v.Cols {
				v.Row(i)[j] += noise()
			}
		}
	case "long":
		for i := range v.Rows {
			floats.Scale(1+s.off, v.Row(i))
		}
	case "turned":
		for i := range v.Rows - 1 {
			x, y := v.Row(i), v.Row(i+1)
			sin := noise()
			cos := math.Sqrt(1 - sin*sin)
			for j := range x {
				x[j], y[j] = cos*x[j]+sin*y[j], cos*y[j]-sin*x[j]
			}
		}
	case "outside":
		z := make([]float64, v.Cols)
		for j := range z {
			z[j] = s.rng.NormFloat64()
		}
		for range 2 {
			for i := range v.Rows {
				floats.AddScaled(z, -floats.Dot(z, v.Row(i)), v.Row(i))
			}
		}
		if length := floats.Norm(z, 2); length > 1e-8 {
			for i := range v.Rows {
				floats.AddScaled(v.Row(i), noise()/length, z)
			}
		}
	}
}

func (s *sloppy) SymEig(a engine.Matrix, w []float64, v engine.Matrix, work []float64) bool {
	ok := s.Backend.SymEig(a, w, v, work)
	s.spoil(w, v)
	return ok
}

func (s *sloppy) SVD(a engine.Matrix, w []float64, vt engine.Matrix, work []float64) bool {
	ok := s.Backend.SVD(a, w, vt, work)
	s.spoil(w, vt)
	return ok
}

// TestMeasured: bounds hold, and stay near the error, however bad the eigenvectors are: they rest on
// measurements and not on the factorisation.
func TestMeasured(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst := 0.0
		for _, c := range []fd.Config{
			{Dim: 12, Size: 5, ShrinkRows: 3}, {Dim: 12, Size: 5, ShrinkRows: 1}, {Dim: 30, Size: 8, ShrinkRows: 10},
			{Dim: 12, Size: 5, ShrinkRows: 3, Shrink: fd.SVD}, {Dim: 9, Size: 9, ShrinkRows: 4},
			{Dim: 9, Size: 9, ShrinkRows: 40},
			{Dim: 9, Size: 9, ShrinkRows: 40, Shrink: fd.SVD}, {Dim: 9, Size: 4, Store: fd.StoreScatter},
		} {
			for i, off := range []float64{0, 1e-13, 1e-10, 1e-7, 1e-5} {
				for k, name := range append([]string{"few rows", "sum of two"}, spectrumNames...) {
					rng := rand.New(rand.NewPCG(uint64(k), uint64(c.Dim)))
					a := sloppyRows(rng, c.Dim, name)
					how := ways[(i+k+c.Dim)%len(ways)]
					c.Backend = &sloppy{be, rng, off, how}
					s := newSketch(t, c)
					check(t, s.Append(a))
					p := must(s.Spectrum())(t)
					what := fmt.Sprintf(
						"%s, %s off by %g, %d of %d, p = %d, %v",
						name,
						how,
						off,
						c.Size,
						c.Dim,
						c.ShrinkRows,
						c.Shrink,
					)
					e := gap(a, p.Matrix())
					lo, hi := extremes(e)
					if !(lo >= -p.Bound.RoundOff) || !(hi <= p.Bound.FD()) {
						t.Errorf(
							"%s: AᵀA − BᵀB is from %g to %g, bounded by %g and %g",
							what,
							lo,
							hi,
							-p.Bound.RoundOff,
							p.Bound.FD(),
						)
					}
					if skew := skewOf(p); !(skew <= p.Skew) {
						t.Errorf("%s: ‖VVᵀ − I‖_F is %g, bounded by %g", what, skew, p.Skew)
					}
					if r := math.Max(-lo, hi-p.Bound.Shrinkage) / p.Bound.RoundOff; r > worst {
						worst = r
					}
					if most := (1e5*off + 1e-11) * p.Bound.Frobenius2; !(p.Bound.RoundOff <= most) {
						t.Errorf("%s: RoundOff is %g, more than %g", what, p.Bound.RoundOff, most)
					}
				}
			}
		}
		t.Logf("worst error is %.3f of its bound", worst)
	})
}

// sloppyRows is a stream, or a few rows, or many of rank two.
func sloppyRows(rng *rand.Rand, d int, name string) *mat.Dense {
	switch name {
	case "few rows":
		return stream(rng, 7, d, "flat")
	case "sum of two":
		var out mat.Dense
		out.Mul(stream(rng, 60, 2, "flat"), stream(rng, 2, d, "flat"))
		return &out
	}
	return stream(rng, 60, d, name)
}

// skewOf is ‖VVᵀ − I‖_F.
func skewOf(p *fd.Spectrum) float64 {
	sum := 0.0
	for i := range p.Sigma2 {
		for j := range p.Sigma2 {
			x := 0.0
			c := 0.0
			for k := range p.Dim {
				v, w := p.V[i*p.Dim+k], p.V[j*p.Dim+k]
				q := v * w
				c += math.FMA(v, w, -q)
				t := x + q
				z := t - x
				c += (x - (t - z)) + (q - z)
				x = t
			}
			if i == j {
				x--
			}
			sum += (x + c) * (x + c)
		}
	}
	return math.Sqrt(sum)
}

// TestMeasuredOrthonormal: the matrix with exactly orthonormal rows that is nearest to V satisfies the
// bound, too.
func TestMeasuredOrthonormal(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for seed := range uint64(10) {
			rng := rand.New(rand.NewPCG(seed, 5))
			const d = 8
			a := stream(rng, 30, d, "two levels")
			s := newSketch(
				t,
				fd.Config{Dim: d, Size: 4, Store: fd.StoreScatter, Backend: &sloppy{be, rng, 1e-7, "vectors"}},
			)
			check(t, s.Append(a))
			p := must(s.Spectrum())(t)
			r := len(p.Sigma2)
			var svd mat.SVD
			if !svd.Factorize(mat.NewDense(r, d, p.V), mat.SVDThin) {
				t.Fatal("no singular values")
			}
			var u, v, near mat.Dense
			svd.UTo(&u)
			svd.VTo(&v)
			near.Mul(&u, v.T())
			for i, s2 := range p.Sigma2 {
				for j := range d {
					near.Set(i, j, math.Sqrt(s2)*near.At(i, j))
				}
			}
			if lo, hi := extremes(gap(a, &near)); !(lo >= -p.Bound.RoundOff) || !(hi <= p.Bound.FD()) {
				t.Errorf(
					"seed %d: AᵀA − BᵀB is from %g to %g, bounded by %g and %g",
					seed,
					lo,
					hi,
					-p.Bound.RoundOff,
					p.Bound.FD(),
				)
			}
			// And RoundOff has room for what V is off by.
			if least := p.Skew * p.Sigma2[0]; !(p.Bound.RoundOff >= least) {
				t.Errorf("seed %d: RoundOff is %g, V is off by %g", seed, p.Bound.RoundOff, least)
			}
		}
	})
}

// TestShrinkBooks: what is proved of the products of a shrink is counted, though it is never met.
func TestShrinkBooks(t *testing.T) {
	ones := func(d, n int, cfg fd.Config) *fd.Sketch {
		cfg.Dim = d
		s := newSketch(t, cfg)
		for range n {
			check(t, s.AppendRow(slices.Repeat([]float64{1}, d)))
		}
		return s
	}
	holds := func(what string, b fd.Bound, want float64) {
		t.Helper()
		if got := b.RoundOff / eps / b.Frobenius2; !(got >= want) {
			t.Errorf("%s: the pad is %g·eps·‖A‖²_F, want %g or more", what, got, want)
		}
	}
	s := ones(500, 600, fd.Config{Size: 300, ShrinkRows: 300})
	acc := s.Config().Backend.Accuracy()
	holds(
		"products of rows, and of eigenvectors with rows",
		must(s.Spectrum())(t).Bound,
		acc.Dot(500)+2*0.99*acc.Sum(600),
	)

	s = ones(3000, 17, fd.Config{Size: 8, ShrinkRows: 8}) // the first shrink of four
	if s.Shrinks() != 1 {
		t.Fatalf("%d shrinks", s.Shrinks())
	}
	b := s.Bound()
	b.Frobenius2 *= 16.0 / 17
	holds("kept rows whose products are not computed for three shrinks", b, 4*acc.Dot(3000))

	const z, n = 125, 10
	s = newSketch(t, fd.Config{Dim: 1000, Size: 20, SparseRows: 30})
	x := &engine.CSR{Rows: 1, Cols: 1000, RowPtr: []int{0, z}, Val: slices.Repeat([]float64{1}, z)}
	for j := range z {
		x.ColIdx = append(x.ColIdx, int32(3*j))
	}
	for range n {
		check(t, s.AppendSparse(x))
	}
	holds("products of sparse rows", must(s.Spectrum())(t).Bound, z/2+2*0.99*acc.Sum(n))
}

// A counting backend counts the calls of Gram that compute all products.
type counting struct {
	engine.Backend
	whole, all int
}

func (c *counting) Gram(first int, a, g engine.Matrix) {
	c.all++
	if first == 0 {
		c.whole++
	}
	c.Backend.Gram(first, a, g)
}

// TestRenews: every fourth shrink computes the products of all rows. The first shrink after a merge does, too.
func TestRenews(t *testing.T) {
	be := &counting{Backend: must(engine.Default())(t)}
	rng := rand.New(rand.NewPCG(1, 1))
	a := stream(rng, 200, 12, "decay")
	cfg := fd.Config{Dim: 12, Size: 5, ShrinkRows: 3, Backend: be}
	s := newSketch(t, cfg)
	for i := range 90 {
		check(t, s.AppendRow(a.RawRowView(i)))
		if want := (int(s.Shrinks()) + 3) / 4; be.whole != want || be.all != int(s.Shrinks()) {
			t.Fatalf("of %d shrinks %d compute all products, want %d", be.all, be.whole, want)
		}
	}
	cfg.Backend = be.Backend
	for shrinks := range int64(4) {
		o := newSketch(t, cfg)
		for o.Shrinks() <= shrinks {
			check(t, o.AppendRow(a.RawRowView(100)))
		}
		check(t, s.Merge(o))
		before, all := be.whole, be.all
		for be.all == all {
			check(t, s.AppendRow(a.RawRowView(120)))
		}
		if be.whole != before+1 {
			t.Error("the shrink after a merge takes rows for orthogonal")
		}
	}
}

// TestMergeRenews: kept rows that are far from orthogonal are multiplied with each other in the first
// shrink after a merge, whatever the merge adds to the number of shrinks.
func TestMergeRenews(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for more := 1; more <= 9; more++ {
			rng := rand.New(rand.NewPCG(uint64(more), 5))
			cfg := fd.Config{Dim: 12, Size: 5, ShrinkRows: 3, Backend: &sloppy{be, rng, 1e-4, "turned"}}
			a := stream(rng, 60, 12, "low rank")
			s, o := newSketch(t, cfg), newSketch(t, cfg)
			check(t, s.AppendRows(40, a.RawMatrix().Data, 12))
			check(t, o.AppendRows(20, a.RawMatrix().Data[40*12:], 12))
			for range more {
				zero := newSketch(t, cfg)
				check(t, zero.AppendRows(9, make([]float64, 9*12), 12))
				before := s.Shrinks()
				check(t, s.Merge(zero))
				if before == s.Shrinks() {
					t.Fatal("the merge adds no shrinks")
				}
			}
			check(t, s.Merge(o))
			p := must(s.Spectrum())(t)
			if lo, hi := extremes(gap(a, p.Matrix())); !(lo >= -p.Bound.RoundOff) || !(hi <= p.Bound.FD()) {
				t.Errorf("AᵀA − BᵀB is from %g to %g, bounded by %g and %g", lo, hi, -p.Bound.RoundOff, p.Bound.FD())
			}
		}
	})
}
