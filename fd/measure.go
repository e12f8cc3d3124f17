package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/orthogonal"
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
func measureWork(r, n int) int { return max(r*n, orthogonal.Work(r, n)) + r*r }

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
	skew := orthogonal.Loss(be, x.u, omega, work)
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
	// The entries of Ω are off by what Loss bounds, which is far below eps.
	phi := x.weighted(omega, above) + orthogonal.RoundOff(be, r, n)*(largest+above)
	coupling := phi*(1+apart/above) + phi*(phi/above)
	size := largest + above

	lost := x.rounding(above, skew, size)
	pad = math.Max(math.Max(above, most)*(1+8*eps)-x.delta, 0) + coupling
	pad = (pad + lost.squares) * inflate
	drift = (shortfall + 3*skew*size + 4*eps*above + lost.gram) * inflate
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
