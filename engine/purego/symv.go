package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// symv is a product of a symmetric matrix and a vector, computed in parts. A part is a band of rows of the lower
// triangle. Each band has its own sums. The sums of the bands are added in order, so that the bits do not depend on
// the goroutines.
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
	kept []float64 // the memory of sums, for reuse
}

var symvs pool[symvTeam]

// These constants limit the bands of rows into which a triangle is divided. All bands have about the same number of
// elements. The number of bands is small, so that adding their sums is cheap.
const (
	minBandRows  = 128 // smallest number of rows of a band, on average
	maxBands     = 16  // largest number of bands
	minSymvOrder = 768 // smallest order with which several goroutines are faster
)

// symvInParts computes y = A·x for a symmetric matrix A. If A is large, several goroutines compute parts of the
// sum.
func (b *Backend) symvInParts(sym matrix.Matrix, x, y []float64) {
	n := sym.Rows
	if n < minSymvOrder {
		b.Symv(sym, x, y)
		return
	}
	bands := min(maxBands, n/minBandRows)
	t := symvs.get()
	t.symv = symv{
		be:    b,
		a:     sym,
		x:     x,
		bands: bands,
		sums:  grow(&t.kept, bands*n),
	}
	t.run(&t.symv, bands)
	copy(y[:n], t.sums[(bands-1)*n:bands*n]) // the last band contributes to all elements
	for i := range bands - 1 {
		end := triangleStart(0, n, i+1, bands, 4)
		b.kernel.Axpy1(end, 1, &t.sums[i*n], &y[0])
	}
	t.symv = symv{}
	symvs.put(t)
}

func (v *symv) doPart(i int, _ *scratch) {
	n := v.a.Rows
	lo := triangleStart(0, n, i, v.bands, 4)
	hi := triangleStart(0, n, i+1, v.bands, 4)
	sums := v.sums[i*n : i*n+hi]
	clear(sums)
	v.be.symvRows(lo, hi, v.a, v.x, sums)
}
