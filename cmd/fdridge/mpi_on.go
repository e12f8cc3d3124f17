//go:build mpi

package main

import (
	"time"

	"github.com/fdridge/fdridge/dist/mpi"
)

// byMPI joins the job of mpirun or srun.
var byMPI = joiner{
	join:  func() (link, error) { return mpi.Init() },
	grace: 2 * time.Second,
	about: mpi.Version,
}
