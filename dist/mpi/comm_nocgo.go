//go:build mpi && !cgo

package mpi

// The build tag mpi without cgo cannot work. This declaration then causes a compile error whose text explains why.
var _ int = "the build tag mpi needs cgo: set CGO_ENABLED=1 and install a C compiler, pkg-config and libopenmpi-dev or libmpich-dev, or build without the tag"
