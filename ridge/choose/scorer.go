package choose

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A scorer sums squared residuals of q coefficient vectors.
type scorer struct {
	be        engine.Backend
	d, t      int
	x         []float64       // q×d; row i holds coefficients for target i mod t
	intercept []float64       // q
	rss       []twofold.Total // Σw(y − ŷ)² over weights w, targets y and predictions ŷ, for each row of x

	product []float64
	view    engine.CSR
}

func newScorer(be engine.Backend, d, t int) *scorer {
	return &scorer{be: be, d: d, t: t}
}

// add adds squared residuals. Errors number rows from firstRow.
func (s *scorer) add(b dataset.Block, firstRow int) error {
	q := len(s.intercept)
	if s.rss == nil {
		s.rss = make([]twofold.Total, q)
	}
	for lo := 0; lo < b.N; lo += roundoff.StageRows {
		part := b.Cut(lo, min(lo+roundoff.StageRows, b.N), s.d, s.t, &s.view)
		s.product = vec.Grow(s.product, part.N*q)
		if part.Sparse == nil {
			s.be.Gemm(
				false,
				true,
				1,
				engine.View(part.N, s.d, part.X),
				engine.View(q, s.d, s.x),
				0,
				engine.View(part.N, q, s.product),
			)
		} else {
			for i := range part.N {
				idx, val := part.Sparse.Row(i)
				for l := range q {
					x := s.x[l*s.d : (l+1)*s.d]
					s.product[i*q+l] = vec.SparseDot(idx, val, x)
				}
			}
		}
		for i := range part.N {
			for l := range q {
				r := part.Y[i*s.t+l%s.t] -
					s.intercept[l] -
					s.product[i*q+l]
				r *= r * part.Weight(i)
				if !(r <= math.MaxFloat64) {
					return &fd.RangeError{Row: firstRow + lo + i}
				}
				s.rss[l].Add(r)
			}
		}
	}
	return nil
}
