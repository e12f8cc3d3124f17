package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// wyRows is the number of reflections applied at once by backTransform.
const wyRows = 32

func backWork(n, k int) int {
	b := min(wyRows, n)
	return b * (b + 2*k)
}

// backTransform multiplies the rows of X (k×n), eigenvectors of T, by Qᵀ, Q as
// tridiagonalise left it in A and tau: X ← X·Qᵀ, eigenvectors of A.
//
// The reflections are applied wyRows at a time, in compact WY form
// H₍ᵦ₎·…·H₁ = I − Vᵀ·T·V, T lower triangular:
//
//	X ← X − (X·Vᵀ)·Tᵀ·V.
//
// V is made whole in A by writing zeros right of each vector.
//
// Source: Schreiber, Van Loan (1989).
func backTransform(kr Kernels, n, k int, a []float64, lda int, tau []float64, x []float64, ldx int, work []float64) {
	if k == 0 {
		return
	}
	b := min(wyRows, n)
	t, xv, xvt := work[:b*b], work[b*b:b*b+k*b], work[b*b+k*b:b*b+2*k*b]
	for begin := 1; begin < n; begin += wyRows {
		nb := min(wyRows, n-begin)
		cols := begin + nb - 1 // the length of the last vector
		v := a[begin*lda:]
		for r := range nb {
			clear(v[r*lda+begin+r : r*lda+max(cols, begin+r)])
		}
		wyFactor(kr, nb, cols, v, lda, tau[begin:], t)
		kr.Gemm(false, true, 1, matrix.Strided(k, cols, x, ldx), matrix.Strided(nb, cols, v, lda), 0, matrix.View(k, nb, xv))
		kr.Gemm(false, true, 1, matrix.View(k, nb, xv), matrix.View(nb, nb, t), 0, matrix.View(k, nb, xvt))
		kr.Gemm(false, false, -1, matrix.View(k, nb, xvt), matrix.Strided(nb, cols, v, lda), 1, matrix.Strided(k, cols, x, ldx))
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
