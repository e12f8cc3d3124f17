package engine

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/internal/twofold"
)

// CSR is a block of sparse rows in compressed sparse row form. Row i has the values Val[RowPtr[i]:RowPtr[i+1]].
// Their column indices are ColIdx[RowPtr[i]:RowPtr[i+1]], which strictly increase. A CSR does not own its memory.
// With a sub-slice of RowPtr, a CSR describes consecutive rows of a larger block.
type CSR struct {
	Rows, Cols int
	RowPtr     []int     // length Rows+1, non-decreasing
	ColIdx     []int32   // 0-based
	Val        []float64 // same length as ColIdx
}

// Row returns the column indices and values of row i, without copying.
func (s *CSR) Row(i int) ([]int32, []float64) {
	lo := s.RowPtr[i]
	hi := s.RowPtr[i+1]
	return s.ColIdx[lo:hi], s.Val[lo:hi]
}

// NNZ returns the number of stored entries.
func (s *CSR) NNZ() int {
	if s.Rows == 0 {
		return 0
	}
	return s.RowPtr[s.Rows] - s.RowPtr[0]
}

// Slice returns rows lo to hi of s, hi excluded. The result shares memory with s.
func (s *CSR) Slice(lo, hi int) CSR {
	return CSR{
		Rows:   hi - lo,
		Cols:   s.Cols,
		RowPtr: s.RowPtr[lo : hi+1],
		ColIdx: s.ColIdx,
		Val:    s.Val,
	}
}

// Gradient computes R = S·Xᵀ − B and then G = G + Rᵀ·S for the n×d matrix S of sparse rows. The rows of x
// (t×d) are the t right-hand sides. R is n×t and is overwritten, and G is t×d. If b has no Data, B is zero. The
// time is proportional to t times the number of stored entries.
//
// An element of R is a sum of products in the order of the stored entries of the row, minus the element of B. An
// element of G is a sum over the stored entries of a column of S.
func (s *CSR) Gradient(x, b, g, r Matrix) {
	t := x.Rows
	matrix.CheckShape(&x, t, s.Cols)
	matrix.CheckShape(&g, t, s.Cols)
	matrix.CheckShape(&r, s.Rows, t)
	if b.Data != nil {
		matrix.CheckShape(&b, s.Rows, t)
	}
	for i := range s.Rows {
		idx, val := s.Row(i)
		for q := range t {
			xq := x.Row(q)
			var sum float64
			for k, j := range idx {
				sum += val[k] * xq[j]
			}
			if b.Data != nil {
				sum -= b.Data[i*b.Stride+q]
			}
			r.Data[i*r.Stride+q] = sum
			gq := g.Row(q)
			for k, j := range idx {
				gq[j] += sum * val[k]
			}
		}
	}
}

// GradientTwofold computes the products of [CSR.Gradient] with about twice the digits, and bounds their errors. The
// arguments and formulas are explained at [Backend.GradientTwofold].
func (s *CSR) GradientTwofold(
	x, b Matrix,
	c, w []float64,
	g, r Twofold,
) {
	t := x.Rows
	if x.Data != nil {
		matrix.CheckShape(&x, t, s.Cols)
	}
	if g.Hi.Data != nil {
		matrix.CheckTwofold(&g, t, s.Cols)
	}
	matrix.CheckTwofold(&r, s.Rows, t)
	if b.Data != nil {
		matrix.CheckShape(&b, s.Rows, t)
	}
	if c != nil {
		matrix.CheckLength(t, len(c))
	}
	if w != nil {
		matrix.CheckLength(s.Rows, len(w))
	}
	for i := range s.Rows {
		idx, val := s.Row(i)
		for q := range t {
			rhs, shift, weight := 0.0, 0.0, 1.0
			if b.Data != nil {
				rhs = b.Data[i*b.Stride+q]
			}
			if c != nil {
				shift = c[q]
			}
			if w != nil {
				weight = w[i]
			}
			terms := idx
			xq := []float64(nil)
			if x.Data == nil {
				terms = nil
			} else {
				xq = x.Row(q)
			}
			hi, lo, off := sparseResidual(terms, val, xq, rhs, shift)
			r.Hi.Row(i)[q] = hi
			r.Lo.Row(i)[q] = lo
			r.Err.Row(i)[q] = off
			if g.Hi.Data != nil {
				addSparse(
					idx,
					val,
					hi,
					lo,
					weight,
					g.Hi.Row(q),
					g.Lo.Row(q),
					g.Err.Row(q),
				)
			}
		}
	}
}

// underflowLoss bounds the error that underflow causes in a few operations on float64 numbers.
const underflowLoss = 0x1p-1070

// sparseResidual computes a·x − b + c, where the sparse row a is given by idx and val. The result is the sum
// hi + lo, and errBound bounds its error.
func sparseResidual(
	idx []int32,
	val, x []float64,
	b, c float64,
) (hi, lo, errBound float64) {
	hi, lo = twofold.Sum(-b, c)
	lows := math.Abs(lo) // sum of the magnitudes added to lo
	for k, j := range idx {
		p, e := twofold.Product(val[k], x[j])
		var missing float64
		hi, missing = twofold.Sum(hi, p)
		lo += missing + e
		lows += math.Abs(missing) + math.Abs(e)
	}
	n := float64(len(idx) + 2)
	hi, lo = twofold.Sum(hi, lo)
	return hi, lo, n*(twofold.Lost*lows+underflowLoss) + (hi - hi) // hi − hi is 0, or NaN if hi is not finite
}

// addSparse adds the sparse row a, multiplied by weight·(hi + lo), to the vector gh + gl. The row a is given by idx
// and val. addSparse adds bounds on the errors to ge.
func addSparse(
	idx []int32,
	val []float64,
	hi, lo, weight float64,
	gh, gl, ge []float64,
) {
	ch, cl := twofold.Product(weight, hi)
	cl = math.FMA(weight, lo, cl)
	off := twofold.Lost*math.Abs(cl) + underflowLoss
	for k, j := range idx {
		v := val[k]
		p, e := twofold.Product(v, ch)
		l := math.FMA(v, cl, e)
		twofold.Add(
			p,
			l,
			math.Abs(v)*off+twofold.Lost*math.Abs(l)+underflowLoss,
			&gh[j],
			&gl[j],
			&ge[j],
		)
	}
}
