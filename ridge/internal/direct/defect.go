package direct

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A defect bounds the error of a computed reduction AᵀA ≈ QTQᵀ with a tridiagonal matrix T. There is an exactly
// orthogonal matrix Q̄ with
//
//	‖AᵀA − Q̄TQ̄ᵀ‖ ≤ reduced,   ‖Q − Q̄‖ ≤ skew.
//
// Hence each eigenvalue of T differs from an eigenvalue of AᵀA by at most reduced (docs/math.md §14).
type defect struct{ reduced, skew float64 }

// defectRows is the number of rows that [TridiagonalForm.defect] multiplies at a time.
const defectRows = 256

// defect bounds the error of the reduction k ≈ QTQᵀ to tridiagonal form, where k is d×d with its lower triangle
// stored. It writes the columns of Q to p, a workspace of length d². It takes about 2d³ multiply-adds.
func (r *TridiagonalForm) defect(k engine.Matrix, p []float64) defect {
	d, be := r.d, r.be
	clear(p)
	for i := range d {
		p[i*d+i] = 1
	}
	r.Turn(false, p) // row i is column i of Q
	nb := min(d, defectRows)
	x := make([]float64, nb*d)
	part := make([]float64, nb*d)
	rest := make([]float64, nb*d)
	var off, kSize float64 // Frobenius norms
	for lo := 0; lo < d; lo += nb {
		hi := min(lo+nb, d)
		rows := hi - lo
		width := hi
		left := engine.Strided(rows, width, rest, d)
		product := engine.Strided(rows, width, part, d)
		for i := range rows {
			copy(left.Row(i)[:lo+i+1], k.Row(lo + i)[:lo+i+1])
		}
		kSize = math.Hypot(kSize, triangleNorm(left, lo))
		for first := 0; first < d; first += nb {
			last := min(first+nb, d)
			r.timesT(p, first, last, x)
			be.Gemm(
				true,
				false,
				1,
				engine.Strided(last-first, rows, p[first*d+lo:], d),
				engine.Strided(last-first, width, x, d),
				0,
				product,
			)
			for i := range rows {
				vec.Axpy(-1, product.Row(i)[:lo+i+1], left.Row(i)[:lo+i+1])
			}
		}
		off = math.Hypot(off, triangleNorm(left, lo))
	}
	skew := spectral.Loss(
		be,
		engine.View(d, d, p),
		engine.Matrix{},
		make([]float64, spectral.Work(d, d)),
	)
	if !(skew <= 0x1p-10) {
		return defect{math.Inf(1), math.Inf(1)}
	}
	// Let P = Qᵀ, and let |P| hold the magnitudes of the elements of P. The round-off of Pᵀ(TP) is proportional to
	// ‖|P|ᵀ|TP|‖_F ≤ ‖P‖_F‖TP‖_F. The round-off of TP is proportional to ‖|T||P|‖_F. Each row of T
	// has at most three nonzero elements, and the rows of P have the norm 1. Hence this norm is at most √3·‖T‖_F.
	n := float64(d)
	size := math.Hypot(vec.Norm(r.T.Diagonal), math.Sqrt2*vec.Norm(r.T.Beside))
	products := (be.Accuracy().Sum(nb) + engine.Roundings + 3) * math.Sqrt(n) * size
	sums := math.Ceil(n/float64(nb)) * (kSize + size)
	off += (products+sums)*roundoff.Eps*roundoff.Inflate + n*roundoff.LostSquares
	return defect{
		reduced: (off + skew*(1+skew)*size) * roundoff.Inflate,
		skew:    skew,
	}
}

// timesT overwrites x with rows lo to hi−1 of the product TP, where P is the d×d matrix p.
func (r *TridiagonalForm) timesT(p []float64, lo, hi int, x []float64) {
	d := r.d
	for i := lo; i < hi; i++ {
		row := x[(i-lo)*d : (i-lo+1)*d]
		own := p[i*d : (i+1)*d]
		for j, v := range own {
			row[j] = r.T.Diagonal[i] * v
		}
		if i > 0 {
			vec.Axpy(r.T.Beside[i-1], p[(i-1)*d:i*d], row)
		}
		if i+1 < d {
			vec.Axpy(r.T.Beside[i], p[(i+1)*d:(i+2)*d], row)
		}
	}
}

// triangleNorm returns the Frobenius norm of some rows of a symmetric matrix. a holds consecutive rows of its lower
// triangle. The diagonal element of row i of a is in column offset+i. Elements off the diagonal count twice,
// because the upper triangle contains them as well.
func triangleNorm(a engine.Matrix, offset int) (norm float64) {
	for i := range a.Rows {
		row := a.Row(i)[:offset+i+1]
		norm = math.Hypot(norm, math.Sqrt2*vec.Norm(row[:offset+i]))
		norm = math.Hypot(norm, row[offset+i])
	}
	return norm
}
