package ridge

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// quantities returns what certify needs to know about the summary, to prove error bounds of solutions. The argument
// workers is the number of processes that share the rows of a pass. Errors:
//
//   - a *[GammaError] if a γ is not positive and finite; its field Method is the argument method
//   - [ErrEmpty], [ErrUnproven] and *[ScaleError]
func (s *Summary) quantities(method string, workers int, gammas ...float64) (*certify.Known, error) {
	for _, g := range gammas {
		if err := checkGamma(g, method); err != nil {
			return nil, err
		}
	}
	if !s.isValid() {
		return nil, errZeroValue
	}
	if err := checkRows(s.Rows(), s.Weight()); err != nil {
		return nil, err
	}
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	spec, err := s.spectrum()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rounding != nil && len(s.rounding) != s.cfg.Dim {
		return nil, fmt.Errorf(
			"%w: the rounding of %d features, the rows have %d",
			errShape,
			len(s.rounding),
			s.cfg.Dim,
		)
	}
	k := s.known
	if k == nil || workers != 1 {
		e := all.Evidence(spec)
		e.Workers = workers
		e.Projected = s.projected
		e.Units = s.rounding
		k = certify.New(e)
		if workers == 1 && s.cfg.Targets >= roundoff.ManyTargets {
			s.known = k
		}
	}
	return k, checkKnown(k, gammas)
}

// checkKnown returns an error if k does not suffice to prove an error bound of the solution at each γ in gammas.
func checkKnown(k *certify.Known, gammas []float64) error {
	if k.Unproven() {
		return ErrUnproven
	}
	if what, v, found := k.OutOfRange(gammas...); found {
		return &ScaleError{what, v}
	}
	return nil
}

func checkGamma(g float64, method string) error {
	if !(g > 0) || math.IsInf(g, 0) {
		return &GammaError{Gamma: g, Method: method}
	}
	return nil
}

// checkRows returns an error that wraps [ErrEmpty] if there are no rows, or if the total weight is not positive.
func checkRows(n int64, weight float64) error {
	switch {
	case n == 0:
		return ErrEmpty
	case !(weight > 0):
		return fmt.Errorf("%w with positive weight: all %d have weight 0", ErrEmpty, n)
	}
	return nil
}

// MeanEigenvalue returns the mean eigenvalue of AᵀA, which is ‖A‖²_F/d for rows A with d columns. For the zero
// Summary it returns 1.
func (s *Summary) MeanEigenvalue() float64 {
	if !s.isValid() {
		return 1
	}
	return s.Bound().Frobenius2 / float64(s.cfg.Dim)
}

// RelativeWeightError returns a bound on the relative round-off error of [Summary.Weight].
func (s *Summary) RelativeWeightError() float64 {
	if !s.isValid() || !(s.Weight() > 0) {
		return math.Inf(1)
	}
	all, err := s.all()
	if err != nil {
		return math.Inf(1)
	}
	return all.Stage.RelativeWeight(s.Weight())
}
