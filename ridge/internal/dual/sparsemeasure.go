package dual

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/twofold"
)

// underflown bounds the underflow error of a few products of tiny numbers.
const underflown = 0x1p-1070

// coefficients holds numbers with twice the digits of float64, as sums hi[j] + lo[j]. The function dot multiplies
// them by the entries of a row. err bounds the errors of the numbers. It is nil if they are exact.
type coefficients struct{ hi, lo, err []float64 }

// dot returns the sum of val[k]·c[idx[k]] over all k with twice the digits (T. Ogita, S. Rump, S. Oishi, "Accurate
// sum and dot product", SIAM J. Sci. Comput. 26, 2005). hi is the sum of the rounded products with c.hi. lo is the
// sum of all rounding errors and of the products with c.lo. For each entry, lo is rounded three times. lows bounds
// the partial sums of lo.
func dot(idx []int32, val []float64, c *coefficients) twofold.Number {
	var hi, lo, lows, off float64
	val = val[:len(idx)]
	for k, j := range idx {
		v := val[k]
		p := float64(v * c.hi[j])
		e := math.FMA(v, c.hi[j], -p)
		along := v * c.lo[j]
		sum := hi + p
		z := sum - hi
		missing := (hi - (sum - z)) + (p - z)
		hi = sum
		lo += missing + (e + along)
		lows += math.Abs(missing) + math.Abs(e) + math.Abs(along)
		if c.err != nil {
			off += math.Abs(v) * c.err[j]
		}
	}
	a := accumulator{hi, lo, lows, off}
	return a.number(float64(len(idx) + 2))
}

// An accumulator holds the sum that the function dot computes, after some of its terms. Terms may be added in any
// order.
type accumulator struct{ hi, lo, lows, off float64 }

// number returns the sum, after at most n entries.
func (a *accumulator) number(n float64) twofold.Number {
	off := a.off*(1+n*0x1p-52) + n*(2*twofold.Lost*a.lows+underflown)
	hi, lo := twofold.Sum(a.hi, a.lo)
	return twofold.Number{Hi: hi, Lo: lo, Err: off + (hi - hi)} // hi − hi is 0, or NaN if hi is not finite
}

// combineWork is the workspace of combineSparse.
type combineWork struct {
	sums  []accumulator    // d
	times []twofold.Number // n
}

// combineSparse computes what combine returns, for sparse rows. Each worker computes a range of columns.
func (r *Rows) combineSparse(points []Point) []twofold.Number {
	out := make([]twofold.Number, len(points)*r.d)
	if r.work.sums == nil {
		r.work = combineWork{make([]accumulator, r.d), make([]twofold.Number, r.n)}
	}
	sums, times := r.work.sums, r.work.times
	for k := range points {
		for i := range times {
			times[i] = points[k].theta(i)
			if r.w != nil {
				times[i] = times[i].Times(twofold.Of(r.w[i]))
			}
		}
		inShares(r.d, r.workers(), func(_, lo, hi int) {
			clear(sums[lo:hi])
			r.combineColumns(times, sums, lo, hi)
			for j, s := range sums[lo:hi] {
				if s.hi != 0 || s.lows != 0 || s.off != 0 {
					out[k*r.d+lo+j] = s.number(float64(r.n) + 2)
				}
			}
		})
	}
	return out
}

// combineColumns multiplies each row i by times[i], and adds the product to sums. It takes only the columns lo to
// hi−1.
func (r *Rows) combineColumns(times []twofold.Number, sums []accumulator, lo, hi int) {
	for _, part := range r.parts {
		for i := range part.n {
			idx, val := part.sparse.Row(i)
			if lo > 0 || hi < r.d {
				from, _ := slices.BinarySearch(idx, int32(lo))
				to, _ := slices.BinarySearch(idx, int32(hi))
				idx, val = idx[from:to], val[from:to]
			}
			times := times[part.first+i]
			val = val[:len(idx)]
			for k, j := range idx { // the same computation as in dot
				s := &sums[j]
				v := val[k]
				p := float64(v * times.Hi)
				e := math.FMA(v, times.Hi, -p)
				along := v * times.Lo
				sum := s.hi + p
				z := sum - s.hi
				missing := (s.hi - (sum - z)) + (p - z)
				s.hi = sum
				s.lo += missing + (e + along)
				s.lows += math.Abs(missing) + math.Abs(e) + math.Abs(along)
				s.off += math.Abs(v) * times.Err
			}
		}
	}
}

// residualsSparse does the work of residuals for sparse rows.
func (r *Rows) residualsSparse(points []Point, found []*Found) {
	for k := range points {
		x := coefficients{hi: found[k].X, lo: found[k].Low}
		dst := points[k].residual
		target := points[k].Target
		r.inParallel(func(p *part, i int) {
			idx, val := p.sparse.Row(i)
			y := twofold.Of(r.Y(p.first+i, target))
			dst[p.first+i] = y.Minus(dot(idx, val, &x))
		})
	}
}

// plainSums returns the weighted sum of each column of the sparse rows, computed by plain sums of rounded products.
// The error of a sum is at most n roundings of the sum of the magnitudes of its terms.
func (r *Rows) plainSums() []twofold.Number {
	sums := make([]float64, r.d)
	sizes := make([]float64, r.d)
	for _, p := range r.parts {
		for i := range p.n {
			idx, val := p.sparse.Row(i)
			w := r.Weight(p.first + i)
			for k, j := range idx {
				v := float64(w * val[k])
				sums[j] += v
				// The size must not be 0, because a column with an entry must not count as zero.
				sizes[j] += math.Abs(v) + underflown
			}
		}
	}
	out := make([]twofold.Number, r.d)
	n := float64(r.n)
	for j, v := range sums {
		if sizes[j] != 0 { // also true for NaN
			off := (n + 2) * (0x1p-52*sizes[j] + underflown)
			out[j] = twofold.Number{Hi: v, Err: off + (v - v)} // NaN if v is not finite
		}
	}
	return out
}
