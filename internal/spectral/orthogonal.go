package spectral

import (
	"math"

	"github.com/fdridge/fdridge/engine"
)

const (
	eps     = 0x1p-52
	inflate = 1.01 // covers the round-off in the evaluation of bounds, which are sums of nonnegative numbers
)

// grid rounds a number to a multiple of 2⁻²⁶, if grid is added to the number and then subtracted. The magnitude of
// the number must be at most 1.5.
const grid = 0x1.8p26

// blockRows and blockColumns are the dimensions of the blocks into which Loss divides a matrix. Loss multiplies
// pairs of blocks.
const (
	blockRows    = 256
	blockColumns = 512
)

// Work returns the length of the workspace that [Loss] needs for a matrix with r rows and k columns.
func Work(r, k int) int {
	nb := min(r, blockRows)
	kb := min(k, blockColumns)
	return 4*nb*kb + 2*nb*nb
}

// Loss bounds how far the r rows of a matrix V are from orthonormal. It returns a bound on ‖Ω‖_F for Ω = VVᵀ
// − I. The bound includes the round-off of Loss itself. It is +Inf if the squared norm of a row is above 1.5. If
// omega (r×r) has data, Loss overwrites its lower triangle with Ω.
//
// Let V have k columns, and let V = H + L, where the entries of H are multiples of 2⁻²⁶. The product HHᵀ is
// exact, because its partial sums are multiples of 2⁻⁵² and less than 2 (K. Ozaki, T. Ogita, S. Oishi, S. Rump,
// Numer. Algorithms 59, 2012). The rest of VVᵀ is (V − L/2)Lᵀ + L(V − L/2)ᵀ. It is smaller by a factor
// 2⁻²⁷√k.
func Loss(be engine.Backend, v, omega engine.Matrix, work []float64) float64 {
	r := v.Rows
	o := newMultiplier(be, min(r, blockRows), min(v.Cols, blockColumns), work)
	var norm2 float64
	for lo := 0; lo < r; lo += blockRows {
		hi := min(lo+blockRows, r)
		rows := v.Slice(lo, hi, 0, v.Cols)
		for first := 0; first < lo; first += blockRows {
			o.multiply(rows, v.Slice(first, first+blockRows, 0, v.Cols))
			for i := range hi - lo {
				row := o.exact.Row(i)
				for j, c := range o.rest.Row(i) {
					row[j] += c
					norm2 += 2 * row[j] * row[j]
				}
				if omega.Data != nil {
					copy(omega.Row(lo + i)[first:], row)
				}
			}
		}
		o.square(rows)
		for i := range hi - lo {
			row := o.exact.Row(i)[:i+1]
			if !(row[i] <= 1.5) {
				return math.Inf(1)
			}
			row[i]--
			for j := range row {
				row[j] += o.rest.Row(i)[j] + o.rest.Row(j)[i]
				norm2 += 2 * row[j] * row[j]
			}
			norm2 -= row[i] * row[i]
			if omega.Data != nil {
				copy(omega.Row(lo + i)[lo:], row)
			}
		}
	}
	norm := math.Sqrt(math.Max(norm2, 0)) * (1 + float64(r)*float64(r)*eps) * inflate
	return norm +
		roundOff(be, r, v.Cols, o.lows) +
		underflow(r, v.Cols)
}

// underflow bounds the effect of underflow on the result of Loss, for a matrix with r rows and k columns.
func underflow(r, k int) float64 {
	return float64(r) * math.Sqrt(float64(k)) * 0x1p-500
}

// RoundOff bounds the error of the matrix Ω = VVᵀ − I that [Loss] writes, for a matrix V with r rows and k
// columns. It is a bound on the Frobenius norm of the error.
func RoundOff(be engine.Backend, r, k int) float64 {
	return roundOff(be, r, k, float64(r)*float64(k)*0x1p-54) // entries of L are at most 2⁻²⁷ in magnitude
}

// roundOff returns the bound of RoundOff if the sum of the squared entries of L is lows. L is the low part of V in
// [Loss].
func roundOff(be engine.Backend, r, k int, lows float64) float64 {
	return 2 * (be.Accuracy().Dot(k) + engine.Roundings + 4) * eps * math.Sqrt(1.5*float64(r)*lows) * inflate
}

// A multiplier multiplies blocks of rows of V.
type multiplier struct {
	be            engine.Backend
	left, right   twoSlices
	product, part engine.Matrix
	exact, rest   engine.Matrix // the product HHᵀ, and the rest of the product
	lows          float64       // ‖L‖²_F of the rows that square has multiplied
}

// newMultiplier returns a multiplier for blocks of nb rows and kb columns, with its workspace in work.
func newMultiplier(be engine.Backend, nb, kb int, work []float64) multiplier {
	squares := work[:2*nb*nb]
	blocks := work[2*nb*nb:]
	block := func(i int) engine.Matrix {
		return engine.View(
			nb,
			kb,
			blocks[i*nb*kb:(i+1)*nb*kb],
		)
	}
	return multiplier{
		be:      be,
		product: engine.View(nb, nb, squares[:nb*nb]),
		part:    engine.View(nb, nb, squares[nb*nb:]),
		left:    twoSlices{block(0), block(1)},
		right:   twoSlices{block(2), block(3)},
	}
}

// multiply computes the product of a and the transpose of b, as the sum of o.exact and o.rest.
func (o *multiplier) multiply(a, b engine.Matrix) {
	o.exact = o.product.Slice(0, a.Rows, 0, b.Rows)
	o.rest = o.part.Slice(0, a.Rows, 0, b.Rows)
	for k, beta := 0, 0.0; k < a.Cols; k, beta = k+blockColumns, 1 {
		end := min(k+blockColumns, a.Cols)
		x := o.left.split(a.Slice(0, a.Rows, k, end))
		y := o.right.split(b.Slice(0, b.Rows, k, end))
		o.be.Gemm(false, true, 1, x.high, y.high, beta, o.exact)
		x.addHalfLow()
		y.addHalfLow()
		o.be.Gemm(false, true, 1, x.high, y.low, beta, o.rest)
		o.be.Gemm(false, true, 1, x.low, y.high, 1, o.rest)
	}
}

// square computes the product of a and its own transpose, as the sum of o.exact, o.rest and the transpose of
// o.rest. Only the lower triangle of o.exact is computed.
func (o *multiplier) square(a engine.Matrix) {
	o.exact = o.product.Slice(0, a.Rows, 0, a.Rows)
	o.rest = o.part.Slice(0, a.Rows, 0, a.Rows)
	for k, beta := 0, 0.0; k < a.Cols; k, beta = k+blockColumns, 1 {
		x := o.left.split(a.Slice(0, a.Rows, k, min(k+blockColumns, a.Cols)))
		o.be.Syrk(false, 1, x.high, beta, o.exact)
		o.lows += x.addHalfLow()
		o.be.Gemm(false, true, 1, x.high, x.low, beta, o.rest)
	}
}

// twoSlices holds rows as the sum of two matrices. The entries of high are multiples of 2⁻²⁶, and low is the rest.
type twoSlices struct{ high, low engine.Matrix }

// split writes the high and low parts of the rows v to the memory of s, and returns them.
func (s twoSlices) split(v engine.Matrix) twoSlices {
	s.high = s.high.Slice(0, v.Rows, 0, v.Cols)
	s.low = s.low.Slice(0, v.Rows, 0, v.Cols)
	for i := range v.Rows {
		h := s.high.Row(i)
		l := s.low.Row(i)
		for j, x := range v.Row(i) {
			t := x + grid - grid
			h[j] = t
			l[j] = x - t
		}
	}
	return s
}

// addHalfLow adds half of s.low to s.high. It returns the sum of the squared entries of s.low.
func (s twoSlices) addHalfLow() (norm2 float64) {
	for i := range s.low.Rows {
		h := s.high.Row(i)
		for j, l := range s.low.Row(i) {
			h[j] += l / 2
			norm2 += l * l
		}
	}
	return norm2
}
