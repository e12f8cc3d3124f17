// Package ridge solves ridge regression,
//
//	x*(γ) = argmin_x ½‖Ax − b‖² + γ/2·‖x‖²,   A n×d (each row is a sample), γ > 0.
//
// One pass over the rows computes a [Summary], which gives an approximate solution for any γ. Further passes
// refine the solution to any accuracy ([Solve]). If d² numbers fit in memory, [SolveExact] solves directly.
// Every [Solution] has a [Certificate] for each target. The certificate bounds the distance of the solution
// from x*, round-off included.
//
// γ multiplies ‖x‖² against the sum of squares, not the mean. It is scikit-learn's alpha and n times glmnet's
// lambda. Intercepts are not penalised.
//
// The notation follows C. Dickens, "Ridge Regression with Frequent Directions" (2020), with its errors corrected:
// K = AᵀA, H = K + γI and c = AᵀY for the targets Y; b is one target. f is the objective and f* = f(x*). B is the
// sketch, with singular values σ and right singular vectors V. Its shrinkage η is the sum of what each shrink
// subtracts from the squared singular values, and ρ = η/2.
package ridge
