package fd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// TestTailOfLiveRows compares Bound.Tail of the live rows between two shrinks with the loss of textbook Frequent
// Directions. With ShrinkRows 1 the live rows are the textbook's rows after all rows but the last, and the last row.
func TestTailOfLiveRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			const n, d, m = 23, 9, 4
			a := stream(rand.New(rand.NewPCG(31, 1)), n, d, "decay")
			s := newSketch(t, fd.Config{Dim: d, Size: m, ShrinkRows: 1, Shrink: driver, Backend: be})
			for i := range n {
				check(t, s.AppendRow(a.RawRowView(i)))
				if i <= m {
					continue
				}
				before := mat.DenseCopyOf(a.Slice(0, i, 0, d))
				b, eta := textbook(before, m)
				lost := math.Pow(mat.Norm(before, 2), 2) - math.Pow(mat.Norm(b, 2), 2)
				got := s.Bound()
				slack := 1e-12 * got.Frobenius2
				if !(math.Abs(got.Tail-lost) <= slack) || !(math.Abs(got.Shrinkage-eta) <= slack) {
					t.Fatalf(
						"%v, %d rows: tail %g and η %g, want %g and %g",
						driver,
						i+1,
						got.Tail,
						got.Shrinkage,
						lost,
						eta,
					)
				}
			}
		}
	})
}

// TestTailIsNotNegative: rounding leaves no negative tail where a sketch loses nothing.
func TestTailIsNotNegative(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 31))
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			s := newSketch(t, fd.Config{Dim: 8, Size: 5, ShrinkRows: 3, Shrink: driver})
			check(t, s.Append(stream(rng, 20, 8, "low rank"))) // of rank 4
			live, read := s.Bound(), must(s.Spectrum())(t).Bound
			for _, b := range []fd.Bound{live, read} {
				if !(b.Tail >= 0) || !(b.Tail <= 1e-12*b.Frobenius2) {
					t.Fatalf("seed %d, %v: %+v", seed, driver, b)
				}
			}
		}
	}
}

// TestShrinkOfLongSparseRows: the shrink of long sparse rows of one number has more round-off than the bound for dense
// rows allows. After the shrink a row of one entry waits, so that the whole error is the error of the shrink.
func TestShrinkOfLongSparseRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const z, m = 20000, 2
		row := &engine.CSR{Rows: 1, Cols: 8 * z, RowPtr: []int{0, z}}
		x := 1 + rand.New(rand.NewPCG(2, 2)).Float64()
		for k := range z {
			row.ColIdx, row.Val = append(row.ColIdx, int32(k)), append(row.Val, x)
		}
		one := &engine.CSR{Rows: 1, Cols: 8 * z, RowPtr: []int{0, 1}, ColIdx: []int32{z}, Val: []float64{x / 64}}
		s := newSketch(t, fd.Config{Dim: 8 * z, Size: m, ShrinkRows: 3, SparseRows: 3, Backend: be})
		const rows = m + 2
		for range rows {
			check(t, s.AppendSparse(row))
		}
		check(t, s.AppendSparse(one)) // the sketch is full
		check(t, s.AppendSparse(one))
		if s.Shrinks() != 1 {
			t.Fatalf("%d shrinks", s.Shrinks())
		}
		if b := s.Bound(); !(b.RoundOff >= 0.99*z/2*eps*b.Frobenius2) { // what sums of z terms may be off by
			t.Errorf("the shrink has a pad of %g·eps·‖A‖²_F for products of %d terms", b.RoundOff/eps/b.Frobenius2, z)
		}
		// The long rows are equal, so λ = uᵀ(AᵀA − BᵀB)u along their direction u is the error.
		p := must(s.Spectrum())(t)
		lambda := lossAlong(p, rows, z, x)
		t.Logf("off by %.3g·eps·‖A‖² of %.3g", lambda/eps/p.Bound.Frobenius2, p.Bound.RoundOff/eps/p.Bound.Frobenius2)
		within(t, mat.NewSymDense(1, []float64{lambda}), p.Bound)
	})
}

// lossAlong returns uᵀ(AᵀA − BᵀB)u for n equal rows with z entries x, where u is the direction of the rows.
// It computes in extended precision.
func lossAlong(p *fd.Spectrum, n, z int, x float64) float64 {
	norm2 := mul(mul(number(x), number(x)), number(float64(z)))
	e := mul(number(float64(n)), norm2)
	for i, s2 := range p.Sigma2 {
		dot := number(0)
		for _, v := range p.V[i*p.Dim : i*p.Dim+z] {
			dot.Add(dot, mul(number(v), number(x)))
		}
		along := mul(number(s2), mul(dot, dot))
		e.Sub(e, along.Quo(along, norm2))
	}
	lambda, _ := e.Float64()
	return lambda
}
