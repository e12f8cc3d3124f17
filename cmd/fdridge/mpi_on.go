//go:build mpi

package main

import (
	"time"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/job"
	"github.com/fdridge/fdridge/dist/mpi"
)

// byMPI joins the job that mpirun or srun has started.
var byMPI = job.Joiner{
	Join:  func() (job.Link, error) { return mpi.Init() },
	Grace: 2 * time.Second,
	About: mpi.Version,
}
