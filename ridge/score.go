package ridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A HoldOut is how fits did on rows that they have not seen.
type HoldOut struct {
	Rows int64
	RSS  [][]float64 // Σw(y − ŷ)², for each fit and target
	TSS  []float64   // Σw(y − ȳ)² for each target, ȳ the mean of these rows
	R2   [][]float64 // 1 − RSS/TSS, as scikit-learn's r2_score; NaN where TSS is 0
}

// Score makes one pass over src and scores all fits together on its rows, in matrix
// products. Fits and a source of different dimensions are [ErrShape], no rows
// [ErrEmpty]; entries and weights are checked as by [Summary.AppendBlock]. Other
// errors are those of src.
func Score(ctx context.Context, src dataset.Source, fits []*Solution) (*HoldOut, error) {
	_, d, t := src.Dims()
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	s := newScorer(be, d, t)
	for _, f := range fits {
		if !f.hasShape(t, d) {
			ft, fdim := f.Dims()
			return nil, fmt.Errorf("%w: a %d×%d fit scored on rows of %d features and %d targets", errShape, ft, fdim, d, t)
		}
		for j := range t {
			s.x = append(s.x, f.Targets[j].Coef...)
			s.intercept = append(s.intercept, f.Targets[j].Intercept)
		}
	}
	h := &HoldOut{}
	spread, raw := make([]welford, t), 0.0
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if raw, err = rows.CheckBlock(b, d, t, int(h.Rows), raw); err != nil {
			return nil, err
		}
		if err := s.add(b, int(h.Rows)); err != nil {
			return nil, err
		}
		h.Rows += int64(b.N)
		for i, y := range b.Y[:b.N*t] {
			spread[i%t].add(y, b.Weight(i/t))
		}
	}
	if h.Rows == 0 {
		return nil, ErrEmpty
	}
	for j := range spread {
		h.TSS = append(h.TSS, spread[j].squares)
	}
	for i := range fits {
		rss, r2 := make([]float64, t), make([]float64, t)
		for j := range t {
			rss[j], r2[j] = s.rss[i*t+j].Value(), math.NaN()
			if h.TSS[j] > 0 {
				r2[j] = 1 - rss[j]/h.TSS[j]
			}
		}
		h.RSS, h.R2 = append(h.RSS, rss), append(h.R2, r2)
	}
	return h, nil
}

// welford is the running sum of weighted squares about the mean (B. Welford,
// Technometrics 4, 1962; D. West, Comm. ACM 22, 1979, for weights).
type welford struct{ weight, mean, squares float64 }

func (s *welford) add(y, w float64) {
	if !(w > 0) {
		return
	}
	s.weight += w
	off := y - s.mean
	s.mean += off * (w / s.weight)
	s.squares += w * off * (y - s.mean)
}

// A scorer sums the squared residuals of many weights in one pass. Row i of x
// (q×d) belongs to target i mod t.
type scorer struct {
	be        engine.Backend
	d, t      int
	x         []float64
	intercept []float64
	rss       []neumaier.Sum

	product []float64
	view    engine.CSR
}

func newScorer(be engine.Backend, d, t int) *scorer { return &scorer{be: be, d: d, t: t} }

// add takes a block that has been checked, whose first row is row first.
func (s *scorer) add(b dataset.Block, first int) error {
	q := len(s.intercept)
	if s.rss == nil {
		s.rss = make([]neumaier.Sum, q)
	}
	for lo := 0; lo < b.N; lo += roundoff.StageRows {
		part := b.Cut(lo, min(lo+roundoff.StageRows, b.N), s.d, s.t, &s.view)
		s.product = vec.Grow(s.product, part.N*q)
		if part.Sparse == nil {
			s.be.Gemm(false, true, 1, engine.View(part.N, s.d, part.X), engine.View(q, s.d, s.x), 0, engine.View(part.N, q, s.product))
		} else {
			for i := range part.N {
				idx, val := part.Sparse.Row(i)
				for l := range q {
					s.product[i*q+l] = vec.SparseDot(idx, val, s.x[l*s.d:(l+1)*s.d])
				}
			}
		}
		for i := range part.N {
			for l := range q {
				r := part.Y[i*s.t+l%s.t] - s.intercept[l] - s.product[i*q+l]
				if r *= r * part.Weight(i); !(r <= math.MaxFloat64) {
					return &fd.RangeError{Row: first + lo + i}
				}
				s.rss[l].Add(r)
			}
		}
	}
	return nil
}
