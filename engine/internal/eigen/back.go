package eigen

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
		kr.Gemm(false, true, k, nb, cols, 1, x, ldx, v, lda, 0, xv, nb)
		kr.Gemm(false, true, k, nb, nb, 1, xv, nb, t, nb, 0, xvt, nb)
		kr.Gemm(false, false, k, cols, nb, -1, xvt, nb, v, lda, 1, x, ldx)
	}
}

// wyFactor computes the nb×nb lower triangular T of compact WY form, with zeros
// above, for the nb vectors in the rows of V (nb×cols). From
// (I − tauᵢ·vᵢᵀvᵢ)·(I − Vᵀ·T·V), row i is
//
//	T[i, 0:i] = −tauᵢ·(vᵢ·Vᵀ)·T[0:i, 0:i],   T[i, i] = tauᵢ.
func wyFactor(kr Kernels, nb, cols int, v []float64, ldv int, tau, t []float64) {
	kr.Gemm(false, true, nb, nb, cols, 1, v, ldv, v, ldv, 0, t, nb)
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
