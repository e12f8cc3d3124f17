package engine_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
)

// sparse draws a CSR block, cut out of a larger one, and the same rows dense.
func sparse(t *rapid.T) (s engine.CSR, dense [][]float64) {
	rows := rapid.IntRange(0, 9).Draw(t, "rows")
	all := engine.CSR{Rows: rows, Cols: rapid.IntRange(0, 12).Draw(t, "cols"), RowPtr: []int{0}}
	for range rows {
		row := make([]float64, all.Cols)
		for j := range row {
			if rapid.IntRange(0, 2).Draw(t, "nonzero") == 0 {
				row[j] = rapid.Float64Range(-100, 100).Draw(t, "value")
				all.ColIdx, all.Val = append(all.ColIdx, int32(j)), append(all.Val, row[j])
			}
		}
		all.RowPtr = append(all.RowPtr, len(all.Val))
		dense = append(dense, row)
	}
	lo := rapid.IntRange(0, rows).Draw(t, "lo")
	hi := rapid.IntRange(lo, rows).Draw(t, "hi")
	return all.Slice(lo, hi), dense[lo:hi]
}

func TestCSRRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, dense := sparse(t)
		if s.Rows != len(dense) {
			t.Fatalf("%d rows, want %d", s.Rows, len(dense))
		}
		stored := 0
		for i, row := range dense {
			idx, val := s.Row(i)
			got := make([]float64, s.Cols)
			for k, j := range idx {
				got[j] = val[k]
			}
			stored += len(val)
			for j := range row {
				if !(got[j] == row[j]) {
					t.Fatalf("(%d, %d) is %v, want %v", i, j, got[j], row[j])
				}
			}
		}
		if s.NNZ() != stored {
			t.Fatalf("NNZ is %d, rows have %d", s.NNZ(), stored)
		}
		if empty := (&engine.CSR{}); empty.NNZ() != 0 {
			t.Fatal("the zero CSR has entries")
		}
	})
}

// length is the least that a rows×cols matrix of leading dimension ld needs.
func length(rows, cols, ld int) int {
	if rows == 0 || cols == 0 {
		return 0
	}
	return (rows-1)*ld + cols
}

// TestCSRGradient compares R = S·Xᵀ − B and G += Rᵀ·S with dense loops.
func TestCSRGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, a := sparse(t)
		n, d, q := s.Rows, s.Cols, rapid.IntRange(0, 4).Draw(t, "t")
		ldx, ldb, ldg, ldr := d+2, q+3, d+5, q+4 // what is behind a row is NaN and stays so
		fill := func(rows, cols, ld int, name string) []float64 {
			m := make([]float64, length(rows, cols, ld))
			for i := range m {
				m[i] = math.NaN()
			}
			for i := range rows {
				for j := range cols {
					m[i*ld+j] = rapid.Float64Range(-10, 10).Draw(t, name)
				}
			}
			return m
		}
		x, g, b := fill(q, d, ldx, "x"), fill(q, d, ldg, "g"), fill(n, q, ldb, "b")
		if rapid.Bool().Draw(t, "no b") {
			b = nil
		}
		r := make([]float64, length(n, q, ldr))
		for i := range r {
			r[i] = math.NaN()
		}
		want := append([]float64(nil), g...)
		size := make([]float64, len(g)) // Σ|terms| of each entry of G
		for p := range q {
			for j := range d {
				size[p*ldg+j] = math.Abs(g[p*ldg+j])
			}
		}
		s.Gradient(
			engine.Strided(q, s.Cols, x, ldx),
			engine.Strided(s.Rows, q, b, ldb),
			engine.Strided(q, s.Cols, g, ldg),
			engine.Strided(s.Rows, q, r, ldr),
		)
		for i := range n {
			for p := range q {
				var sum, abs float64
				for j := range d {
					sum += a[i][j] * x[p*ldx+j]
					abs += math.Abs(a[i][j] * x[p*ldx+j])
				}
				if b != nil {
					sum -= b[i*ldb+p]
					abs += math.Abs(b[i*ldb+p])
				}
				if got := r[i*ldr+p]; !(math.Abs(got-sum) <= 30*0x1p-52*abs) {
					t.Fatalf("R(%d, %d) is %v, want %v", i, p, got, sum)
				}
				for j := range d {
					want[p*ldg+j] += sum * a[i][j]
					size[p*ldg+j] += abs * math.Abs(a[i][j])
				}
			}
		}
		for k := range g {
			if k%ldg >= d {
				if !math.IsNaN(g[k]) {
					t.Fatalf("G: element %d behind a row was written", k)
				}
				continue
			}
			if !(math.Abs(g[k]-want[k]) <= 60*0x1p-52*size[k]) {
				t.Fatalf("G: element %d is %v, want %v", k, g[k], want[k])
			}
		}
		for k := range r {
			if k%ldr >= q && !math.IsNaN(r[k]) {
				t.Fatalf("R: element %d behind a row was written", k)
			}
		}
	})
}

func TestCSRGradientAllocates(t *testing.T) {
	s := engine.CSR{Rows: 2, Cols: 3, RowPtr: []int{0, 2, 3}, ColIdx: []int32{0, 2, 1}, Val: []float64{1, 2, 3}}
	x, g, r := make([]float64, 3), make([]float64, 3), make([]float64, 2)
	if got := testing.AllocsPerRun(10, func() {
		s.Gradient(engine.Strided(1, s.Cols, x, 3), engine.Matrix{}, engine.Strided(1, s.Cols, g, 3), engine.View(s.Rows, 1, r))
	}); !(got == 0) {
		t.Errorf("%v allocations a call", got)
	}
}
