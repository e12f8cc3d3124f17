// Package dist solves one ridge problem on several workers. They exchange summaries of their rows, which are merged,
// and gradients, which are added.
//
// A [Transport] connects the workers, called ranks. [Loopback] connects goroutines of a process. Package dist/mpi,
// built with the tag mpi, connects processes and machines. [Merge] merges the summaries of all ranks, [Agree] checks
// that all ranks have the same problem, and [Table] gathers statistics. A Transport is also a [ridge.Reducer], by
// which solvers add up the results of all ranks.
package dist
