// Package dist solves one ridge problem on several workers. The workers exchange summaries of their rows, which are
// merged, and gradients, which are added.
//
// A [Transport] connects the workers, which are called ranks. [Loopback] connects goroutines of one process.
// Package dist/mpi, which needs the build tag mpi, connects processes and machines. [Merge] merges the summaries of
// all ranks, [Agree] checks that all ranks have the same problem, and [Table] gathers statistics. Solvers add the
// results of all ranks by a [ridge.Reducer], and every Transport is a ridge.Reducer.
package dist
