package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
)

// Eigenvectors come from iterations whose round-off has no useful bound beforehand. So each
// shrink measures the eigenvectors that it uses, by products whose round-off
// [engine.Accuracy] bounds. docs/math.md §14 has the theorems and their proofs.

// A reduction replaces rows R (n×d) by r ≤ n rows B = diag(f)·U·R. With G = RRᵀ, S = diag(kept)
// and F = diag(scale) it should be a shrink by delta:
//
//	G ≈ Uᵀ(S + delta·I)U + the rest,   F² ≈ S/(S + delta).
type reduction struct {
	gram      engine.Matrix // G̃, what was computed of G (lower triangle); measure overwrites it
	gramError float64       // G ⪯ G̃ + gramError·I
	lengths   []float64     // n: ‖row k‖, or the sum of the norms of the terms that make row k
	chain     float64       // bound on the round-off of an entry of U·R, in units of eps
	u         engine.Matrix // r×n, the rows before they are scaled by F
	kept      []float64     // r: positive
	scale     []float64     // r: between 0 and 1
	delta     float64
}

// measureWork is the length of the workspace that measure needs for r×n vectors.
func measureWork(r, n int) int { return max(r*n, orthogonalityWork(r, n)) + r*r }

// measure returns two bounds on what round-off did:
//
//	−pad·I ⪯ RᵀR − BᵀB ⪯ (delta + pad)·I,   BBᵀ ⪯ S + drift·I.
//
// factor is n×n and work has measureWork(r, n) elements; both are overwritten. Both results are
// +Inf if the vectors are nowhere near orthonormal.
func (x *reduction) measure(be engine.Backend, factor engine.Matrix, work []float64) (pad, drift float64) {
	n, r := x.gram.Rows, x.u.Rows
	total, kept, largest := 0.0, 0.0, 0.0
	for i := range n {
		total += math.Abs(x.gram.Row(i)[i])
	}
	for _, v := range x.kept {
		kept += v
		largest = math.Max(largest, v)
	}
	omega, work := engine.View(r, r, work[:r*r]), work[r*r:]
	skew := lossOfOrthogonality(be, x.u, omega, work)
	if !(skew <= 0x1p-10) {
		return math.Inf(1), math.Inf(1)
	}

	// G̃ ⪯ UᵀSU + bound·I.
	bound := x.boundAbove(be, factor, work, total, kept, x.weighted(omega, x.delta))
	above := bound + x.gramError // the same for G

	// F²(S + above) is above·I but for what eigenvalues differ by.
	most, apart, shortfall := 0.0, 0.0, 0.0
	for i, s := range x.kept {
		e := (1 - x.scale[i]) * (1 + x.scale[i]) * (s + above)
		most = math.Max(most, e)
		apart = math.Max(apart, math.Abs(e-above))
		shortfall = math.Max(shortfall, above-e)
	}
	phi := x.weighted(omega, above)
	coupling := phi*(1+apart/above) + phi*(phi/above)
	size := largest + above

	lost := x.rounding(above, skew, size)
	pad = math.Max(math.Max(above, most)*(1+8*eps)-x.delta, 0) + coupling
	pad = (pad + lost.squares) * inflate
	drift = (shortfall + 3*skew*size + 2*eps*above + lost.gram) * inflate
	return pad, drift
}

// inflate covers the round-off of evaluating bounds, which are sums and products of numbers that
// are not negative.
const inflate = 1.01

// boundAbove returns a number b with G̃ ⪯ UᵀSU + b·I, near delta. If the Cholesky factorisation
// of (delta+slack)·I − (G̃ − UᵀSU) ends, then this matrix is positive definite but for what
// rounding did (S. Rump, BIT 46, 2006). The slack grows until it does. total is tr G̃ and kept tr S.
func (x *reduction) boundAbove(be engine.Backend, factor engine.Matrix, work []float64, total, kept, slack float64) float64 {
	n, r := x.gram.Rows, x.u.Rows
	scaled := engine.View(r, n, work[:r*n])
	for i, s := range x.kept {
		root, row := math.Sqrt(s), scaled.Row(i)
		for k, v := range x.u.Row(i) {
			row[k] = root * v
		}
	}
	be.Syrk(true, -1, scaled, 1, x.gram)
	// Each entry of UᵀSU is off by 4·eps before the product: roots and products of scaled.
	product := (be.Accuracy().Sum(r) + engine.Roundings + 4) * eps * (total + kept) * inflate
	slack = math.Max(slack, 8*eps*total+float64(n)*0x1p-1022)
	for {
		trace := 0.0
		for i := range n {
			row, rest := factor.Row(i), x.gram.Row(i)
			for j := range i {
				row[j] = -rest[j]
			}
			row[i] = x.delta + slack - rest[i]
			trace += math.Abs(row[i])
		}
		if _, ok := be.Cholesky(factor); ok {
			return (x.delta+slack)*(1+2*eps) + product + (float64(n)+8)*eps*trace*inflate + float64(n)*0x1p-1022
		}
		if !(slack <= 4*(total+kept)) {
			return math.Inf(1)
		}
		slack *= 4
	}
}

// weighted returns ‖Y^½|Ω|Y^½‖_F for Y = S + shift·I and the lower triangle of Ω.
func (x *reduction) weighted(omega engine.Matrix, shift float64) float64 {
	var largest, norm2 float64
	for _, s := range x.kept {
		largest = math.Max(largest, s+shift)
	}
	if largest == 0 {
		return 0
	}
	for i, s := range x.kept {
		share := (s + shift) / largest
		for j, v := range omega.Row(i)[:i+1] {
			v *= v * share * ((x.kept[j] + shift) / largest)
			if j < i {
				v *= 2
			}
			norm2 += v
		}
	}
	return largest * math.Sqrt(norm2) * (1 + float64(len(x.kept)*len(x.kept))*eps)
}

// A roundedProduct bounds what the rounding Y of B = F·U·R + Y does.
type roundedProduct struct {
	squares float64 // to BᵀB
	gram    float64 // to BBᵀ
}

// rounding bounds the round-off of computing B. Row i of FUR has a squared norm of at most
// fᵢ²(sᵢ + above) + 3·skew·size, and Yᵢ a norm of at most chain·eps·Σ|fᵢuᵢₖ|·lengthsₖ.
func (x *reduction) rounding(above, skew, size float64) roundedProduct {
	var sum, norm float64
	for i, s := range x.kept {
		off := 0.0
		for k, v := range x.u.Row(i) {
			off += math.Abs(v) * x.lengths[k]
		}
		off *= (x.chain + 2) * eps * x.scale[i]
		length := math.Sqrt(x.scale[i]*x.scale[i]*(s+above) + 3*skew*size)
		sum += off * length
		norm = math.Hypot(norm, off)
	}
	all := math.Sqrt(size * (1 + 3*skew))
	return roundedProduct{squares: (2*math.Min(sum, all*norm) + norm*norm) * inflate, gram: (2*all*norm + norm*norm) * inflate}
}

// grid added to and taken off a number of at most 1.5 rounds it to a multiple of 2⁻²⁶.
const grid = 0x1.8p26

// orthogonalityRows and orthogonalityColumns are the sizes of the blocks of V that
// lossOfOrthogonality multiplies at a time.
const (
	orthogonalityRows    = 256
	orthogonalityColumns = 512
)

// orthogonalityWork is the length of the workspace that lossOfOrthogonality needs for r×k vectors.
func orthogonalityWork(r, k int) int {
	nb, kb := min(r, orthogonalityRows), min(k, orthogonalityColumns)
	return 4*nb*kb + 2*nb*nb
}

// lossOfOrthogonality returns a bound on ‖Ω‖_F, Ω = VVᵀ − I, that includes its own round-off. It is
// +Inf if a row is much longer than 1. V is r×k. Where omega (r×r) has data, its lower triangle is
// overwritten with Ω.
//
// With V = H + L, where entries of H are multiples of 2⁻²⁶, the product HHᵀ is without error: its
// partial sums are multiples of 2⁻⁵² and less than 2 (K. Ozaki, T. Ogita, S. Oishi, S. Rump,
// Numer. Algorithms 59, 2012). The rest, (V − L/2)Lᵀ + L(V − L/2)ᵀ, is smaller by 2⁻²⁷√k.
func lossOfOrthogonality(be engine.Backend, v, omega engine.Matrix, work []float64) float64 {
	r := v.Rows
	o := newOrthogonality(be, min(r, orthogonalityRows), min(v.Cols, orthogonalityColumns), work)
	var norm2 float64
	for lo := 0; lo < r; lo += orthogonalityRows {
		hi := min(lo+orthogonalityRows, r)
		rows := v.Slice(lo, hi, 0, v.Cols)
		for first := 0; first < lo; first += orthogonalityRows {
			o.multiply(rows, v.Slice(first, first+orthogonalityRows, 0, v.Cols))
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
	off := 2 * (be.Accuracy().Dot(v.Cols) + engine.Roundings + 4) * eps * math.Sqrt(1.5*float64(r)*o.lows)
	return (math.Sqrt(math.Max(norm2, 0))*(1+float64(r)*float64(r)*eps) + off) * inflate
}

// An orthogonality multiplies blocks of rows with each other.
type orthogonality struct {
	be            engine.Backend
	left, right   twoSlices
	product, part engine.Matrix
	exact, rest   engine.Matrix // HHᵀ and what is added to it
	lows          float64       // ‖L‖²_F of the rows that were squared
}

// newOrthogonality divides work among blocks of nb rows and kb columns.
func newOrthogonality(be engine.Backend, nb, kb int, work []float64) orthogonality {
	squares, blocks := work[:2*nb*nb], work[2*nb*nb:]
	block := func(i int) engine.Matrix { return engine.View(nb, kb, blocks[i*nb*kb:(i+1)*nb*kb]) }
	return orthogonality{
		be: be, product: engine.View(nb, nb, squares[:nb*nb]), part: engine.View(nb, nb, squares[nb*nb:]),
		left: twoSlices{block(0), block(1)}, right: twoSlices{block(2), block(3)},
	}
}

// multiply makes exact + rest = ABᵀ.
func (o *orthogonality) multiply(a, b engine.Matrix) {
	o.exact, o.rest = o.product.Slice(0, a.Rows, 0, b.Rows), o.part.Slice(0, a.Rows, 0, b.Rows)
	for k, beta := 0, 0.0; k < a.Cols; k, beta = k+orthogonalityColumns, 1 {
		end := min(k+orthogonalityColumns, a.Cols)
		x, y := o.left.split(a.Slice(0, a.Rows, k, end)), o.right.split(b.Slice(0, b.Rows, k, end))
		o.be.Gemm(false, true, 1, x.high, y.high, beta, o.exact)
		x.soften()
		y.soften()
		o.be.Gemm(false, true, 1, x.high, y.low, beta, o.rest)
		o.be.Gemm(false, true, 1, x.low, y.high, 1, o.rest)
	}
}

// square makes exact + rest + restᵀ = AAᵀ, of exact the lower triangle.
func (o *orthogonality) square(a engine.Matrix) {
	o.exact, o.rest = o.product.Slice(0, a.Rows, 0, a.Rows), o.part.Slice(0, a.Rows, 0, a.Rows)
	for k, beta := 0, 0.0; k < a.Cols; k, beta = k+orthogonalityColumns, 1 {
		x := o.left.split(a.Slice(0, a.Rows, k, min(k+orthogonalityColumns, a.Cols)))
		o.be.Syrk(false, 1, x.high, beta, o.exact)
		o.lows += x.soften()
		o.be.Gemm(false, true, 1, x.high, x.low, beta, o.rest)
	}
}

// twoSlices are rows V = H + L.
type twoSlices struct{ high, low engine.Matrix }

// split returns the slices of v, in the memory of s.
func (s twoSlices) split(v engine.Matrix) twoSlices {
	s.high, s.low = s.high.Slice(0, v.Rows, 0, v.Cols), s.low.Slice(0, v.Rows, 0, v.Cols)
	for i := range v.Rows {
		h, l := s.high.Row(i), s.low.Row(i)
		for j, x := range v.Row(i) {
			t := x + grid - grid
			h[j], l[j] = t, x-t
		}
	}
	return s
}

// soften overwrites H with H + L/2 and returns ‖L‖²_F.
func (s twoSlices) soften() (norm2 float64) {
	for i := range s.low.Rows {
		h := s.high.Row(i)
		for j, l := range s.low.Row(i) {
			h[j] += l / 2
			norm2 += l * l
		}
	}
	return norm2
}

// residual returns a bound on ‖A − XᵀX‖ for the lower triangle a (d×d) and rows x, its own round-off
// included. It overwrites a with A − XᵀX, and part (d×d). before bounds ‖A‖_F.
func residual(be engine.Backend, a, x, part engine.Matrix, before float64) float64 {
	var squares, sums float64
	for lo := 0; lo < x.Rows; lo += residualRows {
		rows := x.Slice(lo, min(lo+residualRows, x.Rows), 0, x.Cols)
		be.Syrk(true, 1, rows, 0, part)
		for i := range a.Rows {
			row, less := a.Row(i)[:i+1], part.Row(i)[:i+1]
			for j, v := range less {
				row[j] -= v
			}
			squares += less[i]
		}
		sums++
	}
	product := be.Accuracy().Sum(min(x.Rows, residualRows)) + engine.Roundings + 1
	return frobenius(a) + eps*(product*squares+sums/2*(before+squares))*inflate
}

// residualRows is the number of rows whose products residual adds up at a time: round-off grows
// with it, and reading and writing A falls.
const residualRows = 256

// frobenius returns ‖A‖_F of the symmetric matrix whose lower triangle a has.
func frobenius(a engine.Matrix) float64 {
	var largest, sum float64
	for i := range a.Rows {
		for _, v := range a.Row(i)[:i+1] {
			largest = math.Max(largest, math.Abs(v))
		}
	}
	if largest == 0 || math.IsNaN(largest) || math.IsInf(largest, 1) {
		return largest
	}
	for i := range a.Rows {
		row := a.Row(i)
		for _, v := range row[:i] {
			v /= largest
			sum += 2 * v * v
		}
		v := row[i] / largest
		sum += v * v
	}
	return largest * math.Sqrt(sum) * (1 + (float64(a.Rows)*float64(a.Rows)+4)*eps)
}
