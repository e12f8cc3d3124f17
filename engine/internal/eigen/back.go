package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// wyRows is the number of Householder reflections that backTransform applies together.
const wyRows = 32

func backWork(n, k int) int {
	b := min(wyRows, n)
	return b * (b + 2*k)
}

// completeVectors prepares A for backTransform. Each row of A holds a reflection vector that tridiagonalise stored.
// completeVectors sets the elements after each vector to zero. Then wyRows successive rows are a matrix of vectors.
func completeVectors(n int, a []float64, lda int) {
	for begin := 1; begin < n; begin += wyRows {
		nb := min(wyRows, n-begin)
		cols := begin + nb - 1 // length of the last vector
		for i := begin; i < begin+nb; i++ {
			clear(a[i*lda+i : i*lda+max(cols, i)])
		}
	}
}

// backTransform multiplies the rows of X (k×n) from the right by Qᵀ, or by Q if trans is true. Q is the orthogonal
// matrix of the decomposition A = Q·T·Qᵀ that tridiagonalise computed. The arguments a and tau represent Q, after
// completeVectors. If the rows of X are eigenvectors of T, the rows of X·Qᵀ are eigenvectors of A.
//
// backTransform applies b = wyRows reflections H₁, …, H₍ᵦ₎ together. If the rows of V are their vectors, in
// this order, then H₍ᵦ₎·…·H₁ = I − Vᵀ·S·V (compact WY form). Here S is the lower triangular matrix
// that wyFactor computes and calls T. For Qᵀ the reflections in the first rows of A are applied first, by
//
//	X ← X − (X·Vᵀ)·Sᵀ·V.
//
// For Q the reflections in the last rows are applied first, by X ← X − (X·Vᵀ)·S·V.
//
// Source: Schreiber, Van Loan (1989).
func backTransform(
	kr Kernels,
	trans bool,
	n, k int,
	a []float64,
	lda int,
	tau []float64,
	x []float64,
	ldx int,
	work []float64,
) {
	if k == 0 || n < 2 {
		return
	}
	b := min(wyRows, n)
	t := work[:b*b]
	xv := work[b*b : b*b+k*b]
	xvt := work[b*b+k*b : b*b+2*k*b]
	begin := 1
	end := 1 + (n-2)/wyRows*wyRows
	step := wyRows
	if trans {
		begin, end, step = end, begin, -wyRows
	}
	for ; ; begin += step {
		nb := min(wyRows, n-begin)
		cols := begin + nb - 1 // length of the last vector
		v := a[begin*lda:]
		wyFactor(kr, nb, cols, v, lda, tau[begin:], t)
		kr.Gemm(
			false,
			true,
			1,
			matrix.Strided(k, cols, x, ldx),
			matrix.Strided(nb, cols, v, lda),
			0,
			matrix.View(k, nb, xv),
		)
		kr.Gemm(
			false,
			!trans,
			1,
			matrix.View(k, nb, xv),
			matrix.View(nb, nb, t),
			0,
			matrix.View(k, nb, xvt),
		)
		kr.Gemm(
			false,
			false,
			-1,
			matrix.View(k, nb, xvt),
			matrix.Strided(nb, cols, v, lda),
			1,
			matrix.Strided(k, cols, x, ldx),
		)
		if begin == end {
			return
		}
	}
}

// wyFactor computes the lower triangular nb×nb matrix T of the compact WY form. The product of nb reflections then
// is I − Vᵀ·T·V. Reflection i is I − tauᵢ·vᵢᵀvᵢ, where vᵢ is row i of V (nb×cols):
//
//	T[i, 0:i] = −tauᵢ·(vᵢ·Vᵀ)·T[0:i, 0:i],   T[i, i] = tauᵢ.
func wyFactor(
	kr Kernels,
	nb, cols int,
	v []float64,
	ldv int,
	tau, t []float64,
) {
	kr.Gemm(
		false,
		true,
		1,
		matrix.Strided(nb, cols, v, ldv),
		matrix.Strided(nb, cols, v, ldv),
		0,
		matrix.View(nb, nb, t),
	)
	for i := range nb {
		row := t[i*nb : (i+1)*nb]
		for j := range i {
			// From column j on, the row still holds vᵢ·Vᵀ.
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
