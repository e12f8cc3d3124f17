//go:build unix

package readonly

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// TestSketch: rows in memory that cannot be written, dense and sparse, with and
// without gaps between them, on every backend and through many shrinks.
func TestSketch(t *testing.T) {
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		const n, d, ld = 64, 9, 11
		x := Slice(t, normals(rand.New(rand.NewPCG(2, 2)), n*ld))
		csr := &engine.CSR{Rows: n, Cols: d}
		ptr, idx, val := []int{0}, []int32(nil), []float64(nil)
		for i := range n {
			for j := i % 3; j < d; j += 2 {
				idx, val = append(idx, int32(j)), append(val, x[i*ld+j])
			}
			ptr = append(ptr, len(idx))
		}
		csr.RowPtr, csr.ColIdx, csr.Val = Slice(t, ptr), Slice(t, idx), Slice(t, val)
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			s := must(fd.New(fd.Config{Dim: d, Size: 4, ShrinkRows: 3, Shrink: driver, Backend: be}))(t)
			check(t, s.AppendRows(n-1, x, ld))
			check(t, s.AppendRow(x[:d:d]))
			check(t, s.Append(mat.NewDense(n, ld, x).Slice(0, n, 0, d)))
			check(t, s.Append(mat.NewDense(ld, n, x).Slice(0, d, 0, n).T()))
			check(t, s.AppendSparse(csr))
			if s.Shrinks() < 10 {
				t.Fatalf("%d shrinks", s.Shrinks())
			}
		}
	})
}
