//go:build !mpi

package main

import (
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// byMPI returns an error in a build without MPI.
var byMPI = joiner{join: func() (link, error) {
	return nil, cli.BadInput(
		"--mpi: this program was built without MPI; build it with go build -tags mpi (cgo, pkg-config and " +
			"libopenmpi-dev or libmpich-dev), see build_tags.md",
	)
}}
