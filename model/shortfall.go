package model

import (
	"math"

	"github.com/fdridge/fdridge/ridge"
)

// Err returns nil if no fit of the model missed the requested tolerance. Otherwise it returns a *[ShortfallError]
// about the fit that missed it with the largest proved error. Fits whose certificates cannot be read are ignored.
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

// Proves reports whether something useful is proved for every fit and every target, see [ridge.Target.Proves]. It
// returns false if a certificate is missing or cannot be read.
func (m *Model) Proves() bool {
	for i := range m.Fits {
		f := &m.Fits[i]
		proved, err := f.Certificates()
		if err != nil {
			return false
		}
		for j := range proved {
			t := (ridge.Target{Coef: f.Coef[j], Certificate: proved[j]})
			if !t.Proves() {
				return false
			}
		}
	}
	return true
}
