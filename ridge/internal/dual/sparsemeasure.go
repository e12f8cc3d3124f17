package dual

import (
	"math"
	"runtime"
	"sync"

	"github.com/fdridge/fdridge/internal/twofold"
)

// underflown is more than what a product's low part, or a few of these, lose where they
// underflow.
const underflown = 0x1p-1070

// A coefficient is what entries are multiplied by: a sum of two numbers, off by at most err.
type coefficients struct{ hi, lo, err []float64 }

func newCoefficients(n int) coefficients {
	return coefficients{make([]float64, n), make([]float64, n), make([]float64, n)}
}

// dot is Σ valₖ·c[idxₖ] (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci.
// Comput. 26, 2005): high parts are added up without a loss, and what that leaves, with the
// products of low parts, beside them. Each entry brings three roundings of sums that are no larger
// than the magnitudes in lows.
func dot(idx []int32, val []float64, c *coefficients) twofold.Number {
	var hi, lo, lows, off float64
	for k, j := range idx {
		v := val[k]
		p, e := twofold.Product(v, c.hi[j])
		along := v * c.lo[j]
		var missing float64
		hi, missing = twofold.Sum(hi, p)
		lo += missing + (e + along)
		lows += math.Abs(missing) + math.Abs(e) + math.Abs(along)
		off += math.Abs(v) * c.err[j]
	}
	n := float64(len(idx) + 2)
	off = off*(1+n*0x1p-52) + n*(2*twofold.Lost*lows+underflown)
	hi, lo = twofold.Sum(hi, lo)
	return twofold.Number{Hi: hi, Lo: lo, Err: off + (hi - hi)} // which is 0, or NaN as hi is not finite
}

// combineSparse is combine by the columns of sparse rows.
func (r *Rows) combineSparse(points []Point) []twofold.Number {
	c := r.index()
	out := make([]twofold.Number, len(points)*r.d)
	for k := range points {
		p := &points[k]
		times := newCoefficients(r.n) // wθ
		for i := range r.n {
			v := twofold.Of(p.Hi[i]).Plus(twofold.Of(p.Lo[i]))
			if r.w != nil {
				v = v.Times(twofold.Of(r.w[i]))
			}
			times.hi[i], times.lo[i], times.err[i] = v.Hi, v.Lo, v.Err
		}
		dst := out[k*r.d : (k+1)*r.d]
		r.columnsInParallel(func(j int) {
			lo, hi := c.ptr[j], c.ptr[j+1]
			dst[j] = dot(c.row[lo:hi], c.val[lo:hi], &times)
		})
	}
	return out
}

// columnsInParallel calls do for each column that has entries, each in one of GOMAXPROCS
// goroutines that have about as many entries each.
func (r *Rows) columnsInParallel(do func(j int)) {
	c := r.index()
	workers := runtime.GOMAXPROCS(0)
	if len(c.val) < 1<<14 {
		workers = 1
	}
	var all sync.WaitGroup
	lo := 0
	for k := range workers {
		hi := lo
		for hi < r.d && (k == workers-1 || c.ptr[hi] < len(c.val)/workers*(k+1)) {
			hi++
		}
		from, to := lo, hi
		all.Go(func() {
			for j := from; j < to; j++ {
				if c.ptr[j] < c.ptr[j+1] {
					do(j)
				}
			}
		})
		lo = hi
	}
	all.Wait()
}

// residualsSparse is residuals for sparse rows.
func (r *Rows) residualsSparse(points []Point, found []*Found) {
	for k := range points {
		x := coefficients{found[k].X, found[k].Low, make([]float64, r.d)}
		dst, target := points[k].residual, points[k].Target
		r.inParallel(func(p *part, i int) {
			idx, val := p.sparse.Row(i)
			dst[p.first+i] = twofold.Of(r.Y(p.first+i, target)).Minus(dot(idx, val, &x))
		})
	}
}
