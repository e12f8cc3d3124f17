package ridge

import (
	"context"
	"errors"
	"slices"

	"github.com/fdridge/fdridge/dataset"
)

// choosesExactly says that γ is chosen of direct solutions: by GCV, to which one reduction of K gives
// its brackets at every γ, without a sketch.
func (o *Options) choosesExactly() bool {
	return o.chooses() && o.Select == ByGCV && o.Folds == 0 && (o.Method == exactName || o.Method == Tridiagonal.String())
}

// exactChoice makes the direct solution at the γ of the least GCV. All are solved for by one
// reduction, and GCV is that of one pass; the one that is chosen is then certified to Tol.
func (r *Result) exactChoice(ctx context.Context, src dataset.Source, opts *Options) error {
	e, err := newExact(src, opts.exact(Tridiagonal))
	if err != nil {
		return err
	}
	r.Passes++
	system, err := e.read(ctx, src)
	if err != nil {
		return err
	}
	beyond := false // the grid's end
	r.Choice, err = chooseOf(opts.Candidates, gridOver(system.MeanEigenvalue(), gridGCV), func(gammas []float64) ([]candidate, error) {
		fits, err := e.tridiagonal(ctx, system, gammas)
		if _, singular := errors.AsType[*SingularError](err); singular && beyond {
			return nil, nil // it ends where round-off does
		}
		beyond = true
		return byGCV(fits), err
	})
	if err != nil {
		return err
	}
	r.Choice.By, r.Choice.Whole = ByGCV, true
	chosen := *r.Choice.Path[r.Choice.Index]
	chosen.Targets = slices.Clone(chosen.Targets) // which are refined, and the path's are not
	r.Solutions = []*Solution{&chosen}
	if opts.Tol > 0 {
		if err := e.refine(ctx, src, system, r.Solutions); err != nil {
			return err
		}
		chosen.Status = chosen.directStatus(opts.Tol)
	}
	r.Passes, r.Status = r.Passes+chosen.Passes-1, chosen.Status
	return nil
}
