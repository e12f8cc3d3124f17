package dual

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Gram is the computed matrix G = AAᵀ. With an intercept, the columns of A are centred. Then G has the eigenvalue
// 0, and its eigenvector u has the elements √(wᵢ/Σw) for the weights w of the rows. Round-off would hide this
// eigenvalue. Therefore A gets one more column, √Shift·u. The other columns are orthogonal to u, so the new column
// changes only the eigenvalue 0, which becomes Shift. The round-off is bounded relative to G̃ = ÃÃᵀ, where each
// row of Ã is a slightly perturbed row of A.
type Gram struct {
	N     int
	G     []float64 // n×n
	Norms []float64 // √Gᵢᵢ, the norms of the rows of A
	// Units and Lost bound the round-off G − G̃. With the rows aᵢ of A, the magnitude of its element (i, j) is at
	// most Units·roundoff.Unit·‖aᵢ‖‖aⱼ‖ plus the element of a matrix whose norm is at most Lost.
	Units float64
	Lost  float64   // see Units
	Off   []float64 // bounds the norm of the perturbation of each row of A in G̃
	Shift float64   // 0 without an intercept
}

// PanelColumns returns the number of columns in a panel of n rows, if there are d columns in all. A panel has at
// most n columns and takes at most 64 MiB. These two limits do not go below 128 columns.
func PanelColumns(n, d int) int {
	const numbers, least = 64 << 20 / 8, 128
	return max(1, min(d, max(n, least), max(numbers/max(n, 1), least)))
}

// A gramSum computes AAᵀ as a sum of products PPᵀ, where each panel P consists of some columns of A.
type gramSum struct {
	be     engine.Backend
	n      int
	g      []float64 // n×n
	work   []float64 // n×n, the product of a panel
	panels int
	empty  bool // g holds no sum yet
	// widest is the largest number of columns in a panel given to add. tallest is the largest number of rows in a panel
	// given to addRows.
	widest, tallest int
}

// newGramSum returns a sum that adds products to the n×n matrix g. If empty is true, the first product overwrites
// g. work is a workspace of n² numbers.
func newGramSum(be engine.Backend, n int, g, work []float64, empty bool) *gramSum {
	return &gramSum{
		be:    be,
		n:     n,
		g:     g,
		work:  work,
		empty: empty,
	}
}

// add adds PPᵀ to the sum, where the columns of P are columns of A.
func (s *gramSum) add(p engine.Matrix) {
	s.widest = max(s.widest, p.Cols)
	s.addProduct(false, p)
}

// addProduct adds PPᵀ, or PᵀP if trans is true.
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
		from, to := i*s.n, i*s.n+i+1 // row i of the lower triangle
		floats.Add(s.g[from:to], s.work[from:to])
	}
}

// units bounds the round-off of an element of the sum AAᵀ, in units of roundoff.Unit·‖a‖‖a′‖. Here a and
// a′ are the two rows of A whose product is the element.
func (s *gramSum) units() float64 {
	if s.panels == 0 {
		return 0
	}
	bound := max(s.be.Accuracy().Dot(s.widest), float64(s.tallest)/2)
	return 2*(bound+engine.Roundings) + float64(s.panels) + 1
}

// Gram computes AAᵀ in g for the n rows of A. g and work have n² elements. work is a workspace.
func (r *Rows) Gram(
	ctx context.Context,
	be engine.Backend,
	g, work []float64,
) (*Gram, error) {
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

// shift sets g.Shift to the mean squared norm of the rows, and changes the eigenvalue 0 of g.G to g.Shift. The
// argument null is the unit eigenvector of the eigenvalue 0, or nil if the rows are not centred. If null is nil,
// shift does nothing.
func (g *Gram) shift(null []float64) {
	if null == nil {
		return
	}
	trace := 0.0
	for i := range g.N {
		trace += math.Max(0, g.G[i*g.N+i])
	}
	g.Shift = trace / float64(g.N)
	for i, a := range null {
		row := g.G[i*g.N : i*g.N+i+1]
		vec.Axpy(g.Shift*a, null[:i+1], row)
	}
}

// close completes g, whose lower triangle is the computed product AAᵀ of n rows A. It sets g.Norms to the norms of
// these rows. The exact rows of A are multiplied by the square roots of their weights, and centred if there is an
// intercept. Rounding changes them. close sets g.Off to bounds on the norm of the rounding error of each row. It
// copies the lower triangle of g.G to the upper triangle.
func (g *Gram) close(r *Samples) {
	mean := r.meanError()
	for i := range g.N {
		norm := math.Sqrt(math.Max(0, g.G[i*g.N+i]) + roundoff.LostSquares)
		g.Norms = append(g.Norms, norm)

		off := mean * r.Root(i) // the mean of a column has the same error in all rows
		if r.w != nil || r.intercept {
			// An element of A is rounded three times: the difference from the mean, the square root of the weight, and
			// the product of both.
			off += 4 * roundoff.Unit * (norm*(1+g.Units*roundoff.Unit) + math.Sqrt(g.Lost))
		}
		g.Off = append(g.Off, off*roundoff.Inflate)
	}
	g.Lost += float64(g.N) * roundoff.LostSquares
	for i := range g.N {
		for j := range i {
			g.G[j*g.N+i] = g.G[i*g.N+j]
		}
	}
}

// Size returns a bound on ‖A‖_F.
func (g *Gram) Size() float64 {
	n := float64(g.N)
	square := vec.Norm(g.Norms)
	square *= square
	off := vec.Norm(g.Off)
	computed := math.Sqrt(square*(1+(g.Units+n)*roundoff.Unit) + n*g.Lost)
	return (computed + off) * roundoff.Inflate
}

// Norm returns the computed ‖A‖_F, without the column that Gram adds to A for an intercept.
func (g *Gram) Norm() float64 {
	norm := vec.Norm(g.Norms)
	return math.Sqrt(math.Max(0, norm*norm-g.Shift))
}

// RowNorms returns bounds on the norms of the rows of A.
func (g *Gram) RowNorms() []float64 {
	out := make([]float64, g.N)
	for i, v := range g.Norms {
		out[i] = (v*(1+g.Units*roundoff.Unit) +
			math.Sqrt(g.Lost) +
			g.Off[i]) * roundoff.Inflate
	}
	return out
}

// dense copies columns of A to dense panels P, and adds PPᵀ to sum for each panel. If all rows are sparse, it takes
// only the columns in list. Otherwise it takes all columns.
func (r *Rows) dense(ctx context.Context, sum *gramSum, list []int) error {
	count := r.d
	if r.Sparse() {
		count = len(list)
	}
	if count == 0 {
		return nil
	}
	width := PanelColumns(r.n, count)
	panel := make([]float64, r.n*width)
	at := make([]int, r.n)
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

// cut overwrites p with p.Cols consecutive columns of the rows, beginning with column lo. counts[i] is the number
// of entries of sparse row i before column lo. cut advances counts past the columns of p for the next call.
func (r *Rows) cut(lo int, p engine.Matrix, counts []int) {
	for _, part := range r.parts {
		for i := range part.n {
			dst := p.Row(part.first + i)
			if part.sparse == nil {
				copy(dst, part.x[i*r.d+lo:i*r.d+lo+p.Cols])
				continue
			}
			clear(dst)
			idx, val := part.sparse.Row(i)
			k := counts[part.first+i]
			for ; k < len(idx) && int(idx[k]) < lo+p.Cols; k++ {
				dst[int(idx[k])-lo] = val[k]
			}
			counts[part.first+i] = k
		}
	}
}

// centre turns columns of the rows as read into columns of A. It centres them if there is an intercept, and
// multiplies each row by the square root of its weight.
func (r *Rows) centre(p engine.Matrix) {
	if r.intercept {
		mean := make([]float64, p.Cols)
		sum := make([]float64, p.Cols)
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
