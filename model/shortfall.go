package model

import (
	"math"

	"github.com/fdridge/fdridge/ridge"
)

// Err is nil where all fits are certified to the tolerance that was asked for, or had none, as
// [fdridge.Result.Err] is; otherwise a *[ShortfallError] of the worst of those that are not. A
// certificate that cannot be read says nothing of that: it is an error of [Model.Predictor], where
// intervals need it.
func (m *Model) Err() error {
	var worst *ShortfallError
	for i := range m.Fits {
		f := &m.Fits[i]
		r, err := f.Certificate.Record()
		if err != nil || r.Status.Err() == nil {
			continue
		}
		if len(r.Certificates) == 0 {
			r.Certificates = []ridge.Certificate{{RelativeErrorBound: math.Inf(1)}}
		}
		for j := range r.Certificates {
			if bound := r.Certificates[j].RelativeErrorBound; worst == nil || bound > worst.Certified {
				worst = &ShortfallError{f.Gamma, j, m.Tol, bound, r.Status}
			}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}

// Proves reports whether anything is proved of the weights for each γ and target, as
// [ridge.Target.Proves] has it. A certificate that is not there, or cannot be read, proves nothing.
func (m *Model) Proves() bool {
	for i := range m.Fits {
		f := &m.Fits[i]
		proved, err := f.Certificates()
		if err != nil {
			return false
		}
		for j := range proved {
			if t := (ridge.Target{Coef: f.Coef[j], Certificate: proved[j]}); !t.Proves() {
				return false
			}
		}
	}
	return true
}
