// Package fdridge fits ridge regression,
//
//	x*(γ) = argmin_x ½‖Ax − b‖² + γ/2·‖x‖²,   A n×d (each row is a sample), γ ≥ 0,
//
// to data too large to hold in memory, and proves a bound on the error of every solution. [Fit] does
// everything in one call, like the command `fdridge fit`: it chooses a method, reads the rows, chooses γ, and
// solves.
//
// Package ridge has the parts: sketches, solvers and error bounds. Package ridge/choose chooses γ. Package
// ridge/plan chooses the method. Package batch runs a fit with checkpoints and on several machines.
//
// The folder [examples] has three small programs. They make a model of a raw table, learn from a stream,
// and merge sketches of many machines. [Getting started] takes ten minutes, [the library] lists the packages, and
// [the mathematics] has the proofs.
//
// [examples]: https://github.com/fdridge/fdridge/tree/main/examples
// [Getting started]: https://github.com/fdridge/fdridge/blob/main/docs/getting-started.md
// [the library]: https://github.com/fdridge/fdridge/blob/main/docs/library.md
// [the mathematics]: https://github.com/fdridge/fdridge/blob/main/docs/math.md
package fdridge
