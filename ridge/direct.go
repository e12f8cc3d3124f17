package ridge

import "math"

// unexplained is the share of ‖b‖² below which a solution that is not certified to differ from zero
// is taken for one that is zero, where x* explains no more of it.
const unexplained = 1e-9

// status returns the status of a direct solution that is as good as was asked for. Conjugate gradients
// factor nothing: a solution that they leave short of the tolerance is found by [Dual] instead.
func (f Factor) status() Status {
	if f == DualCG {
		return Converged
	}
	return Factorized
}

// directStatus is that of a direct solution which was to be certified to a relative error of tol.
func (s *Solution) directStatus(tol float64) Status {
	status := Factorized
	if s.Method == DualCG.String() {
		status = DualCG.status()
	}
	for j := range s.Targets {
		t := &s.Targets[j]
		switch {
		case t.RelativeErrorBound <= tol:
		case t.isZero():
			status = status.worse(ZeroSolution)
		default:
			status = status.worse(RoundOff)
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
