package accum

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// Evidence returns the data from which package certify computes error bounds. spec is the spectrum of the lane's
// sketch.
func (l *Lane) Evidence(spec *fd.Spectrum) certify.Evidence {
	d := l.cfg.Dim
	t := l.cfg.Targets
	st := l.Stage
	e := certify.Evidence{
		Sketch:    spec,
		Backend:   l.cfg.Backend,
		Rows:      st.Rows,
		Decays:    st.Decays,
		Weight:    st.Weight.Value(),
		Weighted:  st.Weighted,
		Intercept: l.cfg.Intercept,
		Sums:      certify.Sums{Cross: l.sums.c(), NonZero: st.NonZero},
		Reading:   certify.Reading{Sparse: l.Sparse},
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
		e.Means = st.Means()
		e.MeanErrors = st.MeanErrors()
	}
	if !l.lacksWitness {
		e.Witness = certify.Witness{Probe: l.sums.probe(), Product: l.sums.kh()}
	}
	return e
}
