package ridge

import "math"

// zeroShare is the largest share of ‖b‖² that a solution may explain and still count as zero, see isZero.
const zeroShare = 1e-9

// dualStatus returns the status of a dual solution without a requested tolerance. DualCG always counts as converged,
// because a factorisation replaces conjugate gradients that do not converge.
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

// isZero reports whether the exact solution x* counts as zero: no relative error of x̂ is proved, and x* explains at
// most the share zeroShare of ‖b‖². The explained part is ‖b‖² − 2f*, where f* is the smallest objective.
func (t *Target) isZero() bool {
	if !math.IsInf(t.RelativeErrorBound, 1) {
		return false
	}
	return math.IsNaN(t.R2().Hi) || t.TSS.Hi-2*t.Objective.Lo <= zeroShare*t.TSS.Hi
}
