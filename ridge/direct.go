package ridge

import "math"

// unexplained is the R² below which a solution that is not certified to differ from zero is
// taken for one that is zero.
const unexplained = 1e-9

// directStatus is that of a direct solution which was to be certified to a relative error of tol.
func (s *Solution) directStatus(tol float64) Status {
	status := Factorized
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

// isZero says that x* is zero for all that is certified: it is as near to x̂ as x̂ is to zero,
// and x̂ explains next to nothing of the target.
func (t *Target) isZero() bool {
	return math.IsInf(t.RelativeErrorBound, 1) && !(t.R2().Hi > unexplained)
}
