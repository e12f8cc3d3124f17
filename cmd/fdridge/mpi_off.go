//go:build !mpi

package main

import "github.com/fdridge/fdridge/cmd/fdridge/internal/job"

// byMPI joins nothing in a build without MPI.
var byMPI = job.Joiner{Join: func() (job.Link, error) {
	return nil, badInput("--mpi: this program was built without MPI; build it with go build -tags mpi (cgo, pkg-config and libopenmpi-dev or libmpich-dev), see build_tags.md")
}}
