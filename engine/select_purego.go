//go:build !openblas

package engine

// constructors are the backends of this build, the default first.
var constructors = []constructor{pureGo}
