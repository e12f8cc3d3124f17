package dual

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Gram is the computed G = AAᵀ. With an intercept, the columns of A are centred, so G has the eigenvalue 0 with
// the eigenvector uᵢ = √(wᵢ/Σw). Round-off would hide this eigenvalue. Therefore A gets one more column,
// √Shift·u. The other columns are orthogonal to u, so the new column only changes the eigenvalue from 0 to Shift.
// The round-off is bounded relative to G̃ = ÃÃᵀ, where each row of Ã is a slightly perturbed row of A.
type Gram struct {
	N     int
	G     []float64 // n×n
	Norms []float64 // √Gᵢᵢ, the norms of the rows of A
	// Units and Lost bound the round-off: |G − G̃|ᵢⱼ is at most Units·roundoff.Unit·‖aᵢ‖‖aⱼ‖ for the
	// rows aᵢ of A, plus the element of a matrix of norm at most Lost.
	Units float64
	Lost  float64   // see Units
	Off   []float64 // bounds the norm of the perturbation of each row of A in G̃
	Shift float64   // 0 without an intercept
}

// PanelColumns returns the number of columns of n rows that form a panel, out of d columns. A panel has at most n
// columns and 64 MiB. It has at least 128 columns, if d allows.
func PanelColumns(n, d int) int {
	const numbers, least = 64 << 20 / 8, 128
	return max(1, min(d, max(n, least), max(numbers/max(n, 1), least)))
}

// A gramSum computes G = AAᵀ as a sum of products PPᵀ, for panels P of columns of A.
type gramSum struct {
	be     engine.Backend
	n      int
	g      []float64 // n×n
	work   []float64 // n×n, the product of a panel
	panels int
	empty  bool // g holds no sum yet
	// widest is the largest number of columns of a panel that add was called with. tallest is the largest number of rows
	// of a panel that addRows was called with.
	widest, tallest int
}

// newGramSum returns a sum that adds to g. If empty is true, g is overwritten. work is a workspace of n×n
// numbers.
func newGramSum(be engine.Backend, n int, g, work []float64, empty bool) *gramSum {
	return &gramSum{
		be:    be,
		n:     n,
		g:     g,
		work:  work,
		empty: empty,
	}
}

// add adds PPᵀ for a panel P of columns (n×k).
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

// units returns a bound on the round-off of element i, j of the sum, in units of roundoff.Unit·‖aᵢ‖‖aⱼ‖
// for the rows aᵢ of A.
func (s *gramSum) units() float64 {
	if s.panels == 0 {
		return 0
	}
	bound := max(s.be.Accuracy().Dot(s.widest), float64(s.tallest)/2)
	return 2*(bound+engine.Roundings) + float64(s.panels) + 1
}

// Gram computes G = AAᵀ in g, of n² elements. work is a workspace of n² elements.
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

// shift changes an eigenvalue of G from 0 to g.Shift. null is its unit eigenvector. g.Shift is set to the mean squared
// norm of the rows.
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

// close sets g.Norms, stores in g.Off bounds on the norms of the errors of the rows of A, and copies the lower triangle
// of G to the upper.
func (g *Gram) close(r *Samples) {
	mean := r.meanError()
	for i := range g.N {
		norm := math.Sqrt(math.Max(0, g.G[i*g.N+i]) + roundoff.LostSquares)
		g.Norms = append(g.Norms, norm)

		off := mean * r.Root(i) // the mean of a column has the same error in all rows
		if r.w != nil || r.intercept {
			// An element of A has three roundings: the difference from the mean, the square root of the weight, and their
			// product.
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

// Norm returns the computed ‖A‖_F. It leaves out the column that Gram adds for an intercept.
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

// dense copies columns of the rows to dense panels P, and adds each PPᵀ to sum. If all rows are sparse, it takes
// only the columns in list, and otherwise all columns.
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

// cut overwrites p with the columns lo, lo+1, … of the rows. counts[i] is the number of entries of sparse row i in
// columns before lo. cut updates counts for the next call, which begins after the columns of p.
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

// centre turns columns of the stored rows into columns of A: centred and weighted.
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
