package ridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
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

// sameRows refuses another summary that shows that it is of other rows, by their number and
// weight, ‖b‖² and c.
func (s *Summary) sameRows(o *Summary) error {
	a, err := s.known(oneShotName, 1)
	if err != nil {
		return err
	}
	b, err := o.known(oneShotName, 1)
	if err != nil {
		return err
	}
	other := func(what string, got, want float64) error {
		return unfit("the rows of this pass are not those of the summary: %s is %.9g, theirs is %.9g", what, got, want)
	}
	if a.Rows != b.Rows {
		return other("their number", float64(b.Rows), float64(a.Rows))
	}
	if !(math.Abs(a.Weight-b.Weight) <= roundoff.SameRows*a.Weight) {
		return other("their weight", b.Weight, a.Weight)
	}
	size := math.Sqrt(a.Bound().Frobenius2)
	for j, tss := range a.TSS {
		if !(math.Abs(tss-b.TSS[j]) <= roundoff.SameRows*tss+a.SquaresError(j)+b.SquaresError(j)) {
			return other(fmt.Sprintf("‖b‖² of target %d", j+1), b.TSS[j], tss)
		}
		off := slices.Clone(a.C(j))
		vec.Axpy(-1, b.C(j), off)
		if !(vec.Norm(off) <= roundoff.SameRows*size*math.Sqrt(tss)+a.CrossError(j)+b.CrossError(j)) {
			return other(fmt.Sprintf("the norm of Aᵀb of target %d", j+1), b.CNorm(j), a.CNorm(j))
		}
	}
	return nil
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
