package fd_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// A centredBlock has the arguments s, times and centre of AppendCentred, and the rows a = s − times·centre. All
// numbers are multiples of a unit, so that a has no rounding.
type centredBlock struct {
	s      *engine.CSR
	times  []float64
	centre []float64
	a      *mat.Dense
}

// cancelling makes rows with entries in the same columns alone, in which a centre far away has entries,
// too: the rows are far shorter than what they are made of.
func cancelling(rng *rand.Rand, n, d, most int, far float64) centredBlock {
	const unit = 0x1p-24
	number := func() float64 { return math.Round((1+rng.Float64())/unit) * unit }
	b := centredBlock{centre: make([]float64, d), times: make([]float64, n), a: mat.NewDense(n, d, nil)}
	s := mat.NewDense(n, d, nil)
	for j := 0; j < d; j += d / most {
		b.centre[j] = math.Round(far) * number()
	}
	for i := range n {
		b.times[i] = []float64{1, 1, 0.5, 2, -1}[rng.IntN(5)]
		for j := 0; j < d; j += d / most {
			b.a.Set(i, j, number())
			s.Set(i, j, b.a.At(i, j)+b.times[i]*b.centre[j])
		}
	}
	b.s = csrOf(s)
	return b
}

// centredRows makes rows of x, up to most entries each, less multiples of a centre that is far times as long
// as a row of x.
func centredRows(rng *rand.Rand, x *mat.Dense, most int, far float64) centredBlock {
	n, d := x.Dims()
	largest := mat.Max(x)
	unit := math.Ldexp(1, math.Ilogb(math.Max(largest, -mat.Min(x))+1e-300)-30)
	round := func(v float64) float64 { return math.Round(v/unit) * unit }
	s := emptied(rng, x, most)
	s.Apply(func(_, _ int, v float64) float64 { return round(v) }, s)
	b := centredBlock{centre: make([]float64, d), times: make([]float64, n), a: mat.NewDense(n, d, nil)}
	for j := range b.centre {
		b.centre[j] = round(far * x.At(0, j))
	}
	for i := range n {
		b.times[i] = []float64{1, 1, 0.5, 2, 0, -1}[rng.IntN(6)]
		for j := range d {
			if s.At(i, j) != 0 {
				s.Set(i, j, s.At(i, j)+b.times[i]*b.centre[j])
			}
			b.a.Set(i, j, s.At(i, j)-b.times[i]*b.centre[j])
		}
	}
	b.s = csrOf(s)
	return b
}

func (b centredBlock) append(t rapid.TB, s *fd.Sketch) {
	t.Helper()
	check(t, s.AppendCentred(b.s, b.times, b.centre))
}

// TestCentredGuarantees: rows with a centre, sparse ones and others in any order, merged, decayed,
// written and read, in sketches that keep them and in those that write them out.
func TestCentredGuarantees(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			d := rapid.IntRange(16, 40).Draw(t, "d")
			cfg := fd.Config{
				Dim: d, Size: rapid.IntRange(1, 15).Draw(t, "m"), ShrinkRows: rapid.IntRange(0, 9).Draw(t, "p"),
				SparseRows: rapid.IntRange(-1, 20).Draw(t, "r"), Backend: be,
				Shrink: rapid.SampledFrom([]fd.Driver{fd.Gram, fd.Gram, fd.Gram, fd.SVD}).Draw(t, "driver"),
				Store:  rapid.SampledFrom([]fd.Storage{fd.StoreSmaller, fd.StoreRows, fd.StoreRows}).Draw(t, "store"),
			}
			rng, spectrum := draw(t), rapid.SampledFrom(spectrumNames).Draw(t, "spectrum")
			s, o := newSketch(t, cfg), newSketch(t, cfg)
			var a, b *mat.Dense // the rows of s and of o
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				x := stream(rng, rapid.IntRange(1, 30).Draw(t, "n"), d, spectrum)
				rows := centredRows(rng, x, d/6, rapid.Float64Range(0, 2).Draw(t, "far"))
				switch rapid.SampledFrom([]string{
					"centred", "centred", "other", "sparse", "dense", "decay", "merge", "read",
				}).Draw(t, "step") {
				case "centred":
					rows.append(t, s)
					a = stacked(a, rows.a)
				case "other":
					rows.append(t, o)
					b = stacked(b, rows.a)
				case "sparse":
					x = emptied(rng, x, d/8)
					check(t, s.AppendSparse(csrOf(x)))
					a = stacked(a, x)
				case "dense":
					check(t, s.Append(x))
					a = stacked(a, x)
				case "decay":
					check(t, s.Decay(0.25))
					if a != nil {
						a.Scale(0.5, a)
					}
				case "merge":
					check(t, s.Merge(o))
					if b != nil {
						a = stacked(a, b)
					}
				case "read":
					s = reread(t, s, "bytes")
				}
			}
			if a != nil {
				holds(t, s, a)
			}
		})
	})
}

// TestCentredNothing: less nothing is not less at all, to the bit; and rows are those that they are
// given as.
func TestCentredNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x := csrOf(emptied(rng, stream(rng, 90, 60, "decay"), 7))
	cfg := fd.Config{Dim: 60, Size: 6, SparseRows: 20}
	want, zero, times := newSketch(t, cfg), newSketch(t, cfg), newSketch(t, cfg)
	check(t, want.AppendSparse(x))
	check(t, zero.AppendCentred(x, nil, make([]float64, 60)))
	check(t, times.AppendCentred(x, make([]float64, 90), x60(3)))
	same(t, "a centre of zeros", zero, want)
	same(t, "zero times a centre", times, want)
	ones, all := newSketch(t, cfg), newSketch(t, cfg)
	check(t, ones.AppendCentred(x, nil, x60(3)))
	f := make([]float64, 90)
	for i := range f {
		f[i] = 1
	}
	check(t, all.AppendCentred(x, f, x60(3)))
	same(t, "no times", ones, all)
}

func x60(v float64) []float64 {
	x := make([]float64, 60)
	for j := range x {
		x[j] = v - float64(j)/16
	}
	return x
}

// TestRoundOffOfCentredRows is TestRoundOff for rows with centres near and far, decayed by numbers
// that round, too.
func TestRoundOffOfCentredRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for _, name := range spectrumNames {
			for seed := range uint64(16) {
				rng := rand.New(rand.NewPCG(seed, 13))
				d, m := 16+rng.IntN(40), 1+rng.IntN(15)
				s := newSketch(
					t,
					fd.Config{Dim: d, Size: m, ShrinkRows: 1 + rng.IntN(20), SparseRows: 2 + rng.IntN(60), Backend: be},
				)
				var a *mat.Dense
				for range 1 + rng.IntN(6) {
					b := centredRows(rng, stream(rng, 2+rng.IntN(90), d, name), d/8, math.Pow(10, 6*rng.Float64()-1))
					b.append(t, s)
					a = stacked(a, b.a)
					if seed%4 == 0 {
						x := stream(rng, 3, d, name)
						check(t, s.Append(x))
						a = stacked(a, x)
					}
					if seed%4 == 1 {
						f := 1 - 0x1p-20
						check(t, s.Decay(f*f))
						a.Scale(f, a)
					}
				}
				p := must(s.Spectrum())(t)
				c.add(gap(a, p.Matrix()), p.Bound, fmt.Sprintf("%s %d", name, seed))
			}
		}
		c.holds(t)
	})
}

// TestCentredFar: rows that are next to nothing beside their centre. The rounding of products with the
// centre is then far more than all other pads.
func TestCentredFar(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, cfg := range []fd.Config{
			{SparseRows: 30}, {SparseRows: -1}, {SparseRows: 3, ShrinkRows: 1}, {SparseRows: 1, ShrinkRows: 1},
		} {
			var c largest
			for seed := range uint64(8) {
				rng := rand.New(rand.NewPCG(seed, 14))
				cfg.Dim, cfg.Size, cfg.Backend, cfg.Store = 64, 3, be, fd.StoreRows
				s := newSketch(t, cfg)
				b := cancelling(rng, 40, 64, 8, 3e6)
				b.append(t, s)
				p := must(s.Spectrum())(t)
				e := gap(b.a, p.Matrix())
				within(t, e, p.Bound)
				c.add(e, p.Bound, fmt.Sprintf("%d sparse rows", cfg.SparseRows))
			}
			c.holds(t)
		}
	})
}

// TestCentredRounded: multiples of a centre that are rounded as they are subtracted, or never
// subtracted, of rows that are next to nothing beside it, against 512 bits.
func TestCentredRounded(t *testing.T) {
	for _, r := range []int{-1, 40} {
		worst := 0.0
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, 15))
			s := newSketch(t, fd.Config{Dim: 16, Size: 4, SparseRows: r, Store: fd.StoreRows})
			b := cancelling(rng, 30, 16, 2, 1e7)
			k := bigGram(mat.NewDense(1, 16, nil))
			for i := range b.times {
				b.times[i] /= 3
				row := make([]*big.Float, 16)
				for j := range row {
					row[j] = mul(number(b.times[i]), number(-b.centre[j]))
				}
				idx, val := b.s.Row(i)
				for k, j := range idx {
					val[k] = b.times[i]*b.centre[j] + rng.NormFloat64()
					row[j].Add(row[j], number(val[k]))
				}
				for j, v := range row {
					for l, u := range row {
						k[j][l].Add(k[j][l], mul(v, u))
					}
				}
			}
			b.append(t, s)
			p := must(s.Spectrum())(t)
			withinBig(t, k, p)
			for i := range 16 {
				for j := range p.Sigma2 {
					k[i][i].Sub(k[i][i], mul(number(p.Sigma2[j]), mul(number(p.V[j*16+i]), number(p.V[j*16+i]))))
				}
				off, _ := k[i][i].Float64()
				worst = math.Max(worst, math.Abs(off)/eps/p.Bound.Frobenius2)
			}
		}
		t.Logf("%d sparse rows: off by %.3g·eps·‖A‖²", r, worst)
	}
}

// TestCentredDecay: what a decay rounds are centres and rows, not what is left of them.
func TestCentredDecay(t *testing.T) {
	var c largest
	for seed := range uint64(8) {
		s := newSketch(t, fd.Config{Dim: 64, Size: 20, SparseRows: 60})
		b := cancelling(rand.New(rand.NewPCG(seed, 3)), 30, 64, 8, 3e6)
		b.append(t, s)
		before := s.Bound()
		f := 1 - 0x1p-20
		for range 2000 {
			check(t, s.Decay(f*f))
			b.a.Scale(f, b.a)
		}
		if after := s.Bound(); !(after.RoundOff-before.RoundOff >= 1e9*eps*before.Frobenius2) {
			t.Errorf(
				"the pad is %g after decays and %g before, of ‖A‖² = %g",
				after.RoundOff,
				before.RoundOff,
				before.Frobenius2,
			)
		}
		p := must(s.Spectrum())(t)
		e := gap(b.a, p.Matrix())
		within(t, e, p.Bound)
		c.add(e, p.Bound, "decayed")
	}
	c.holds(t)
}

// TestCentredBound: rows that wait, and their centres, are in the bound as what they are.
func TestCentredBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	b := centredRows(rng, stream(rng, 12, 64, "flat"), 8, 1.5)
	s := newSketch(t, fd.Config{Dim: 64, Size: 3, SparseRows: 30})
	b.append(t, s)
	norm := mat.Norm(b.a, 2)
	if got := s.Bound(); !(got.Tail <= 100*eps*got.Frobenius2) ||
		!(math.Abs(got.Frobenius2-norm*norm) <= 100*eps*norm*norm) ||
		got.Shrinkage != 0 ||
		s.Shrinks() != 0 {
		t.Errorf("nothing has been shrunk, and ‖A‖² is %g: %+v", norm*norm, got)
	}
	for s.Shrinks() == 0 { // of rows that have nothing in common, so that each shrink takes much
		check(t, s.AppendSparse(csrOf(emptied(rng, stream(rng, 5, 64, "flat"), 8))))
	}
	check(
		t,
		s.AppendCentred(
			&engine.CSR{Rows: 1, Cols: 64, RowPtr: []int{0, 0}},
			[]float64{0x1p-30},
			append(x60(1e4), 0, 0, 0, 1),
		),
	)
	if got := s.Bound(); !(got.Tail >= 4*got.Shrinkage) || got.Shrinkage == 0 {
		t.Errorf("the tail is less than (m+1)·η: %+v", got)
	}
}

// TestCentredBooks: what is proved of products with centres is counted, though it is never met.
func TestCentredBooks(t *testing.T) {
	const d, n = 4000, 20
	s := newSketch(t, fd.Config{Dim: d, Size: 30, SparseRows: 60})
	centre := make([]float64, d)
	for j := range centre {
		centre[j] = 3
	}
	x := &engine.CSR{Rows: n, Cols: d, RowPtr: make([]int, n+1)}
	check(t, s.AppendCentred(x, nil, centre))
	dot := s.Config().Backend.Accuracy().Dot(d) + engine.Roundings
	if got, want := must(s.Spectrum())(t).Bound.RoundOff, dot*eps*n*9*d; !(got >= want) {
		t.Errorf("the pad is %g, want %g or more", got, want)
	}
}

func TestCentredAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rng := rand.New(rand.NewPCG(1, 2))
		b := centredRows(rng, stream(rng, 64, 96, "flat"), 12, 1)
		s := newSketch(t, fd.Config{Dim: 96, Size: 16, SparseRows: 30, Backend: be})
		for range 4 {
			b.append(t, s)
		}
		shrinks := s.Shrinks()
		if got := testing.AllocsPerRun(20, func() {
			if err := s.AppendCentred(b.s, b.times, b.centre); err != nil {
				t.Fatal(err)
			}
			if err := s.Decay(0.5); err != nil {
				t.Fatal(err)
			}
		}); !(got == 0) {
			t.Errorf("%v allocations an append", got)
		}
		if s.Shrinks() < shrinks+20 {
			t.Fatal("no shrinks were made")
		}
	})
}

// TestCentredRefused: what cannot be appended leaves the sketch as it was.
func TestCentredRefused(t *testing.T) {
	const d = 60
	rng := rand.New(rand.NewPCG(7, 7))
	x := csrOf(emptied(rng, stream(rng, 5, d, "flat"), 7))
	with := func(x []float64, i int, v float64) []float64 {
		x = append([]float64(nil), x...)
		x[i] = v
		return x
	}
	ones := []float64{1, 1, 1, 1, 1}
	var number *fd.NonFiniteError
	var size *fd.RangeError
	for _, c := range []struct {
		what          string
		x             *engine.CSR
		times, centre []float64
		fits          func(error) bool
	}{
		{"no block", nil, nil, x60(1), isShape},
		{"a short centre", x, nil, x60(1)[1:], isShape},
		{"too few times", x, ones[1:], x60(1), isShape},
		{
			"a centre of NaN", x, ones, with(x60(1), 7, math.NaN()),
			func(err error) bool { return errors.As(err, &number) && number.Col == 7 },
		},
		{"a centre too large", x, ones, with(x60(1), 7, 1e151), func(err error) bool { return errors.As(err, &size) }},
		{
			"times Inf", x, with(ones, 3, math.Inf(1)), x60(1),
			func(err error) bool { return errors.As(err, &number) && number.Row == 3 && number.Col == d },
		},
		{
			"times too large", x, with(ones, 3, 1e150), x60(1),
			func(err error) bool { return errors.As(err, &size) && size.Row == 3 },
		},
		{"a row of NaN",
			&engine.CSR{Rows: 2, Cols: d, RowPtr: []int{0, 0, 1}, ColIdx: []int32{9}, Val: []float64{math.NaN()}}, nil, x60(1),
			func(err error) bool {
				return errors.As(err, &number) && number.Row == 1 && number.Col == 9
			}},
	} {
		s := newSketch(t, fd.Config{Dim: d, Size: 3, SparseRows: 4})
		check(t, s.AppendCentred(x, nil, x60(1)))
		before := marshal(t, s)
		if err := s.AppendCentred(c.x, c.times, c.centre); err == nil || !c.fits(err) {
			t.Errorf("%s: %v", c.what, err)
		}
		if !bytes.Equal(marshal(t, s), before) {
			t.Errorf("%s: the sketch was changed", c.what)
		}
	}
}

// TestCentredReads: reading changes nothing, and is the same whether rows wait or were read back.
func TestCentredReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 7))
	s := newSketch(t, fd.Config{Dim: 64, Size: 5, SparseRows: 40})
	centredRows(rng, stream(rng, 70, 64, "decay"), 8, 1).append(t, s)
	before := marshal(t, s)
	p := must(s.Spectrum())(t)
	if !bytes.Equal(marshal(t, s), before) {
		t.Error("reading has changed the sketch")
	}
	if q := must(reread(t, s, "bytes").Spectrum())(t); fmt.Sprint(p) != fmt.Sprint(q) {
		t.Error("another spectrum once it was written and read")
	}
}
