// Package mpi is the transport between processes and machines: a small cgo layer over
// Open MPI, MPICH or any other library of the MPI standard, version 3.0 or later.
//
// It is part of builds with the tag mpi only; without the tag the package is empty, so
// that what uses it needs the tag too. The build needs cgo, and finds headers and
// library by pkg-config under the name mpi, as in Debian's libopenmpi-dev and
// libmpich-dev. Where a site has no such name its compiler wrapper will do:
//
//	go build -tags mpi ./...
//	PKG_CONFIG=true CC=mpicc go build -tags mpi ./...
//
// Where both of Debian's are installed, update-alternatives chooses (its name is
// mpi-x86_64-linux-gnu). Go's build cache does not see that pkg-config answers
// otherwise than before: build with -a after such a change.
//
// The library that a program was built with must be the one whose mpirun, or whose
// kind of srun, starts it: else every process takes itself for a job of one rank.
package mpi
