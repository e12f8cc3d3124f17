//go:build mpi && !cgo

package mpi

// This file intentionally does not compile. The compiler then prints this text as the reason.
var _ int = "the build tag mpi needs cgo: set CGO_ENABLED=1 and install a C compiler, pkg-config and libopenmpi-dev or libmpich-dev, or build without the tag"
