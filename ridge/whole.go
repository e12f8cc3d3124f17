package ridge

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// WithGram makes a pass over the rows of s that computes K itself. It returns s with the spectrum of K instead of the sketch's, so
// that nothing is lost but round-off. The result can be read, not appended to or written. Journal, Reducer and Progress of
// opts are as for [SolvePath]; its other fields are ignored.
func (s *Summary) WithGram(ctx context.Context, src dataset.Source, opts SolveOptions) (*Summary, error) {
	ctx = background.IfNil(ctx)
	p, err := newProblem(src, s, nil, &opts)
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
	d, b := s.cfg.Dim, s.Bound()
	spec, err := fd.WholeSpectrum(engine.View(d, d, a), fd.Bound{RoundOff: k.WholeError(), Frobenius2: b.Frobenius2, Rows: b.Rows}, s.cfg.Backend)
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	known := *all
	known.Sparse = known.Sparse || k.Sparse
	out := s.view(&known, spec)
	out.ofWhole = true
	return out, nil
}

// later is a journal of a solve that comes after so many other passes.
type later struct {
	Journal
	before int
}

func (j later) Recorded(pass int) ([]byte, error) { return j.Journal.Recorded(j.before + pass) }

func (j later) Record(pass int, state []byte) error { return j.Journal.Record(j.before+pass, state) }

// After returns a journal for the passes that follow the first ones of j; nil if j is nil.
func After(j Journal, passes int) Journal {
	if j == nil || passes == 0 {
		return j
	}
	return later{j, passes}
}
