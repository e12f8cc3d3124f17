// Package cblas is the engine's backend on OpenBLAS and LAPACKE through cgo. It is
// empty without the build tag openblas.
//
// BLAS goes through gonum.org/v1/netlib/blas/netlib, but for the gradient, whose
// loop over blocks of rows is in C. LAPACKE's row-major calls
// copy and transpose every matrix, and netlib's bindings know no other; so LAPACK
// is called here column-major on the transpose, which is the same memory: a
// row-major lower triangle is a column-major upper one, the QR of a row-major
// matrix the LQ of a column-major one. The eigenproblem and the SVD are our own
// algorithms on OpenBLAS's products.
//
// Before the first call the core that OpenBLAS detected is compared with CPUID
// and repaired (core.go). At most GOMAXPROCS/threads calls are inside OpenBLAS at
// a time, the others wait in Go, so that the threads of Go and of OpenBLAS never
// multiply. Where that is one call, it runs on as many threads as suit it: small
// factorisations on one, a gradient on goroutines with a part of the rows each.
//
// OpenBLAS does not promise that a call has the same bits each time. Within one
// process they have been the same in every test, from many goroutines too; but they
// change with the number of threads, with GOMAXPROCS as New finds it, with the core
// and with the version of OpenBLAS. Package purego is the one to use where bits matter.
package cblas
