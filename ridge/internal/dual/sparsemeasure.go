package dual

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/twofold"
)

// underflown is more than what a product's low part, or a few of these, lose where they
// underflow.
const underflown = 0x1p-1070

// coefficients are what entries are multiplied by: sums of two numbers, off by at most err; nil for
// none that is off.
type coefficients struct{ hi, lo, err []float64 }

// dot is Σ valₖ·c[idxₖ] (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci.
// Comput. 26, 2005): high parts are added up without a loss, and what that leaves, with the
// products of low parts, beside them. Each entry brings three roundings of sums that are no larger
// than the magnitudes in lows.
func dot(idx []int32, val []float64, c *coefficients) twofold.Number {
	var hi, lo, lows, off float64
	val = val[:len(idx)]
	for k, j := range idx {
		v := val[k]
		p := float64(v * c.hi[j])
		e, along := math.FMA(v, c.hi[j], -p), v*c.lo[j]
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

// An accumulator is a sum under way, as dot has it: of entries that come in any order.
type accumulator struct{ hi, lo, lows, off float64 }

// number is the sum of at most n entries.
func (a *accumulator) number(n float64) twofold.Number {
	off := a.off*(1+n*0x1p-52) + n*(2*twofold.Lost*a.lows+underflown)
	hi, lo := twofold.Sum(a.hi, a.lo)
	return twofold.Number{Hi: hi, Lo: lo, Err: off + (hi - hi)} // which is 0, or NaN as hi is not finite
}

// combineWork is memory of combineSparse that is used again.
type combineWork struct {
	sums  []accumulator    // d
	times []twofold.Number // n
}

// combineSparse is combine for sparse rows: each of several workers has some of the columns.
func (r *Rows) combineSparse(points []Point) []twofold.Number {
	out := make([]twofold.Number, len(points)*r.d)
	if r.work.sums == nil {
		r.work = combineWork{make([]accumulator, r.d), make([]twofold.Number, r.n)}
	}
	sums, times := r.work.sums, r.work.times
	for k := range points {
		for i := range times {
			times[i] = twofold.Of(points[k].Hi[i]).Plus(twofold.Of(points[k].Lo[i]))
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

// combineColumns adds to sums what columns lo to hi of the rows contribute, each row times its
// number.
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
			for k, j := range idx { // as in dot
				s, v := &sums[j], val[k]
				p := float64(v * times.Hi)
				e, along := math.FMA(v, times.Hi, -p), v*times.Lo
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

// residualsSparse is residuals for sparse rows.
func (r *Rows) residualsSparse(points []Point, found []*Found) {
	for k := range points {
		x := coefficients{hi: found[k].X, lo: found[k].Low}
		dst, target := points[k].residual, points[k].Target
		r.inParallel(func(p *part, i int) {
			idx, val := p.sparse.Row(i)
			dst[p.first+i] = twofold.Of(r.Y(p.first+i, target)).Minus(dot(idx, val, &x))
		})
	}
}

// plainSums is Xᵀw of sparse rows: of an element as many products as the column has entries, at most
// n, each rounded, are added up plainly, which is off by no more than n roundings of the sum of their
// magnitudes.
func (r *Rows) plainSums() []twofold.Number {
	sums, sizes := make([]float64, r.d), make([]float64, r.d)
	for _, p := range r.parts {
		for i := range p.n {
			idx, val := p.sparse.Row(i)
			w := r.Weight(p.first + i)
			for k, j := range idx {
				v := float64(w * val[k])
				sums[j] += v
				sizes[j] += math.Abs(v) + underflown // so that no column that has an entry is taken to be zero
			}
		}
	}
	out, n := make([]twofold.Number, r.d), float64(r.n)
	for j, v := range sums {
		if sizes[j] != 0 { // NaN, too
			out[j] = twofold.Number{Hi: v, Err: (n+2)*(0x1p-52*sizes[j]+underflown) + (v - v)} // NaN where v is not finite
		}
	}
	return out
}
