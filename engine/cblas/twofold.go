//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// GradientTwofold calls package purego, because BLAS has no sums with twice the precision.
func (b *Backend) GradientTwofold(
	a, x, rhs matrix.Matrix,
	c, w []float64,
	g, r matrix.Twofold,
) {
	b.fallback.GradientTwofold(a, x, rhs, c, w, g, r)
}
