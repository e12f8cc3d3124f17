package dual

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Gram is G = AAᵀ as computed, of A with one more column where an intercept is fitted: √Shift
// times the elements √(w/Σw). As centred columns are orthogonal to that, it changes nothing but the
// eigenvalue 0 of G that centring makes, which would be known to round-off only: it is Shift. G̃ is
// that of an A of which each row may be a little off.
type Gram struct {
	N     int
	G     []float64 // n×n, of which the lower triangle counts
	Norms []float64 // √Gᵢᵢ, the norms of the rows of A
	Units float64   // |G − G̃|ᵢⱼ is at most so many roundoff.Unit·‖aᵢ‖‖aⱼ‖,
	Lost  float64   // but for a matrix of this norm at most
	Off   []float64 // bounds, in norm, what each row of A is off by in G̃
	Shift float64   // 0 without an intercept
}

// PanelColumns is how many columns of n rows are taken at a time: as many as there are rows, but
// no more than take 64 MiB, unless 128 of them do.
func PanelColumns(n, d int) int {
	const numbers, least = 64 << 20 / 8, 128
	return max(1, min(d, max(n, least), max(numbers/max(n, 1), least)))
}

// A gramSum adds up G, panel of columns by panel.
type gramSum struct {
	be     engine.Backend
	n      int
	g      []float64 // n×n
	work   []float64 // n×n, of one panel
	panels int
	empty  bool // nothing is in g as yet
	// The most columns of a panel, and the most features of one of rows.
	widest, tallest int
}

// newGramSum adds to g, which is empty or has a sum. work is n×n.
func newGramSum(be engine.Backend, n int, g, work []float64, empty bool) *gramSum {
	return &gramSum{be: be, n: n, g: g, work: work, empty: empty}
}

// add adds P·Pᵀ for the columns P (n×k).
func (s *gramSum) add(p engine.Matrix) {
	s.widest = max(s.widest, p.Cols)
	s.addProduct(false, p)
}

// addProduct adds P·Pᵀ, or PᵀP, to the sum of those before, where there are some.
func (s *gramSum) addProduct(trans bool, p engine.Matrix) {
	s.panels++
	to := s.work
	if s.empty {
		to = s.g
	}
	s.be.Syrk(trans, 1, p, 0, engine.View(s.n, s.n, to))
	if s.empty {
		s.empty = false
		return
	}
	for i := range s.n {
		floats.Add(s.g[i*s.n:i*s.n+i+1], s.work[i*s.n:i*s.n+i+1])
	}
}

// units bounds what products and sums have done, in units of roundoff.Unit·‖aᵢ‖‖aⱼ‖.
func (s *gramSum) units() float64 {
	if s.panels == 0 {
		return 0
	}
	bound := max(s.be.Accuracy().Dot(s.widest), float64(s.tallest)/2)
	return 2*(bound+engine.Roundings) + float64(s.panels) + 1
}

// Gram computes G. g and work have n² elements each, which it overwrites.
func (r *Rows) Gram(ctx context.Context, be engine.Backend, g, work []float64) (*Gram, error) {
	out := &Gram{N: r.n, G: g}
	sum := newGramSum(be, r.n, g, work, true)
	var heavy []int
	if r.Sparse() {
		heavy = r.light(out)
		sum.empty = false
	}
	if err := r.dense(ctx, sum, heavy); err != nil {
		return nil, err
	}
	out.Units += sum.units() + 1
	out.shift(r.share())
	out.close(&r.Samples)
	return out, nil
}

// shift adds the column of the means, as large as the mean of all rows.
func (g *Gram) shift(share []float64) {
	if share == nil {
		return
	}
	trace := 0.0
	for i := range g.N {
		trace += math.Max(0, g.G[i*g.N+i])
	}
	g.Shift = trace / float64(g.N)
	for i, a := range share {
		vec.Axpy(g.Shift*a, share[:i+1], g.G[i*g.N:i*g.N+i+1])
	}
}

// close finds the norms, and what rows are off by: a difference from a mean, a root and a product
// are three roundings, and a mean is off for all rows alike.
func (g *Gram) close(r *Samples) {
	mean := r.meanError()
	for i := range g.N {
		norm := math.Sqrt(math.Max(0, g.G[i*g.N+i]) + roundoff.LostSquares)
		g.Norms = append(g.Norms, norm)
		off := mean * r.Root(i)
		if r.w != nil || r.intercept {
			off += 4 * roundoff.Unit * (norm*(1+g.Units*roundoff.Unit) + math.Sqrt(g.Lost))
		}
		g.Off = append(g.Off, off*roundoff.Inflate)
	}
	g.Lost += float64(g.N) * roundoff.LostSquares
}

// Size bounds ‖A‖_F.
func (g *Gram) Size() float64 {
	n := float64(g.N)
	square := vec.Norm(g.Norms)
	square *= square
	off := vec.Norm(g.Off)
	return (math.Sqrt(square*(1+(g.Units+n)*roundoff.Unit)+n*g.Lost) + off) * roundoff.Inflate
}

// Norm is ‖A‖_F as computed, without the column of the means.
func (g *Gram) Norm() float64 {
	norm := vec.Norm(g.Norms)
	return math.Sqrt(math.Max(0, norm*norm-g.Shift))
}

// RowNorms bounds the norms of the rows of A.
func (g *Gram) RowNorms() []float64 {
	out := make([]float64, g.N)
	for i, v := range g.Norms {
		out[i] = (v*(1+g.Units*roundoff.Unit) + math.Sqrt(g.Lost) + g.Off[i]) * roundoff.Inflate
	}
	return out
}

// dense adds the products of columns that are written out: all, or those of the list where rows
// are sparse.
func (r *Rows) dense(ctx context.Context, sum *gramSum, list []int) error {
	count := r.d
	if r.Sparse() {
		count = len(list)
	}
	if count == 0 {
		return nil
	}
	width := PanelColumns(r.n, count)
	panel, at := make([]float64, r.n*width), make([]int, r.n)
	for lo := 0; lo < count; lo += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(width, count-lo)
		p := engine.View(r.n, k, panel[:r.n*k])
		if r.Sparse() {
			r.gather(list[lo:lo+k], p)
		} else {
			r.cut(lo, p, at)
		}
		r.centre(p)
		sum.add(p)
	}
	return nil
}

// cut overwrites p with the columns from lo on. at has, for each sparse row, how many of its
// entries were cut before.
func (r *Rows) cut(lo int, p engine.Matrix, at []int) {
	for _, part := range r.parts {
		for i := range part.n {
			dst := p.Row(part.first + i)
			if part.sparse == nil {
				copy(dst, part.x[i*r.d+lo:i*r.d+lo+p.Cols])
				continue
			}
			clear(dst)
			idx, val := part.sparse.Row(i)
			k := at[part.first+i]
			for ; k < len(idx) && int(idx[k]) < lo+p.Cols; k++ {
				dst[int(idx[k])-lo] = val[k]
			}
			at[part.first+i] = k
		}
	}
}

// centre makes columns of A of columns of the rows.
func (r *Rows) centre(p engine.Matrix) {
	if r.intercept {
		mean, sum := make([]float64, p.Cols), make([]float64, p.Cols)
		for lo := 0; lo < p.Rows; lo += sumRows {
			clear(sum)
			for i := lo; i < min(lo+sumRows, p.Rows); i++ {
				vec.Axpy(r.Weight(i), p.Row(i), sum)
			}
			vec.Axpy(1, sum, mean)
		}
		vec.Scale(1/r.total, mean)
		for i := range p.Rows {
			vec.Axpy(-1, mean, p.Row(i))
		}
	}
	if r.root != nil {
		for i := range p.Rows {
			vec.Scale(r.root[i], p.Row(i))
		}
	}
}
