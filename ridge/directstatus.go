package ridge

import "math"

// zeroShare is the largest fraction of the sum of squares of a target that counts as zero.
const zeroShare = 1e-9

// dualStatus returns the status of a solution by the method m, if no tolerance is given.
func dualStatus(m Method) Status {
	if m == DualCG {
		return Converged // otherwise a factorisation has replaced it
	}
	return Factorized
}

// directStatus returns the status for the relative error tol.
func (s *Solution) directStatus(tol float64) Status {
	status := dualStatus(s.Method)
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

// isZero reports whether the solution counts as zero. First, no relative error must be proved. Second, the solution
// must explain at most the fraction zeroShare of TSS, the sum of squares of the target. The explained part is
// TSS − 2f*, where f* is the smallest objective ½RSS + ½γ‖x‖² and RSS the sum of squared residuals.
func (t *Target) isZero() bool {
	if !math.IsInf(t.RelativeErrorBound, 1) {
		return false
	}
	return math.IsNaN(t.R2().Hi) ||
		t.TSS.Hi-2*t.Objective.Lo <= zeroShare*t.TSS.Hi
}
