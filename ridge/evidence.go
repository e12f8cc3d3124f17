package ridge

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// evidence is what the rows come to, for bounds to be made of.
func (l *lane) evidence(spec *fd.Spectrum) certify.Evidence {
	d, t, st := l.cfg.Dim, l.cfg.Targets, l.stage
	e := certify.Evidence{
		Sketch: spec, Backend: l.cfg.Backend,
		Rows: st.Rows, Decays: st.Decays, Weight: st.Weight.Value(), Weighted: st.Weighted,
		Intercept: l.cfg.Intercept,
		Sums:      certify.Sums{Cross: l.sums.c(), NonZero: st.NonZero},
		Reading:   certify.Reading{Sparse: l.sparse},
	}
	for j := range d {
		e.Displaced = append(e.Displaced, st.Displaced(j, 0))
	}
	for j := range t {
		tss := math.Max(0, l.sums.yy[j].Value())
		e.TSS = append(e.TSS, tss)
		e.Displaced = append(e.Displaced, st.Displaced(d+j, math.Sqrt(tss)))
	}
	if l.cfg.Intercept {
		e.Means, e.MeanErrors = st.Means(), st.MeanErrors()
	}
	if !l.unwatched {
		e.Witness = certify.Witness{Probe: l.sums.probe(), Product: l.sums.kh()}
	}
	return e
}

// known is what follows from the evidence. It refuses γ that method cannot take, and evidence
// of which nothing follows. workers is how many there are whose sums are added up in a pass.
func (s *Summary) known(method string, workers int, gammas ...float64) (*certify.Known, error) {
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
	e := all.evidence(spec)
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

// checkCount refuses a pass that has read another number of rows than the n that Dims
// promised, -1 for none.
func checkCount(n, read int64) error {
	if n >= 0 && read != n {
		return unfit("the source's Dims promise %d rows, and it yields %d", n, read)
	}
	return nil
}
