// Package dist lets several workers solve one ridge problem: sketches merge and
// gradients add, and that is all that has to travel.
//
// A [Transport] connects the workers, its ranks. [Loopback] is one inside a
// process; package dist/mpi, of a build with the tag mpi, is one between
// processes and machines. On top of either, [Merge] makes one summary of those of
// all ranks, [Agree] makes sure that all ranks mean the same problem and [Table]
// gathers what they report. The transport itself is the [ridge.Reducer] that adds up
// the passes of a solve.
package dist
