//go:build !mpi

package main

// byMPI joins nothing in a build without MPI.
var byMPI = joiner{join: func() (link, error) {
	return nil, badInput("--mpi: this program was built without MPI; build it with go build -tags mpi (cgo, pkg-config and libopenmpi-dev or libmpich-dev), see build_tags.md")
}}
