// Package mpi connects processes and machines. It is a small cgo layer over Open MPI, MPICH or any other library of
// the MPI standard, version 3.0 or later.
//
// Build with the tag mpi; without the tag the package is empty. The build needs cgo, and finds the headers and the
// library by pkg-config under the name mpi. Debian's libopenmpi-dev and libmpich-dev provide this name. If pkg-config
// does not know mpi, use the compiler wrapper, as in the second line:
//
//	go build -tags mpi ./...
//	PKG_CONFIG=true CC=mpicc go build -tags mpi ./...
//
// If both packages of Debian are installed, update-alternatives selects one (by the name mpi-x86_64-linux-gnu). After
// such a change build with -a, because Go's build cache does not notice that pkg-config gives another answer.
//
// Start the program with the mpirun of the library that it was built with, or with an srun that supports this library.
// Otherwise every process runs alone, as a job of one rank.
package mpi
