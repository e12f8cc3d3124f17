package eigen

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// panelRows is the number of rows in a panel. A panel of rows is reduced before the rows above it are updated.
const panelRows = 16

func tridiagonalWork(n int) int {
	return 3*min(panelRows, n)*n + 2*panelRows
}

// tridiagonalise reduces the symmetric A to tridiagonal form T = Qᵀ·A·Q by n−2 Householder reflections,
//
//	Q = H₍ₙ₋₁₎·…·H₂·H₁,   Hᵢ = I − tauᵢ·vᵢᵀvᵢ,
//
// for the rows from the last to the first. vᵢ has length i and ends in a one, and Hᵢ annihilates a[i][0:i−1].
// On return d holds the diagonal of T, e[0:n−1] the subdiagonal, and row i of A, left of the diagonal, vᵢ.
//
// The rows are processed in panels. Within a panel the matrix is kept as A − VᵀW − WᵀV with the vectors V and
// W of the panel as rows. After each panel the difference is multiplied out. Half the flops are in the products
// A·vᵢ, half in this update.
//
// Source: Dongarra, Sorensen, Hammarling (1989), reversed from bottom to top so that the vectors lie along rows.
func tridiagonalise(
	kr Kernels,
	n int,
	a []float64,
	lda int,
	d, e, tau, work []float64,
) {
	for end := n; end > 0; {
		begin := max(end-panelRows, 0)
		reducePanel(kr, begin, end, a, lda, d, e, tau, work)
		updateLeading(kr, begin, end, a, lda, work)
		end = begin
	}
}

// reducePanel reduces rows begin to end of A, end excluded. These rows are called the panel. The reduced matrix is
// A − VᵀW − WᵀV, where the rows of V are the reflection vectors. reducePanel writes V, W and a second copy of V
// to work. Each has end−begin rows and end columns. So both V above W and W above V are contiguous.
func reducePanel(
	kr Kernels,
	begin, end int,
	a []float64,
	lda int,
	d, e, tau, work []float64,
) {
	nb := end - begin
	ld := end
	vs := work[:nb*ld]
	ws := work[nb*ld : 2*nb*ld]
	vs2 := work[2*nb*ld : 3*nb*ld]
	vcol := work[3*nb*ld : 3*nb*ld+nb]
	wcol := work[3*nb*ld+nb : 3*nb*ld+2*nb]

	for i := end - 1; i >= begin; i-- {
		r := i - begin
		done := nb - 1 - r // number of rows of this panel that are reduced
		vDone := vs[(r+1)*ld:]
		wDone := ws[(r+1)*ld:]
		row := a[i*lda : i*lda+i+1]
		if done > 0 {
			// Subtract V[:, i]ᵀ·W + W[:, i]ᵀ·V from the row.
			for q := range done {
				vcol[q] = vDone[q*ld+i]
				wcol[q] = wDone[q*ld+i]
			}
			kr.Gemv(true, -1, matrix.Strided(done, i+1, wDone, ld), vcol, 1, row)
			kr.Gemv(true, -1, matrix.Strided(done, i+1, vDone, ld), wcol, 1, row)
		}
		d[i] = row[i]
		if i == 0 {
			break
		}
		v := row[:i]
		w := ws[r*ld : r*ld+i]
		e[i-1], tau[i] = reflector(v)
		copy(vs[r*ld:], v)
		copy(vs2[r*ld:], v)
		if tau[i] == 0 {
			clear(w)
			continue
		}
		// The rows of the matrices V and W are the rows v and w of the steps before this one. Let C be the matrix A
		// − VᵀW − WᵀV that these steps leave. The new v defines the reflection H. Compute the new w by the
		// condition H·C·H = C − vᵀw − wᵀv.
		kr.Symv(matrix.Strided(i, i, a, lda), v, w)
		if done > 0 {
			kr.Gemv(false, 1, matrix.Strided(done, i, wDone, ld), v, 0, wcol)
			kr.Gemv(true, -1, matrix.Strided(done, i, vDone, ld), wcol, 1, w)
			kr.Gemv(false, 1, matrix.Strided(done, i, vDone, ld), v, 0, vcol)
			kr.Gemv(true, -1, matrix.Strided(done, i, wDone, ld), vcol, 1, w)
		}
		half := tau[i] / 2 * dot(w, v)
		for j, x := range v {
			w[j] = tau[i] * (w[j] - half*x)
		}
	}
}

// updateLeading updates the rows and columns of A before row begin. It replaces the lower triangle of this part of
// A by the lower triangle of A − VᵀW − WᵀV. The matrices V and W are in work, where reducePanel has stored V, W
// and V again. So V above W is one matrix, and W above V is another. The product of the first, transposed, and the
// second is VᵀW + WᵀV.
func updateLeading(
	kr Kernels,
	begin, end int,
	a []float64,
	lda int,
	work []float64,
) {
	nb := end - begin
	ld := end
	vw := work[:2*nb*ld]
	wv := work[nb*ld : 3*nb*ld]
	kr.Gemmt(
		true,
		false,
		-1,
		matrix.Strided(2*nb, begin, vw, ld),
		matrix.Strided(2*nb, begin, wv, ld),
		1,
		matrix.Strided(begin, begin, a, lda),
	)
}

// reflector computes the reflection H = I − tau·vᵀv that maps the vector x to (0, …, 0, beta), and overwrites x
// with v. The last element of v is 1. If all elements of x except the last are negligible, tau is zero.
func reflector(x []float64) (beta, tau float64) {
	last := len(x) - 1
	alpha := x[last]
	tail := x[:last]
	sum := dot(tail, tail)
	x[last] = 1
	// The norm of the other elements is negligible below 1e-140, because the norm of the whole matrix is near one.
	// The square of such a norm would lose digits to underflow, and H would not be orthogonal.
	if sum < 1e-280 {
		clear(tail)
		return alpha, 0
	}
	beta = -math.Copysign(math.Sqrt(alpha*alpha+sum), alpha)
	f := 1 / (alpha - beta)
	for i := range tail {
		tail[i] *= f
	}
	return beta, (beta - alpha) / beta
}

// dot returns Σ xᵢyᵢ.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}
