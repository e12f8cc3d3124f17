package fd

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
)

// No useful bound on the round-off of the eigensolver is known in advance. Therefore each shrink measures the
// error of its computed eigenvectors with matrix products. [engine.Accuracy] bounds the round-off of these
// products. Theorems and proofs are in docs/math.md §14.

// A reduction is a shrink that replaces the n rows of a matrix R by r ≤ n rows B = diag(scale)·U·R. The rows of U
// are eigenvectors of G = RRᵀ. The shrink subtracts delta from the eigenvalues, and kept holds the differences.
// With the matrix S = diag(kept), up to round-off,
//
//	UGUᵀ = S + delta·I,   diag(scale)² = S·(S + delta·I)⁻¹.
type reduction struct {
	gram      engine.Matrix // G̃, the computed G (lower triangle); overwritten by measure
	gramError float64       // bounds the error of G̃: G ⪯ G̃ + gramError·I
	// lengths holds the norm of each of the n rows of R. For a row s − κμ with a centre μ, it holds ‖s‖ +
	// ‖κμ‖.
	lengths []float64
	chain   float64       // the round-off of row i of U·R is at most chain·eps·Σ|uᵢₖ|·lengths[k] in norm
	u       engine.Matrix // U, r×n
	kept    []float64     // r; squared norms of the new rows, positive
	scale   []float64     // r; factors between 0 and 1
	delta   float64
}

// measureWork returns the length of the workspace that measure needs for r eigenvectors of length n.
func measureWork(r, n int) int {
	return max(r*n, spectral.Work(r, n)) + r*r
}

// measure bounds the effect of round-off on the shrink x, which replaces the rows R by the rows B. With delta =
// x.delta and S = diag(x.kept), the results pad and drift satisfy
//
//	−pad·I ⪯ RᵀR − BᵀB ⪯ (delta + pad)·I,   BBᵀ ⪯ S + drift·I.
//
// Both bounds are +Inf if the computed eigenvectors are far from orthonormal. The workspaces factor and work are
// overwritten. factor must be n×n for n rows R, and the length of work is the result of measureWork.
func (x *reduction) measure(
	be engine.Backend,
	factor engine.Matrix,
	work []float64,
) (pad, drift float64) {
	r := x.u.Rows
	omega := engine.View(r, r, work[:r*r])
	work = work[r*r:]
	off := x.measureOmega(be, omega, work)
	if !(off.skew <= 0x1p-10) {
		return math.Inf(1), math.Inf(1)
	}
	return x.bounds(be, factor, omega, off, work)
}

// bounds returns the results pad and drift of measure. omega must hold the computed UUᵀ − I, for the eigenvectors
// U = x.u. off must bound the errors of omega.
func (x *reduction) bounds(
	be engine.Backend,
	factor, omega engine.Matrix,
	off omegaError,
	work []float64,
) (pad, drift float64) {
	n, r := x.gram.Rows, x.u.Rows
	total, kept, largest := 0.0, 0.0, 0.0
	for i := range n {
		total += math.Abs(x.gram.Row(i)[i])
	}
	for _, v := range x.kept {
		kept += v
		largest = math.Max(largest, v)
	}

	// Now G̃ ⪯ UᵀSU + bound·I.
	bound := x.boundAbove(be, factor, work, total, kept, x.weighted(omega, x.delta))
	above := bound + x.gramError // now G ⪯ UᵀSU + above·I

	// E = (I − F²)(S + above·I) is a diagonal matrix, with F = diag(x.scale) and S = diag(x.kept). It bounds the
	// effect of scaling the rows (docs/math.md §14). e is element i of its diagonal.
	most, apart, shortfall := 0.0, 0.0, 0.0
	for i, s := range x.kept {
		e := (1 - x.scale[i]) * (1 + x.scale[i]) * (s + above)
		most = math.Max(most, e)
		apart = math.Max(apart, math.Abs(e-above))
		shortfall = math.Max(shortfall, above-e)
	}
	phi := x.weighted(omega, above) + off.weighted(largest, kept, float64(r), above)
	coupling := phi*(1+apart/above) + phi*(phi/above)
	size := largest + above
	mixed := x.mixed(omega, above) + off.mixed(largest, kept, float64(r), above)
	mixed *= 1 + off.skew

	lost := x.rounding(above, mixed, size)
	pad = math.Max(math.Max(above, most)*(1+8*eps)-x.delta, 0) + coupling
	pad = (pad + lost.squares) * inflate
	drift = (shortfall + mixed + 4*eps*above + lost.gram) * inflate
	return pad, drift
}

// inflate is a factor that covers the round-off in the computed bounds. It suffices, because the bounds are sums
// and products of nonnegative numbers.
const inflate = 1.01

// An omegaError bounds the errors of the computed matrix Ω = UUᵀ − I, for computed eigenvectors U.
type omegaError struct {
	skew  float64 // bounds ‖Ω‖_F
	norm  float64 // bounds the Frobenius norm of the error of omega, if entry is 0
	entry float64 // bounds the error of each entry of omega, if it is not 0
}

// weighted bounds the Frobenius norm of Y^½·E·Y^½. E is the error of the computed UUᵀ − I. Y is the diagonal
// matrix of the squared norms of the r rows after the shrink, plus shift·I. largest and sum are the maximum and the
// sum of these squared norms.
func (e omegaError) weighted(largest, sum, r, shift float64) float64 {
	if e.entry == 0 {
		return e.norm * (largest + shift)
	}
	return e.entry * (sum + r*shift) * inflate
}

// mixed bounds the Frobenius norm of ES + SE + shift·E. E is the error of the computed UUᵀ − I. S is the diagonal
// matrix of the squared norms of the r rows after the shrink. largest and sum are the maximum and the sum of these
// squared norms.
func (e omegaError) mixed(largest, sum, r, shift float64) float64 {
	if e.entry == 0 {
		return e.norm * (2*largest + shift)
	}
	all := math.Sqrt(r) * math.Sqrt(sum) * math.Sqrt(largest) // bounds the norm of the r×r matrix whose rows are all kept
	return e.entry * (2*all + r*shift) * inflate
}

// plainShare limits when UUᵀ − I is computed by plain products, for the eigenvectors U. The round-off of plain
// products may add at most plainShare·delta to the bounds of measure.
const plainShare = 0x1p-10

// stripColumns is the number of columns of U in each plain product. Fewer columns per product mean less round-off, but
// more passes over UUᵀ.
const stripColumns = 64

// measureOmega writes the lower triangle of UUᵀ − I to omega, for the eigenvectors U = x.u, and bounds its error.
// The bounds of measure need an accurate UUᵀ − I only if x.delta is small. Otherwise measureOmega uses plain
// products, which take a third of the time (docs/math.md §14).
func (x *reduction) measureOmega(
	be engine.Backend,
	omega engine.Matrix,
	work []float64,
) omegaError {
	n := x.u.Cols
	r := float64(x.u.Rows)
	largest, sum := 0.0, 0.0
	for _, s := range x.kept {
		largest = math.Max(largest, s)
		sum += s
	}

	strips := (n + stripColumns - 1) / stripColumns
	product := be.Accuracy().Dot(min(n, stripColumns)) + float64(strips)/2
	entry := (product + engine.Roundings + 4) * eps * inflate
	effect := 6 * entry * (sum + 2*math.Sqrt(r*largest*sum) + 2*r*x.delta)
	if !(effect <= plainShare*x.delta) {
		return omegaError{
			skew: spectral.Loss(be, x.u, omega, work),
			norm: spectral.RoundOff(be, x.u.Rows, n),
		}
	}

	multiplyStrips(be, x.u, omega, engine.View(x.u.Rows, x.u.Rows, work))
	longest := 0.0
	for i := range x.u.Rows {
		row := omega.Row(i)
		row[i]--
		longest = math.Max(longest, row[i])
	}
	if !(longest <= 0x1p-10) { // the bound entry holds for rows of U of norm about 1
		return omegaError{skew: math.Inf(1)}
	}
	return omegaError{skew: frobenius(omega) + r*entry, entry: entry}
}

// multiplyStrips writes the lower triangle of UUᵀ to product. It adds up products of stripColumns columns of U.
// The workspace part must have the shape of product.
func multiplyStrips(be engine.Backend, u, product, part engine.Matrix) {
	strip := func(lo int) engine.Matrix { return u.Slice(0, u.Rows, lo, min(lo+stripColumns, u.Cols)) }
	be.Syrk(false, 1, strip(0), 0, product)
	for lo := stripColumns; lo < u.Cols; lo += stripColumns {
		be.Syrk(false, 1, strip(lo), 0, part)
		for i := range u.Rows {
			floats.Add(product.Row(i)[:i+1], part.Row(i)[:i+1])
		}
	}
}

// boundAbove returns a number b with G̃ ⪯ UᵀSU + b·I, for G̃ = x.gram, U = x.u and S = diag(x.kept). It
// computes M = (x.delta + slack)·I − (G̃ − UᵀSU) and increases slack until M has a Cholesky factorisation. M
// is then positive definite up to round-off (S. Rump, BIT 46, 2006). b is x.delta + slack plus bounds on the
// round-off of M and of its factorisation. The argument total must be the trace of G̃, and kept the trace of S.
func (x *reduction) boundAbove(
	be engine.Backend,
	factor engine.Matrix,
	work []float64,
	total, kept, slack float64,
) float64 {
	n, r := x.gram.Rows, x.u.Rows
	scaled := engine.View(r, n, work[:r*n])
	for i, s := range x.kept {
		floats.ScaleTo(scaled.Row(i), math.Sqrt(s), x.u.Row(i))
	}
	be.Syrk(true, -1, scaled, 1, x.gram)
	// For each s in x.kept and its row u of U, scaled has the row √s·u. So UᵀSU = scaledᵀ·scaled. Rounding √s
	// and √s·u changes an entry of UᵀSU by at most 4·eps times the sum of the magnitudes of its terms.
	product := (be.Accuracy().Sum(r) + engine.Roundings + 4) * eps * (total + kept) * inflate
	slack = math.Max(slack, 8*eps*total+float64(n)*0x1p-1022)
	for {
		trace := 0.0
		for i := range n {
			row := factor.Row(i)
			rest := x.gram.Row(i)
			floats.ScaleTo(row[:i], -1, rest[:i])
			row[i] = x.delta + slack - rest[i]
			trace += math.Abs(row[i])
		}
		if _, ok := be.Cholesky(factor); ok {
			return (x.delta+slack)*(1+2*eps) +
				product +
				(float64(n)+8)*eps*trace*inflate +
				float64(n)*0x1p-1022
		}
		if !(slack <= 4*(total+kept)) {
			return math.Inf(1)
		}
		slack *= 4
	}
}

// weighted returns ‖Y^½·|Ω|·Y^½‖_F for Y = diag(x.kept) + shift·I. omega must hold the lower triangle of Ω
// = UUᵀ − I, for the eigenvectors U = x.u. |Ω| has the absolute values of the entries of Ω.
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

// mixed returns ‖|Ω|S + S|Ω| + shift·|Ω|‖_F for S = diag(x.kept). The argument omega must hold the lower
// triangle of Ω = UUᵀ − I, for the eigenvectors U = x.u. |Ω| has the absolute values of the entries of Ω.
func (x *reduction) mixed(omega engine.Matrix, shift float64) float64 {
	var largest, norm2 float64
	for _, s := range x.kept {
		largest = math.Max(largest, 2*s+shift)
	}
	if largest == 0 {
		return 0
	}
	for i, s := range x.kept {
		share := (s + shift) / largest
		for j, v := range omega.Row(i)[:i+1] {
			v *= share + x.kept[j]/largest
			if j < i {
				norm2 += 2 * v * v
			} else {
				norm2 += v * v
			}
		}
	}
	return largest * math.Sqrt(norm2) * (1 + float64(len(x.kept)*len(x.kept))*eps)
}

// A roundedProduct bounds how much the round-off in the computed rows B of a [reduction] changes BᵀB and BBᵀ.
type roundedProduct struct {
	squares float64 // bounds the change of BᵀB
	gram    float64 // bounds the change of BBᵀ
}

// rounding bounds the round-off of the new rows of the shrink x. docs/math.md §14, step 3, has the proof. Let R be
// the rows before the shrink, U = x.u the eigenvectors, and S = diag(x.kept). The arguments must satisfy
//
//   - RRᵀ ⪯ UᵀSU + above·I
//   - UUᵀSUUᵀ + above·UUᵀ ⪯ S + (above + mixed)·I
//   - S + above·I ⪯ size·I
func (x *reduction) rounding(above, mixed, size float64) roundedProduct {
	var sum, norm float64
	for i, s := range x.kept {
		off := (x.chain + 2) * eps * x.scale[i] * vec.AbsDot(x.lengths, x.u.Row(i))
		length := math.Sqrt(x.scale[i] * x.scale[i] * (s + above + mixed))
		sum += off * length
		norm = math.Hypot(norm, off)
	}
	all := math.Sqrt(size + mixed)
	return roundedProduct{
		squares: (2*math.Min(sum, all*norm) + norm*norm) * inflate,
		gram:    (2*all*norm + norm*norm) * inflate,
	}
}

// residual bounds ‖A − XᵀX‖ for a symmetric d×d matrix A and a matrix X. The bound includes the round-off of
// computing A − XᵀX. a must hold the lower triangle of A, and is overwritten with A − XᵀX. norm must bound
// ‖A‖_F, and part is a d×d workspace.
func residual(be engine.Backend, a, x, part engine.Matrix, norm float64) float64 {
	var squares, sums float64
	for lo := 0; lo < x.Rows; lo += residualRows {
		rows := x.Slice(lo, min(lo+residualRows, x.Rows), 0, x.Cols)
		be.Syrk(true, 1, rows, 0, part)
		for i := range a.Rows {
			row := a.Row(i)[:i+1]
			less := part.Row(i)[:i+1]
			floats.Sub(row, less)
			squares += less[i]
		}
		sums++
	}
	product := be.Accuracy().Sum(min(x.Rows, residualRows)) + engine.Roundings + 1
	return frobenius(a) + eps*(product*squares+sums/2*(norm+squares))*inflate
}

// residualRows is the number of rows of X in each product that residual subtracts from A. More rows per product mean
// more round-off, but fewer passes over A.
const residualRows = 256

// frobenius returns the Frobenius norm of a symmetric matrix whose lower triangle is a.
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
	n := float64(a.Rows)
	return largest * math.Sqrt(sum) * (1 + (n*n+4)*eps)
}
