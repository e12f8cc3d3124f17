package fd_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// emptied is rows of a in which all but most entries are set to zero, at random columns.
func emptied(rng *rand.Rand, a *mat.Dense, most int) *mat.Dense {
	n, d := a.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		for range rng.IntN(most + 1) {
			j := rng.IntN(d)
			out.Set(i, j, a.At(i, j))
		}
	}
	return out
}

// csrOf is the entries of a that are not zero.
func csrOf(a *mat.Dense) *engine.CSR {
	n, d := a.Dims()
	x := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i := range n {
		for j, v := range a.RawRowView(i) {
			if v != 0 {
				x.ColIdx, x.Val = append(x.ColIdx, int32(j)), append(x.Val, v)
			}
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	return x
}

// stacked is the rows of a and of b.
func stacked(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return mat.DenseCopyOf(b)
	}
	var out mat.Dense
	out.Stack(a, b)
	return &out
}

// TestSparseGuarantees: sparse rows and others in any order, merged, decayed, written and read.
func TestSparseGuarantees(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			d := rapid.IntRange(16, 40).Draw(t, "d")
			cfg := fd.Config{
				Dim: d, Size: rapid.IntRange(1, 15).Draw(t, "m"), ShrinkRows: rapid.IntRange(0, 9).Draw(t, "p"),
				SparseRows: rapid.IntRange(0, 20).Draw(t, "r"), Backend: be,
			}
			rng, spectrum := draw(t), rapid.SampledFrom(spectrumNames).Draw(t, "spectrum")
			s, o := newSketch(t, cfg), newSketch(t, cfg)
			var a, b *mat.Dense // the rows of s and of o
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				x := emptied(rng, stream(rng, rapid.IntRange(1, 30).Draw(t, "n"), d, spectrum), d/8)
				switch rapid.SampledFrom([]string{"sparse", "sparse", "other", "dense", "decay", "merge", "read"}).Draw(t, "step") {
				case "sparse":
					check(t, s.AppendSparse(csrOf(x)))
					a = stacked(a, x)
				case "other":
					check(t, o.AppendSparse(csrOf(x)))
					b = stacked(b, x)
				case "dense":
					x = stream(rng, 3, d, spectrum)
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

// blocks runs Frequent Directions by SVD on stacks of at most m+r rows. It returns BᵀB and η.
func blocks(a *mat.Dense, m, r int) (k *mat.SymDense, eta float64) {
	n, d := a.Dims()
	var b *mat.Dense
	for lo, hi := 0, min(m+r, n); lo < n; lo, hi = hi, min(hi+r, n) {
		b = stacked(b, a.Slice(lo, hi, 0, d).(*mat.Dense))
		var svd mat.SVD
		if !svd.Factorize(b, mat.SVDThin) {
			panic("svd")
		}
		s, delta := svd.Values(nil), 0.0
		if m < len(s) {
			delta = s[m] * s[m]
		}
		eta += delta
		var v mat.Dense
		svd.VTo(&v)
		kept := mat.NewDense(min(m, len(s)), d, nil)
		for i := range min(m, len(s)) {
			for j := range d {
				kept.Set(i, j, math.Sqrt(math.Max(s[i]*s[i]-delta, 0))*v.At(j, i))
			}
		}
		b = kept
	}
	k = mat.NewSymDense(d, nil)
	k.SymOuterK(1, b.T())
	return k, eta
}

// TestSparseReference: r sparse rows between two shrinks are Frequent Directions with p = r.
func TestSparseReference(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, c := range []struct{ d, m, r int }{{40, 5, 11}, {64, 20, 7}, {3000, 4, 9}} {
			rng := rand.New(rand.NewPCG(2, uint64(c.d)))
			x := mat.NewDense(c.m+6*c.r+3, c.d, nil)
			x.Apply(func(_, j int, _ float64) float64 { return rng.NormFloat64() * math.Exp(-float64(j)/20) }, x)
			a := emptied(rng, x, c.d/8)
			want, eta := blocks(a, c.m, c.r)
			s := newSketch(t, fd.Config{Dim: c.d, Size: c.m, ShrinkRows: 1, SparseRows: c.r, Backend: be})
			check(t, s.AppendSparse(csrOf(a)))
			p := must(s.Spectrum())(t)
			if !(math.Abs(p.Bound.Shrinkage-eta) <= 1e-13*p.Bound.Frobenius2) || s.Shrinks() != 6 {
				t.Errorf("%+v: η is %g after %d shrinks, want %g after 6", c, p.Bound.Shrinkage, s.Shrinks(), eta)
			}
			var got mat.Dense
			got.Mul(p.Matrix().T(), p.Matrix())
			got.Sub(&got, want)
			if off := mat.Norm(&got, 2); !(off <= 1e-12*p.Bound.Frobenius2) {
				t.Errorf("%+v: BᵀB is off by %g of ‖A‖²", c, off/p.Bound.Frobenius2)
			}
		}
	})
}

// TestSparseLosesLess: the dispatcher's r makes η no larger than rows that are written out do, and
// shrinks fewer.
func TestSparseLosesLess(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const n, d, m = 900, 2000, 20
	a := mat.NewDense(n, d, nil)
	for i := range n {
		for range 30 {
			u := rng.Float64()
			a.Set(i, int(d*u*u*u), rng.NormFloat64())
		}
	}
	var b [3]fd.Bound
	var shrinks [3]int64
	for i, r := range []int{0, -1, engine.Tuning{}.ShrinkRows(m)} {
		s := newSketch(t, fd.Config{Dim: d, Size: m, SparseRows: r})
		check(t, s.AppendSparse(csrOf(a)))
		b[i], shrinks[i] = must(s.Spectrum())(t).Bound, s.Shrinks()
	}
	if !(math.Abs(b[2].Shrinkage-b[1].Shrinkage) <= 1e-12*b[1].Shrinkage) || shrinks[2] != shrinks[1] {
		t.Errorf(
			"where r is p η is %g by %d shrinks; of rows that are written out %g by %d",
			b[2].Shrinkage,
			shrinks[2],
			b[1].Shrinkage,
			shrinks[1],
		)
	}
	if !(b[0].FD() < b[1].FD()) || shrinks[0] >= shrinks[1] {
		t.Errorf(
			"η is %g by %d shrinks; of rows that are written out %g by %d",
			b[0].FD(),
			shrinks[0],
			b[1].FD(),
			shrinks[1],
		)
	}
}

// TestSparseConfig: what is kept of sparse rows, by what a configuration says.
func TestSparseConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  fd.Config
		want int
	}{
		{fd.Config{Dim: 5000, Size: 100, Store: fd.StoreRows}, 180},
		{fd.Config{Dim: 5000, Size: 100, SparseRows: 700, Store: fd.StoreRows}, 700},
		{fd.Config{Dim: 5000, Size: 100, SparseRows: -3}, -1},
		{fd.Config{Dim: 5000, Size: 100, ShrinkRows: 9}, 9},
		{fd.Config{Dim: 5000, Size: 100, Shrink: fd.SVD, SparseRows: 7}, -1},
		{fd.Config{Dim: 50, Size: 50, SparseRows: 7}, -1},
		{fd.Config{Dim: 50, Size: 5, Store: fd.StoreScatter, SparseRows: 7}, -1},
	} {
		got := newSketch(t, c.cfg).Config().SparseRows
		if c.want == 180 { // the rule's own test is engine's
			c.want = engine.Tuning{}.SparseRows(5000, 100, 125)
		}
		m, p, err := c.cfg.Buffer()
		check(t, err)
		if order := must(c.cfg.Order())(t); c.cfg.Store != fd.StoreSmaller && order != m+max(p, c.want) {
			t.Errorf("%+v: the order is %d, want %d", c.cfg, order, m+max(p, c.want))
		}
		if got != c.want {
			t.Errorf("%+v: %d sparse rows are kept, want %d", c.cfg, got, c.want)
		}
	}
}

// TestSparseLongRows: rows with entries in more than an eighth of the columns are written out, and
// of others there are no more entries than their memory has room for.
func TestSparseLongRows(t *testing.T) {
	const d, p = 80, 4
	s := newSketch(t, fd.Config{Dim: d, Size: 3, ShrinkRows: p, SparseRows: 1000})
	var long, short engine.CSR
	for _, c := range []struct {
		x *engine.CSR
		z int
	}{{&long, d/8 + 1}, {&short, d / 8}} {
		*c.x = engine.CSR{Rows: 1, Cols: d, RowPtr: []int{0, c.z}}
		for k := range c.z {
			c.x.ColIdx, c.x.Val = append(c.x.ColIdx, int32(3*k)), append(c.x.Val, 1+float64(k%5))
		}
	}
	size := s.BinarySize()
	check(t, s.AppendSparse(&long))
	if got := s.BinarySize() - size; got != 8*d {
		t.Errorf("a long row takes %d bytes of the message, want those of all columns", got)
	}
	for s.Shrinks() == 0 {
		check(t, s.AppendSparse(&short))
		if s.Rows() > 1000 {
			t.Fatal("entries without end are kept")
		}
	}
	if most := s.Rows() - 2; 12*int64(short.NNZ())*most > 8*d*max(p, 8) || 12*int64(short.NNZ())*most < 8*d*p/2 {
		t.Errorf("%d short rows were kept", most)
	}
}

// TestSparseNothingLeft: after a shrink that leaves no row, as all eigenvalues are equal, what was
// there before doesn't come back.
func TestSparseNothingLeft(t *testing.T) {
	a := mat.NewDense(5, 16, nil)
	for i, v := range []float64{1, 1, 3, 2, 1} {
		a.Set(i, i, v)
	}
	s := newSketch(t, fd.Config{Dim: 16, Size: 1, SparseRows: 1})
	check(t, s.AppendSparse(csrOf(a)))
	holds(t, s, a)
	if p := must(s.Spectrum())(t); len(p.Sigma2) != 1 || p.V[2] != 1 || p.V[0] != 0 {
		t.Errorf("what is left is %v, want the third row alone", p.V)
	}
}

// TestSparseBound: rows that wait are in the bound on what there is.
func TestSparseBound(t *testing.T) {
	s := newSketch(t, fd.Config{Dim: 40, Size: 3, SparseRows: 9})
	check(t, s.AppendSparse(csrOf(emptied(rand.New(rand.NewPCG(4, 4)), noise(8, 40), 5))))
	if b := s.Bound(); !(b.Tail <= 4*eps*b.Frobenius2) || !(b.Frobenius2 > 0) || b.Shrinkage != 0 || s.Shrinks() != 0 {
		t.Errorf("nothing has been shrunk: %+v", b)
	}
}

func TestSparseAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rng := rand.New(rand.NewPCG(1, 2))
		x := csrOf(emptied(rng, stream(rng, 64, 96, "flat"), 12))
		s := newSketch(t, fd.Config{Dim: 96, Size: 16, SparseRows: 30, Backend: be})
		for range 4 {
			check(t, s.AppendSparse(x))
		}
		shrinks := s.Shrinks()
		if got := testing.AllocsPerRun(20, func() {
			if err := s.AppendSparse(x); err != nil {
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

// TestRoundOffOfSparseRows is TestRoundOff for sparse rows. The number of rows between two shrinks varies from few to
// many, and some sketches also get dense rows.
func TestRoundOffOfSparseRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for _, name := range spectrumNames {
			for seed := range uint64(12) {
				rng := rand.New(rand.NewPCG(seed, 12))
				d, m := 16+rng.IntN(40), 1+rng.IntN(15)
				a := emptied(rng, stream(rng, 20+rng.IntN(500), d, name), d/8)
				s := newSketch(
					t,
					fd.Config{Dim: d, Size: m, ShrinkRows: 1 + rng.IntN(20), SparseRows: 1 + rng.IntN(60), Backend: be},
				)
				check(t, s.AppendSparse(csrOf(a)))
				if seed%2 == 0 {
					x := stream(rng, 7, d, name)
					check(t, s.Append(x))
					check(t, s.AppendSparse(csrOf(a)))
					a = stacked(stacked(a, x), a)
				}
				c.add(gap(a, must(s.Spectrum())(t).Matrix()), must(s.Spectrum())(t).Bound, name)
			}
		}
		c.holds(t)
	})
}

// TestRoundOffOfRepeatedSparseRows: the same rows again and again, at the columns that are there,
// in a sketch that loses nothing as it keeps as many rows as these are.
func TestRoundOffOfRepeatedSparseRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for k, name := range slices.Sorted(maps.Keys(repeated)) {
			for i, shape := range []struct{ d, m, r, n int }{
				{8, 8, 1, 2000}, {8, 8, 50, 20000}, {2, 2, 7, 8000}, {20, 20, 200, 12000}, {60, 16, 30, 1500}, {150, 16, 0, 1500},
			} {
				if !isTried(i + k) {
					continue
				}
				a := repeated[name](rand.New(rand.NewPCG(uint64(shape.d), 3)), shape.d)
				x := csrOf(a)
				x.Cols = 8 * shape.d
				s := newSketch(t, fd.Config{Dim: x.Cols, Size: shape.m, SparseRows: shape.r, Backend: be})
				times := shape.n/16 + 1
				for range times {
					check(t, s.AppendSparse(x))
				}
				b := must(s.Spectrum())(t).Matrix().Slice(0, len(must(s.Spectrum())(t).Sigma2), 0, shape.d)
				c.add(
					gapTimes(times, a, mat.DenseCopyOf(b)),
					must(s.Spectrum())(t).Bound,
					fmt.Sprintf("%s, %+v", name, shape),
				)
			}
		}
		c.holds(t)
	})
}

// TestRoundOffOfLongSparseRows: rows of one number and thousands of entries, whose products are long
// sums of equal terms. They are off by more than all other pads together, and by less than theirs.
func TestRoundOffOfLongSparseRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, z := range []int{3000, 20000, 50000} {
			worst := 0.0
			for seed := range uint64(4) {
				x := 1 + rand.New(rand.NewPCG(seed, 2)).Float64()
				row := &engine.CSR{Rows: 1, Cols: 8 * z, RowPtr: []int{0, z}}
				for k := range z {
					row.ColIdx, row.Val = append(row.ColIdx, int32(k)), append(row.Val, x)
				}
				s := newSketch(t, fd.Config{Dim: 8 * z, Size: 2, SparseRows: 3, Backend: be})
				for range 8 {
					check(t, s.AppendSparse(row))
				}
				// All rows are equal, so λ = uᵀ(AᵀA − BᵀB)u along their direction u is the whole error.
				p := must(s.Spectrum())(t)
				lambda := lossAlong(p, 8, z, x)
				within(t, mat.NewSymDense(1, []float64{lambda}), p.Bound)
				worst = math.Max(worst, math.Abs(lambda)/eps/p.Bound.Frobenius2)
			}
			t.Logf("%d entries: off by %.3g·eps·‖A‖²", z, worst)
		}
	})
}
