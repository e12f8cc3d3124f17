package ridge

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// whole makes a pass over the rows of s that computes K itself, and returns s with the
// spectrum of K in place of the sketch's: nothing is lost any more but round-off, and for
// every γ everything follows. It is to be read, not to be appended to or written. src,
// journal, reducer and progress are as for [SolvePath].
func (s *Summary) whole(ctx context.Context, src dataset.Source, opts *SolveOptions) (*Summary, error) {
	p, err := newProblem(src, s, nil, opts)
	if err != nil {
		return nil, err
	}
	a, k, err := krylov.Whole(ctx, p)
	if err != nil {
		return nil, err
	}
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	d, b := s.cfg.Dim, s.bound()
	spec, err := fd.WholeSpectrum(engine.View(d, d, a), fd.Bound{RoundOff: k.WholeError(), Frobenius2: b.Frobenius2, Rows: b.Rows}, s.cfg.Backend)
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	known := *all
	known.sparse = known.sparse || k.Sparse
	return &Summary{cfg: s.cfg, lanes: []*lane{&known}, spec: spec, ofWhole: true, penalty: s.penalty}, nil
}

// wholeBytes is the memory that such a pass takes: sums, vectors and the eigenproblem.
func wholeBytes(d, t int) float64 { return 8 * 8 * float64(d) * float64(d+t) }

// later is a journal of a solve that comes after so many other passes.
type later struct {
	Journal
	before int
}

func (j later) Recorded(pass int) ([]byte, error) { return j.Journal.Recorded(j.before + pass) }

func (j later) Record(pass int, state []byte) error { return j.Journal.Record(j.before+pass, state) }

// after is a journal for what comes after so many passes; nil for none.
func after(j Journal, passes int) Journal {
	if j == nil || passes == 0 {
		return j
	}
	return later{j, passes}
}
