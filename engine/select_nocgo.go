//go:build openblas && !cgo

package engine

// This declaration causes a compile error whose text explains the problem.
var _ int = "the build tag openblas needs cgo: set CGO_ENABLED=1 and install a C compiler, libopenblas-dev and liblapacke-dev, or build without the tag"
