//go:build mpi

package main

import (
	"time"

	"github.com/fdridge/fdridge/dist/mpi"
)

// byMPI joins the job that mpirun or srun has started.
var byMPI = joiner{
	join:  func() (link, error) { return mpi.Init() },
	grace: 2 * time.Second,
	about: mpi.Version,
}
