package ridge

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// Known returns what is proved of the rows, for the packages below this one. Errors: *[GammaError], which names method,
// for a γ that is not positive; [ErrEmpty]; [ErrUnproven]; *[ScaleError]. workers is the number of processes whose sums a
// pass adds up.
func (s *Summary) Known(method string, workers int, gammas ...float64) (*certify.Known, error) {
	for _, g := range gammas {
		if err := checkGamma(g, method); err != nil {
			return nil, err
		}
	}
	if !s.made() {
		return nil, errUnmade
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
	e := all.Evidence(spec)
	e.Workers = workers
	k := certify.New(e)
	if k.Unproven() {
		return nil, ErrUnproven
	}
	if what, v, found := k.OutOfRange(gammas...); found {
		return nil, &ScaleError{what, v}
	}
	return k, nil
}

func checkGamma(g float64, method string) error {
	if !(g > 0) || math.IsInf(g, 0) {
		return &GammaError{Gamma: g, Method: method}
	}
	return nil
}

// checkRows refuses n rows of which none counts.
func checkRows(n int64, weight float64) error {
	switch {
	case n == 0:
		return ErrEmpty
	case !(weight > 0):
		return fmt.Errorf("%w that count: all %d have weight 0", ErrEmpty, n)
	}
	return nil
}

// MeanEigenvalue returns ‖A‖²_F/d, the mean eigenvalue of K; 1 for the zero Summary.
func (s *Summary) MeanEigenvalue() float64 {
	if !s.made() {
		return 1
	}
	return s.Bound().Frobenius2 / float64(s.cfg.Dim)
}

// RelativeWeightError bounds the relative round-off of [Summary.Weight].
func (s *Summary) RelativeWeightError() float64 {
	if !s.made() || !(s.Weight() > 0) {
		return math.Inf(1)
	}
	all, err := s.all()
	if err != nil {
		return math.Inf(1)
	}
	return all.Stage.RelativeWeight(s.Weight())
}
