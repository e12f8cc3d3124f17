package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
)

// direct is exact by a factor, see [Result.take].
func (r *Result) direct(ctx context.Context, src dataset.Source, opts *Options, factor Factor) error {
	fits, err := r.solvable(ctx, src, opts, factor, opts.Gammas)
	if err != nil {
		return err
	}
	return r.take(ctx, src, opts, factor, opts.Gammas, fits)
}

// take takes over what a factor has found at some γ. Where that is of "exact" and has no solution at
// one of them, or none that is certified to the tolerance, QR reads the rows once more for these.
// What has no solution then is left out, as long as there is one at another γ; Tried tells it.
func (r *Result) take(ctx context.Context, src dataset.Source, opts *Options, factor Factor, gammas []float64, fits []*Solution) error {
	for _, f := range fits {
		if opts.Tol == 0 && f.directStatus(1) == RoundOff { // nothing is proved of it
			f.Status = RoundOff
			if opts.Once {
				f.Status = onceStatus(RoundOff)
			}
		}
	}
	if again := r.forQR(opts, factor, gammas, fits); len(again) > 0 {
		var err error
		if fits, err = r.byQR(ctx, src, opts, gammas, fits, again); err != nil {
			return err
		}
	}
	if len(fits) == 0 {
		return r.Tried[len(r.Tried)-1].Err
	}
	r.Solutions = fits
	for _, f := range fits {
		r.Status = r.Status.worse(f.Status)
	}
	if len(fits) < len(gammas) {
		r.Status = Unsolved
	}
	return nil
}

// solvable makes the solutions at those of some γ at which the system is not singular: at a γ below
// one at which it is, it is, too. Tried gets each that is found to be, and the rows are read again
// for the others; those that can be read once are not.
func (r *Result) solvable(ctx context.Context, src dataset.Source, opts *Options, factor Factor, gammas []float64) ([]*Solution, error) {
	for len(gammas) > 0 {
		fits, apart, err := exact(ctx, src, gammas, opts.exact(factor), r.Method == exactName)
		singular, ok := errors.AsType[*SingularError](err)
		if err != nil && !ok {
			return nil, err
		}
		passes := 1
		for _, f := range fits {
			passes = max(passes, f.Passes)
		}
		r.Passes += passes
		if !ok {
			r.ColumnSpread = apart
			return fits, nil
		}
		if opts.Once && r.Method == exactName && factor != QR {
			return nil, singularOnce(singular)
		}
		r.Tried = append(r.Tried, Attempt{factor.String(), err})
		if opts.Once {
			break
		}
		gammas = slices.DeleteFunc(slices.Clone(gammas), func(g float64) bool { return g <= singular.Gamma })
	}
	return nil, nil
}

// forQR are the γ at which QR may do better than what another factor has found for "exact".
func (r *Result) forQR(opts *Options, factor Factor, gammas []float64, fits []*Solution) (again []float64) {
	if r.Method != exactName || factor == QR {
		return nil
	}
	fit := exactFits(r.asked.d) && exactBytes(r.asked.d, r.asked.t, false) <= opts.maxBytes()
	for _, g := range gammas {
		at := slices.IndexFunc(fits, func(f *Solution) bool { return f.Gamma == g })
		if at < 0 || fit && !opts.Once && fits[at].Status == RoundOff {
			again = append(again, g)
		}
	}
	return again
}

// byQR puts QR's solutions at some of the γ in the place of those that are missing, or certified to less.
func (r *Result) byQR(ctx context.Context, src dataset.Source, opts *Options, gammas []float64, fits []*Solution, again []float64) ([]*Solution, error) {
	before := "it is not certified to the tolerance"
	if len(r.Tried) > 0 {
		before = fmt.Sprintf("to %s the system is numerically singular", r.Tried[0].Method)
	}
	r.because(fmt.Sprintf("%s at gamma = %v, so QR has read the rows once more", before, again[0]))
	certified := *opts
	if certified.Tol == 0 {
		certified.Tol = defaultTol
	}
	found, err := r.solvable(ctx, src, &certified, QR, again)
	if large, ok := errors.AsType[*SizeError](err); ok && len(fits) > 0 {
		r.Tried = append(r.Tried, Attempt{QR.String(), large})
	} else if err != nil {
		return nil, err
	}
	var out []*Solution
	for _, g := range gammas {
		var best *Solution
		for _, f := range slices.Concat(fits, found) {
			if f.Gamma == g && (best == nil || f.worst() < best.worst()) {
				best = f
			}
		}
		if best != nil {
			out = append(out, best)
		}
	}
	return out, nil
}

// worst is the worst of the relative errors that are certified of the targets.
func (s *Solution) worst() float64 {
	worst := 0.0
	for j := range s.Targets {
		worst = math.Max(worst, s.Targets[j].RelativeErrorBound)
	}
	return worst
}

// Unsolved are the γ asked for at which there is no solution, see [Unsolved]: why is in Tried.
func (r *Result) Unsolved() (gammas []float64) {
	if r.Status != Unsolved || r.asked == nil {
		return nil
	}
	for _, g := range r.asked.opts.Gammas {
		if !slices.ContainsFunc(r.Solutions, func(f *Solution) bool { return f.Gamma == g }) {
			gammas = append(gammas, g)
		}
	}
	return gammas
}
