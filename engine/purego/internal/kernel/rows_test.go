package kernel

import (
	"slices"
	"testing"
	"unsafe"
)

// TestRows: rows are centred, and added up, to the bits of the twin in Go.
func TestRows(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			g.begin("n %d", n)
			x, origin, mean := g.put(0, g.wide(n)), g.put(1, g.wide(n)), g.wide(n)
			got, want := g.blank(2, n), make([]float64, n)
			if n > 0 {
				g.kernel.Rows.Centre(n, &x[0], &origin[0], &mean[0], &got[0])
				centreGo(n, &x[0], &origin[0], &mean[0], &want[0])
			}
			g.written(1, n, n+1, got)
			g.equal("z", got, want)
			for j := range want {
				if want[j] != (x[j]-origin[j])-mean[j] {
					g.fail("z[%d] is %v", j, want[j])
				}
			}
			for _, ld := range []int{n, n + 5} {
				g.begin("n %d, ld %d", n, ld)
				rows := g.wide(4 * n)
				xs := g.matrix(0, 4, n, ld, rows)
				sum, squares := g.normal(n), g.normal(n)
				wantSum, wantSquares := slices.Clone(sum), slices.Clone(squares)
				for i := range 4 {
					for j := range n {
						z := rows[i*n+j] - origin[j]
						wantSum[j] += z
						wantSquares[j] += float64(z * z)
					}
				}
				sum, squares = g.put(2, sum), slices.Clone(squares)
				if n > 0 {
					g.kernel.Rows.Spread4(n, &xs[0], ld, &origin[0], &sum[0], &squares[0])
				}
				g.written(1, n, n+1, sum)
				g.equal("sum", sum, wantSum)
				g.equal("squares", squares, wantSquares)

				xs = g.matrix(0, 4, n, ld, rows)
				for _, c := range []struct {
					name string
					four func(n int, x *float64, ldx int) (s0, s1, s2, s3 float64)
					one  func(x []float64) float64
				}{{"norms", g.kernel.Rows.Norms4, Norm2}, {"squares", g.kernel.Rows.Squares4, Squares}} {
					got, want := make([]float64, 4), make([]float64, 4)
					got[0], got[1], got[2], got[3] = c.four(n, unsafe.SliceData(xs), ld)
					for i := range want {
						want[i] = c.one(rows[i*n : (i+1)*n])
						exact, _ := dot2(n, rows[i*n:], 1, rows[i*n:], 1)
						g.near("norm", i, want[i], exact, exact, n/4+6)
					}
					g.equal(c.name, got, want)
				}
			}
		}
	})
}
