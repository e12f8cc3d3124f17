package ridge

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// WithGram makes a pass over src, which must have the rows of s, and computes AᵀA for these rows A. It returns
// a read-only view of s that uses the eigenvalues and eigenvectors of AᵀA, not of the sketch. Their only error is
// round-off. Of opts, it uses only the fields Journal, Reducer and Progress.
func (s *Summary) WithGram(
	ctx context.Context,
	src dataset.Source,
	opts SolveOptions,
) (*Summary, error) {
	p, err := newProblem(src, s, nil, &opts)
	if err != nil {
		return nil, err
	}
	a, k, err := krylov.ComputeMatrix(ctx, p)
	if err != nil {
		return nil, err
	}
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	d := s.cfg.Dim
	b := s.Bound()
	spec, err := fd.WholeSpectrum(
		engine.View(d, d, a),
		fd.Bound{RoundOff: k.MatrixError(), Frobenius2: b.Frobenius2, Rows: b.Rows},
		s.cfg.Backend,
	)
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	known := *all
	known.Sparse = known.Sparse || k.Sparse
	out := s.view(&known, spec)
	out.holdsGram = true
	return out, nil
}

// An offsetJournal adds earlier passes to the pass numbers.
type offsetJournal struct {
	Journal
	before int
}

func (j offsetJournal) Recorded(pass int) ([]byte, error) {
	return j.Journal.Recorded(j.before + pass)
}

func (j offsetJournal) Record(pass int, state []byte) error {
	return j.Journal.Record(j.before+pass, state)
}

// After returns a journal for a solve whose journal j already has the records of earlier passes. passes is the
// number of these earlier passes. Pass k of the new solve is stored in j as pass number passes + k.
func After(j Journal, passes int) Journal {
	if j == nil || passes == 0 {
		return j
	}
	return offsetJournal{j, passes}
}
