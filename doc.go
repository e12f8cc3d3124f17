// Package fdridge fits ridge regression,
//
//	x*(γ) = argmin_x ½‖Ax − b‖² + γ/2·‖x‖²,   A n×d (each row is a sample), γ ≥ 0,
//
// to data too large to hold, and proves a bound on the error of every solution. [Fit] does in one call what the command
// `fdridge fit` does: it plans, reads the rows once, chooses γ, and solves.
//
// Package ridge has the parts: sketches, solvers, certificates. Packages ridge/choose and ridge/plan choose γ and the method.
// Package batch runs a fit with checkpoints and on several machines.
package fdridge
