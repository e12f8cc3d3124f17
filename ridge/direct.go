package ridge

import "math"

// unexplained is the share of ‖b‖² below which a solution that is not certified to differ from zero
// is taken for one that is zero, where x* explains no more of it.
const unexplained = 1e-9

// dualStatus returns the status of a dual solution that has no tolerance. Conjugate gradients that
// fall short of theirs are replaced by a factorisation.
func dualStatus(m Method) Status {
	if m == DualCG {
		return Converged
	}
	return Factorized
}

// directStatus is that of a direct solution which was to be certified to a relative error of tol.
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

// isZero says that x* is zero for all that is certified: it is as near to x̂ as x̂ is to zero, and
// x* itself, whatever x̂ does, explains next to nothing of the target: ‖H^{½}x*‖² = ‖b‖² − 2f*.
func (t *Target) isZero() bool {
	if !math.IsInf(t.RelativeErrorBound, 1) {
		return false
	}
	return math.IsNaN(t.R2().Hi) || t.TSS.Hi-2*t.Objective.Lo <= unexplained*t.TSS.Hi
}
