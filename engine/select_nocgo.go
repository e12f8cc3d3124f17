//go:build openblas && !cgo

package engine

// The build tag openblas without cgo cannot work. This declaration then causes a compile error whose text explains
// why.
var _ int = "the build tag openblas needs cgo: set CGO_ENABLED=1 and install a C compiler, libopenblas-dev and liblapacke-dev, or build without the tag"
