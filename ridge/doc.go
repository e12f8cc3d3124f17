// Package ridge solves ridge regression,
//
//	x*(γ) = argmin_x ½‖Ax − b‖² + γ/2·‖x‖²,   A n×d (each row is a sample), γ > 0,
//
// from one pass over the rows ([Summary]), to any accuracy with further passes
// ([Solve]), or exactly where d² numbers fit in memory ([SolveExact]). Every answer, a
// [Solution], carries for each target a [Certificate] that bounds its distance from x*,
// round-off included.
//
// γ multiplies ‖x‖² against the sum, not the mean, of squares: it is
// scikit-learn's alpha and n times glmnet's lambda. Intercepts are never
// penalised.
//
// Notation in the code follows C. Dickens, "Ridge Regression with Frequent
// Directions" (2020), with its errors corrected: K = AᵀA, H = K + γI, c = AᵀY,
// B the sketch with singular values σ and right singular vectors V,
// η = Σδ its shrinkage, ρ = η/2.
package ridge
