package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// scattered is n sparse rows with up to most entries each, in columns that are more often small,
// cut out of a larger block.
func scattered(rng *rand.Rand, n, d, most int) engine.CSR {
	all := engine.CSR{Rows: n + 2, Cols: d, RowPtr: []int{0}}
	for range n + 2 {
		taken := map[int32]bool{}
		for range rng.IntN(most + 1) {
			u := rng.Float64()
			taken[int32(float64(d)*u*u)] = true
		}
		var idx []int32
		for j := range taken {
			idx = append(idx, j)
		}
		slices.Sort(idx)
		for _, j := range idx {
			all.ColIdx, all.Val = append(all.ColIdx, j), append(all.Val, rng.NormFloat64())
		}
		all.RowPtr = append(all.RowPtr, len(all.Val))
	}
	return all.Slice(1, n+1)
}

// written is the rows of s, zeros written out.
func written(s *engine.CSR) [][]float64 {
	out := make([][]float64, s.Rows)
	for i := range out {
		out[i] = make([]float64, s.Cols)
		idx, val := s.Row(i)
		for k, j := range idx {
			out[i][j] = val[k]
		}
	}
	return out
}

// guarded is a matrix of numbers with NaN behind each row, which nothing is to write to, and in the
// rows where blank is set.
func guarded(rng *rand.Rand, rows, cols int, blank bool) engine.Matrix {
	ld := cols + 3
	m := engine.Strided(rows, cols, make([]float64, rows*ld), ld)
	for i := range m.Data {
		m.Data[i] = math.NaN()
		if i%ld < cols && !blank {
			m.Data[i] = rng.NormFloat64()
		}
	}
	return m
}

// intact fails where something behind a row of m has been written.
func intact(t *testing.T, what string, m engine.Matrix) {
	t.Helper()
	for i, v := range m.Data {
		if i%m.Stride >= m.Cols && !math.IsNaN(v) {
			t.Errorf("%s: element %d behind a row was written", what, i)
		}
	}
}

// TestCSRProducts compares S·Bᵀ, S·B, S·Sᵀ and B + W·S with dense loops, with the round-off that they
// promise: half an eps of each magnitude for each entry of the row, or for each of the column.
func TestCSRProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var work engine.SparseWork // used again for every shape
	for _, c := range []struct{ n, d, k, most int }{
		{0, 5, 2, 3}, {3, 0, 2, 0}, {1, 1, 1, 1}, {7, 30, 0, 9}, {9, 40, 3, 40}, {20, 2048, 4, 60}, {13, 2049, 7, 300},
		{40, 9000, 9, 700}, {5, 300000, 5, 20},
	} {
		s := scattered(rng, c.n, c.d, c.most)
		if c.d == 0 {
			s = engine.CSR{Rows: c.n, RowPtr: make([]int, c.n+1)}
		}
		a := written(&s)
		b, w := guarded(rng, c.k, c.d, false), guarded(rng, c.k, c.n, false)
		product, gram := guarded(rng, c.n, c.k, true), guarded(rng, c.n, c.n, true)
		near := func(what string, i, j int, got, want, size float64, terms int) {
			if !(math.Abs(got-want) <= float64(terms+1)*0x1p-52*size) { // the reference rounds, too
				t.Errorf("%+v: %s(%d, %d) is %v, want %v", c, what, i, j, got, want)
			}
		}
		dot := func(x, y []float64) (sum, size float64) {
			for j, v := range x {
				sum += v * y[j]
				size += math.Abs(v * y[j])
			}
			return sum, size
		}
		s.TimesDense(b, product, &work)
		s.Gram(gram, &work)
		columns, times := guarded(rng, c.d, c.k, false), guarded(rng, c.n, c.k, true)
		for j := range c.d {
			for k := range c.k {
				columns.Row(j)[k] = b.Row(k)[j]
			}
		}
		s.Times(columns, times)
		for i, row := range a {
			idx, _ := s.Row(i)
			for k := range c.k {
				want, size := dot(row, b.Row(k))
				near("S·Bᵀ", i, k, product.Row(i)[k], want, size, len(idx))
				near("S·B", i, k, times.Row(i)[k], want, size, len(idx))
			}
			for k := range c.n {
				if k > i {
					if !math.IsNaN(gram.Row(i)[k]) {
						t.Errorf("%+v: S·Sᵀ(%d, %d), above the diagonal, was written", c, i, k)
					}
					continue
				}
				want, size := dot(row, a[k])
				near("S·Sᵀ", i, k, gram.Row(i)[k], want, size, len(idx))
			}
		}
		before := engine.Strided(c.k, c.d, slices.Clone(b.Data), b.Stride)
		s.AddLeftMul(w, b, &work)
		for k := range c.k {
			for j := range c.d {
				want, terms := before.Row(k)[j], 1
				size := math.Abs(want)
				for i, row := range a {
					if row[j] != 0 {
						want += w.Row(k)[i] * row[j]
						size += math.Abs(w.Row(k)[i] * row[j])
						terms++
					}
				}
				near("B + W·S", k, j, b.Row(k)[j], want, size, terms)
			}
		}
		intact(t, "S·Bᵀ", product)
		intact(t, "S·B", times)
		intact(t, "S·Sᵀ", gram)
		intact(t, "B + W·S", b)
	}
}

// TestCSRProductsRoundOff: sums of equal terms, which are all rounded the same way, are off by no
// more than half an eps for each entry.
func TestCSRProductsRoundOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var work engine.SparseWork
	for _, z := range []int{1, 7, 600, 5000, 60000} {
		s := engine.CSR{Rows: 2, Cols: z, RowPtr: []int{0, z, 2 * z}}
		x, y := 1+rng.Float64(), 1+rng.Float64()
		dense := engine.View(5, z, make([]float64, 5*z))
		for k := range 2 * z {
			s.ColIdx, s.Val = append(s.ColIdx, int32(k%z)), append(s.Val, x)
		}
		for k := range dense.Data {
			dense.Data[k] = y
		}
		product, gram := engine.View(2, 5, make([]float64, 10)), engine.View(2, 2, make([]float64, 4))
		s.TimesDense(dense, product, &work)
		s.Gram(gram, &work)
		for what, got := range map[string][2]float64{
			"S·Bᵀ, four rows":    {product.Row(1)[0], y},
			"S·Bᵀ, the last row": {product.Row(1)[4], y},
			"S·Sᵀ":               {gram.Row(1)[0], x},
		} {
			want := refbig.Float(x)
			want.Mul(want, refbig.Float(got[1])).Mul(want, refbig.Float(float64(z)))
			exact, _ := want.Float64()
			off, _ := want.Sub(want, refbig.Float(got[0])).Float64()
			if !(math.Abs(off) <= (float64(z)/2+engine.Roundings)*0x1p-52*exact) {
				t.Errorf("%s of %d equal terms is off by %.3g eps of itself", what, z, math.Abs(off)/exact/0x1p-52)
			}
		}
	}
}

func TestCSRProductsAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	s := scattered(rng, 30, 5000, 60)
	b, w, gram := guarded(rng, 6, 5000, false), guarded(rng, 6, 30, false), guarded(rng, 30, 30, false)
	product, columns := guarded(rng, 30, 6, true), guarded(rng, 5000, 6, false)
	var work engine.SparseWork
	all := func() {
		s.TimesDense(b, product, &work)
		s.Gram(gram, &work)
		s.AddLeftMul(w, b, &work)
		s.Times(columns, product)
	}
	all()
	if got := testing.AllocsPerRun(10, all); !(got == 0) {
		t.Errorf("%v allocations a call", got)
	}
}

// BenchmarkCSRProducts measures the products that a shrink of a sketch of 100 rows computes with sparse rows.
func BenchmarkCSRProducts(b *testing.B) {
	for _, c := range []struct{ n, d, z int }{{385, 55000, 200}, {755, 360000, 300}} {
		const m = 100
		rng := rand.New(rand.NewPCG(5, 5))
		s := engine.CSR{Rows: c.n, Cols: c.d, RowPtr: []int{0}}
		for range c.n {
			idx := make([]int32, c.z)
			for k := range idx {
				idx[k] = int32(rng.IntN(c.d))
			}
			slices.Sort(idx)
			for _, j := range slices.Compact(idx) {
				s.ColIdx, s.Val = append(s.ColIdx, j), append(s.Val, rng.NormFloat64())
			}
			s.RowPtr = append(s.RowPtr, len(s.Val))
		}
		rows, product, gram := guarded(rng, m, c.d, false), guarded(rng, c.n, m, true), guarded(rng, c.n, c.n, true)
		w, columns := guarded(rng, m, c.n, false), guarded(rng, c.d, m, false)
		var work engine.SparseWork
		for name, f := range map[string]func(){
			"S·Bᵀ": func() { s.TimesDense(rows, product, &work) }, "S·B": func() { s.Times(columns, product) },
			"S·Sᵀ": func() { s.Gram(gram, &work) }, "B + W·S": func() { s.AddLeftMul(w, rows, &work) },
		} {
			b.Run(fmt.Sprintf("%s/%d×%d", name, c.n, c.d), func(b *testing.B) {
				for b.Loop() {
					f()
				}
			})
		}
	}
}
