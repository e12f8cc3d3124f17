//go:build !openblas

package engine

// built are the backends of this build, the default first.
var built = []constructor{pureGo}
