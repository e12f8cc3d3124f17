// Package cblas is the backend on OpenBLAS and LAPACKE through cgo. It is empty without the build tag openblas.
//
// BLAS is called through gonum.org/v1/netlib/blas/netlib, except for the gradient, whose loop over blocks of rows is
// C code. The row-major calls of LAPACKE, the only calls in netlib's bindings, copy and transpose every matrix.
// Therefore this package calls the column-major functions. They read a row-major matrix as its transpose. A row-major
// lower triangle is a column-major upper triangle, and the QR factorisation of a row-major matrix is the LQ
// factorisation of a column-major matrix. The eigenproblem and the SVD use the algorithms of this module with
// OpenBLAS products.
//
// OpenBLAS may choose slow kernels for a CPU that it does not know. Before the first call, this package compares
// OpenBLAS's choice with the features that CPUID reports, and selects faster kernels if there are any (core.go). At
// most GOMAXPROCS/threads calls are inside OpenBLAS at a time; other calls wait in Go. So the numbers of Go and
// OpenBLAS threads do not multiply. If only one call is allowed, the number of its threads depends on the operation.
// Small factorisations use one thread, and a gradient uses several goroutines for parts of the rows.
//
// OpenBLAS does not guarantee the same bits for repeated calls. In all tests the bits were the same within
// one process, also from many goroutines. They change with the number of threads, with GOMAXPROCS at the call
// of New, with the kernels and with the version of OpenBLAS. For reproducible bits use package purego.
package cblas
