//go:build !openblas

package engine

// constructors are the constructors of all backends of this build, beginning with the default backend.
var constructors = []constructor{pureGo}
