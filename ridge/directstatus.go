package ridge

import "math"

// unexplained is the largest part of ‖b‖² that x* may explain if x* counts as zero. This matters only for a
// solution that is not proved nonzero.
const unexplained = 1e-9

// dualStatus returns the status of a dual solution if ExactOptions.Tol is 0. A solution by DualCG has always
// converged: if conjugate gradients do not converge, a factorisation replaces them.
func dualStatus(m Method) Status {
	if m == DualCG {
		return Converged
	}
	return Factorized
}

// directStatus returns the status of a direct solution, given the relative error tol that it had to reach.
func (s *Solution) directStatus(tol float64) Status {
	status := Factorized
	if s.Method == DualCG {
		status = Converged
	}
	for j := range s.Targets {
		t := &s.Targets[j]
		switch {
		case t.RelativeErrorBound <= tol:
		case t.isZero():
			status = status.Worse(ZeroSolution)
		default:
			status = status.Worse(RoundOff)
		}
	}
	return status
}

// isZero reports whether x* may be zero: x̂ is not proved nonzero, and x* explains almost nothing of the
// target. x* explains ‖b‖² − 2f* = ‖H^{½}x*‖², which does not depend on x̂.
func (t *Target) isZero() bool {
	if !math.IsInf(t.RelativeErrorBound, 1) {
		return false
	}
	return math.IsNaN(t.R2().Hi) || t.TSS.Hi-2*t.Objective.Lo <= unexplained*t.TSS.Hi
}
