//go:build mpi && !cgo

package mpi

// This file compiles only to say why the build cannot go on.
var _ int = "the build tag mpi needs cgo: set CGO_ENABLED=1 and install a C compiler, pkg-config and libopenmpi-dev or libmpich-dev, or build without the tag"
