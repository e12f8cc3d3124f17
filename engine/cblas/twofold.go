//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// GradientTwofold is that of package purego: BLAS has no sums of two numbers.
func (b *Backend) GradientTwofold(a, x, rhs matrix.Matrix, c, w []float64, g, r matrix.Twofold) {
	b.own.GradientTwofold(a, x, rhs, c, w, g, r)
}
