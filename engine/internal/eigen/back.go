package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// wyRows is the number of reflections applied at once by backTransform.
const wyRows = 32

func backWork(n, k int) int {
	b := min(wyRows, n)
	return b * (b + 2*k)
}

// completeVectors writes zeros right of the vectors that tridiagonalise left in the rows of
// A, so far that those which are applied together are the rows of one matrix.
func completeVectors(n int, a []float64, lda int) {
	for begin := 1; begin < n; begin += wyRows {
		nb := min(wyRows, n-begin)
		cols := begin + nb - 1 // the length of the last vector
		for i := begin; i < begin+nb; i++ {
			clear(a[i*lda+i : i*lda+max(cols, i)])
		}
	}
}

// backTransform multiplies the rows of X (k×n) by Qᵀ or, when trans is set, by Q, which
// tridiagonalise left in A and tau and completeVectors has completed. The rows of X·Qᵀ are
// eigenvectors of A where those of X are eigenvectors of T.
//
// The reflections are applied wyRows at a time, in compact WY form
// H₍ᵦ₎·…·H₁ = I − Vᵀ·T·V, T lower triangular: those of the first rows of A first and
//
//	X ← X − (X·Vᵀ)·Tᵀ·V,
//
// or the last first and X ← X − (X·Vᵀ)·T·V.
//
// Source: Schreiber, Van Loan (1989).
func backTransform(kr Kernels, trans bool, n, k int, a []float64, lda int, tau []float64, x []float64, ldx int, work []float64) {
	if k == 0 || n < 2 {
		return
	}
	b := min(wyRows, n)
	t, xv, xvt := work[:b*b], work[b*b:b*b+k*b], work[b*b+k*b:b*b+2*k*b]
	begin, end, step := 1, 1+(n-2)/wyRows*wyRows, wyRows
	if trans {
		begin, end, step = end, begin, -wyRows
	}
	for ; ; begin += step {
		nb := min(wyRows, n-begin)
		cols := begin + nb - 1 // the length of the last vector
		v := a[begin*lda:]
		wyFactor(kr, nb, cols, v, lda, tau[begin:], t)
		kr.Gemm(false, true, 1, matrix.Strided(k, cols, x, ldx), matrix.Strided(nb, cols, v, lda), 0, matrix.View(k, nb, xv))
		kr.Gemm(false, !trans, 1, matrix.View(k, nb, xv), matrix.View(nb, nb, t), 0, matrix.View(k, nb, xvt))
		kr.Gemm(false, false, -1, matrix.View(k, nb, xvt), matrix.Strided(nb, cols, v, lda), 1, matrix.Strided(k, cols, x, ldx))
		if begin == end {
			return
		}
	}
}

// wyFactor computes the nb×nb lower triangular T of compact WY form, with zeros
// above, for the nb vectors in the rows of V (nb×cols). From
// (I − tauᵢ·vᵢᵀvᵢ)·(I − Vᵀ·T·V), row i is
//
//	T[i, 0:i] = −tauᵢ·(vᵢ·Vᵀ)·T[0:i, 0:i],   T[i, i] = tauᵢ.
func wyFactor(kr Kernels, nb, cols int, v []float64, ldv int, tau, t []float64) {
	kr.Gemm(false, true, 1, matrix.Strided(nb, cols, v, ldv), matrix.Strided(nb, cols, v, ldv), 0, matrix.View(nb, nb, t))
	for i := range nb {
		row := t[i*nb : (i+1)*nb]
		for j := range i {
			// Entries j and after of the row still hold vᵢ·Vᵀ.
			var sum float64
			for q := j; q < i; q++ {
				sum += row[q] * t[q*nb+j]
			}
			row[j] = -tau[i] * sum
		}
		row[i] = tau[i]
		clear(row[i+1:])
	}
}
