//go:build openblas && cgo

package cblas

import (
	"github.com/fdridge/fdridge/engine/internal/eigen"
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// SVD computes the singular values and right singular vectors of a by preconditioned Jacobi rotations. See package
// jacobi.
func (b *Backend) SVD(
	a matrix.Matrix,
	s []float64,
	vt matrix.Matrix,
	work []float64,
) (ok bool) {
	matrix.CheckSVD(&a, s, &vt)
	matrix.CheckWork(b.SVDWork(a.Rows, a.Cols), len(work))
	return eigen.SVD(b, a, s, vt, work)
}

// SVDWork returns the length of the workspace of SVD.
func (b *Backend) SVDWork(m, n int) int { return eigen.SVDWork(b, m, n) }
