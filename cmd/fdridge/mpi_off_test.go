//go:build !mpi

package main

import (
	"strings"
	"testing"
)

// doctorMPI matches what doctor prints about MPI.
const doctorMPI = `\nMPI not in this build \(-tags mpi\)\n`

// TestWithoutMPI: a build without MPI says which build tag adds MPI.
func TestWithoutMPI(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(20))
	code, out, errs := call("fit", "--mpi", "--data", rows, "--target", "y", "--gamma", "1")
	if code != usage || out != "" || !strings.Contains(errs, "--mpi: ") || !strings.Contains(errs, "-tags mpi") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}
