package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A product with a symmetric matrix in parts: each is a band of rows of the lower triangle
// and has a vector of its own, to which it adds. These are added up in order, so that the
// bits of the result do not depend on who did which part.
type symv struct {
	be    *Backend
	a     matrix.Matrix
	x     []float64
	bands int
	sums  []float64 // bands×n
}

type symvTeam struct {
	team
	symv
	kept []float64 // holds sums
}

var symvs pool[symvTeam]

// A band has symvBand rows or more, as many as its share of the triangle makes, and there are
// no more than mostBands. Adding up costs little beside that.
const (
	symvBand  = 128
	mostBands = 16
	leastSymv = 768 // the order from which on sharing pays
)

// symvInParts is Symv, by several goroutines where A is large.
func (b *Backend) symvInParts(sym matrix.Matrix, x, y []float64) {
	n := sym.Rows
	if n < leastSymv {
		b.Symv(sym, x, y)
		return
	}
	bands := min(mostBands, n/symvBand)
	t := symvs.get()
	t.symv = symv{be: b, a: sym, x: x, bands: bands, sums: grow(&t.kept, bands*n)}
	t.run(&t.symv, bands)
	copy(y[:n], t.sums[(bands-1)*n:bands*n]) // the last band reaches all elements
	for i := range bands - 1 {
		end := shareOfTriangle(0, n, i+1, bands, 4)
		b.kernel.Axpy1(end, 1, &t.sums[i*n], &y[0])
	}
	t.symv = symv{}
	symvs.put(t)
}

func (v *symv) part(i int, _ *scratch) {
	n := v.a.Rows
	lo, hi := shareOfTriangle(0, n, i, v.bands, 4), shareOfTriangle(0, n, i+1, v.bands, 4)
	sums := v.sums[i*n : i*n+hi]
	clear(sums)
	v.be.symvRows(lo, hi, v.a, v.x, sums)
}
