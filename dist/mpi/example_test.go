//go:build mpi && cgo

package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/fdridge/fdridge/dist/mpi"
)

// A program that mpirun or srun starts once for each rank.
func ExampleInit() {
	var comm *mpi.Comm
	comm, err := mpi.Init()
	if err != nil {
		log.Fatal(err)
	}
	ones := []float64{1}
	if err := comm.Allreduce(context.Background(), ones); err != nil {
		if e, ok := errors.AsType[*mpi.Error](err); ok {
			log.Println(e.Call, "failed with code", e.Code)
		}
		comm.Abort(err) // does not return
	}
	fmt.Println("rank", comm.Rank(), "of", ones[0])
	if err := comm.Finalize(); err != nil {
		log.Fatal(err)
	}
}
