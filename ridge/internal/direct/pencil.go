package direct

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Equilibration returns a power of two for each feature. It is the smallest one above √(‖a‖² + gamma), where a
// is the feature's column of A.
func (s *System) Equilibration(gamma float64) []float64 {
	out := make([]float64, s.evidence.Dim)
	for j := range out {
		_, power := math.Frexp(math.Hypot(s.columns[j], math.Sqrt(gamma)))
		out[j] = math.Ldexp(1, power)
	}
	return out
}

// Pencil returns a [certify.Pencil] of AᵀA + γI for penalties γ ≥ gamma. The powers of two in scale are the
// diagonal of the pencil's matrix S. s must support Gram. If AᵀA + gamma·I is singular up to round-off, the result
// is nil.
//
// Let Â = AS⁻¹, and factor ÂᵀÂ + gamma·S⁻² = LLᵀ with a triangular matrix L. Let Q have the
// eigenvectors of L⁻¹S⁻²L⁻ᵀ as its columns. Then the basis of the pencil is L⁻ᵀQ. The errors of all
// steps are measured at the end. docs/math.md, Theorem 10.7, has the proof.
func (s *System) Pencil(gamma float64, scale []float64) *certify.Pencil {
	d := s.evidence.Dim
	if f, ok := s.f.(*tsqr); ok {
		factor := engine.View(d, d, make([]float64, d*d))
		s.held = nil
		f.triangle(gamma)
		for i := range d {
			for j := range i + 1 {
				factor.Row(i)[j] = f.stack[j*(d+f.t)+i] / scale[i]
			}
		}
		return s.pencil(gamma, scale, factor, func(basis, work, rest engine.Matrix) (off, moved float64) {
			return f.measure(gamma, scale, s.evidence.Displaced, basis, work, rest)
		})
	}
	k, _, rounding := s.Gram()
	factor := engine.View(d, d, make([]float64, d*d))
	for i := range d {
		row := k.Row(i)[:i+1]
		for j := range row {
			row[j] = row[j] / scale[i] / scale[j]
		}
		row[i] += gamma / scale[i] / scale[i]
		copy(factor.Row(i), row)
	}
	mirror(d, k.Data, k.Stride)
	if _, ok := s.evidence.Backend.Cholesky(factor); !ok {
		return nil
	}
	return s.pencil(gamma, scale, factor, func(basis, work, rest engine.Matrix) (off, moved float64) {
		return s.measureGram(scale, k, rounding, basis, work, rest)
	})
}

// pencil returns the pencil for a factor L, in the notation of [System.Pencil]. It overwrites factor, which holds
// L. measure gets the transpose of the basis W and returns two bounds. The argument off bounds ‖WᵀĤW − I‖_F,
// where Ĥ belongs to rows Ã near the rows A. moved bounds ‖(Ã − A)S⁻¹W‖_F. measure may overwrite work and
// rest.
func (s *System) pencil(
	gamma float64,
	scale []float64,
	factor engine.Matrix,
	measure func(basis, work, rest engine.Matrix) (off, moved float64),
) *certify.Pencil {
	be, d := s.evidence.Backend, s.evidence.Dim
	inverse := invertLower(be, factor)
	clear(factor.Data)
	for i := range d {
		for j, v := range inverse.Row(i)[:i+1] {
			factor.Row(i)[j] = v / scale[j]
		}
	}

	rest := engine.View(d, d, make([]float64, d*d))
	vectors := engine.View(d, d, make([]float64, d*d))
	be.Syrk(false, 1, factor, 0, rest)
	values := make([]float64, d)
	if !be.SymEig(rest, values, vectors, make([]float64, be.SymEigWork(d, d))) {
		return nil
	}
	basis, work := factor, inverse
	be.Gemm(false, false, 1, vectors, inverse, 0, basis)
	off, moved := measure(basis, work, rest)

	p := &certify.Pencil{
		Gamma: gamma,
		Basis: basis.Data,
		Rest:  rest.Data,
		Round: rowProducts(be, d),
	}
	over(scale, basis, work)
	be.Syrk(false, 1, work, 0, rest)
	total := 0.0
	for i := range d {
		p.Size = append(p.Size, vec.Norm(basis.Row(i)))
		p.Theta = append(p.Theta, rest.Row(i)[i])
		total += rest.Row(i)[i]
	}
	whole := off + moved*(2*math.Sqrt(1+off)+moved)
	p.Base = whole*roundoff.Inflate + float64(d)*total*roundoff.LostSquares
	if !(p.Base >= 0) {
		return nil
	}
	return p
}

// rowProducts bounds the round-off of the product of two vectors of length d, relative to the sum of the magnitudes
// of its terms.
func rowProducts(be engine.Backend, d int) float64 {
	return (be.Accuracy().Dot(d) + engine.Roundings) * roundoff.Eps
}

// over divides column j of x by scale[j] and writes the result to out.
func over(scale []float64, x, out engine.Matrix) {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			out.Row(i)[j] = v / scale[j]
		}
	}
}

// along returns a bound on ‖XW‖_F for a matrix X whose column norms are at most the elements of norms. basis is the
// transpose of W.
func along(norms []float64, basis engine.Matrix) (norm float64) {
	for i := range basis.Rows {
		norm = math.Hypot(norm, vec.AbsDot(norms, basis.Row(i)))
	}
	return norm
}

// identityError subtracts the identity matrix from x, and returns the Frobenius norm of the difference.
func identityError(x engine.Matrix) (norm float64) {
	for i := range x.Rows {
		x.Row(i)[i]--
		norm = math.Hypot(norm, vec.Norm(x.Row(i)))
	}
	return norm
}

// measureGram is the argument measure of [System.pencil] if k was computed from the Gram matrix AᵀA. The matrix k
// is S⁻¹AᵀAS⁻¹ + γ₀S⁻², for the penalty γ₀ and the diagonal S of scale. rounding is the bound on the
// round-off that [System.Gram] returned.
func (s *System) measureGram(
	scale []float64,
	k engine.Matrix,
	rounding float64,
	basis, work, rest engine.Matrix,
) (off, moved float64) {
	be, d := s.evidence.Backend, s.evidence.Dim
	be.Gemm(false, true, 1, basis, k, 0, work)
	be.Gemm(false, true, 1, work, basis, 0, rest)
	off = identityError(rest)
	columns := make([]float64, d)
	displaced := make([]float64, d)
	for j := range d {
		columns[j] = math.Sqrt(k.Row(j)[j])
		displaced[j] = s.evidence.Displaced[j] / scale[j]
	}
	size := along(columns, basis)
	round := 2*rowProducts(be, d) + rounding*roundoff.Unit + roundoff.Eps
	off += round*size*size + float64(d)*roundoff.Eps
	return off * roundoff.Inflate, along(displaced, basis) * roundoff.Inflate
}

// measure is the argument measure of [System.pencil] if the pencil comes from the triangular factor R̂ of the rows.
// The bounds assume ‖R̂W‖ ≤ √2 for the basis W. This holds if off is at most ½.
func (e *tsqr) measure(
	gamma float64,
	scale, displaced []float64,
	basis, work, rest engine.Matrix,
) (off, moved float64) {
	d := e.d
	q := e.d + e.t
	r := engine.View(d, d, make([]float64, d*d))
	for i := range d {
		for j := i; j < d; j++ {
			r.Row(i)[j] = e.r[i*q+j] / scale[j]
		}
	}
	columns := make([]float64, d)
	errors := make([]float64, d)
	for j := range d {
		columns[j] = e.col[j] / scale[j]
		errors[j] = (displaced[j] + e.backward(j)) / scale[j]
	}
	round := rowProducts(e.be, d)
	e.be.Gemm(false, true, 1, basis, r, 0, work)
	e.be.Syrk(false, 1, work, 0, rest)
	size := vec.Norm(work.Data)
	squares := size * size
	over(scale, basis, work)
	size = vec.Norm(work.Data)
	squares += gamma * size * size
	e.be.Syrk(false, gamma, work, 1, rest)
	mirror(d, rest.Data, rest.Stride)
	off = identityError(rest)
	lost := round * along(columns, basis)
	off += lost*(2*math.Sqrt2+lost) +
		2*round*squares +
		float64(d)*roundoff.Eps
	return off * roundoff.Inflate, along(errors, basis) * roundoff.Inflate
}

// invertLower returns the inverse of a lower triangular matrix l. It inverts blocks of rows one after the other.
func invertLower(be engine.Backend, l engine.Matrix) engine.Matrix {
	const nb = 64
	d := l.Rows
	x := engine.View(d, d, make([]float64, d*d))
	part := make([]float64, min(nb, d)*d)
	for lo := 0; lo < d; lo += nb {
		hi := min(lo+nb, d)
		for i := lo; i < hi; i++ {
			row := x.Row(i)
			row[i] = 1
			for k := lo; k < i; k++ {
				above := x.Row(k)[lo : k+1]
				vec.Axpy(-l.Row(i)[k], above, row[lo:k+1])
			}
			for j := lo; j <= i; j++ {
				row[j] /= l.Row(i)[i]
			}
		}
		if lo == 0 {
			continue
		}
		before := x.Slice(0, lo, 0, lo)
		own := x.Slice(lo, hi, lo, hi)
		product := engine.View(hi-lo, lo, part)
		be.Gemm(false, false, 1, l.Slice(lo, hi, 0, lo), before, 0, product)
		be.Gemm(false, false, -1, own, product, 0, x.Slice(lo, hi, 0, lo))
	}
	return x
}
