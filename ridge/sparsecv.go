package ridge

import (
	"context"
	"errors"
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// foldTol is the relative error that the solutions without a fold are certified to: it leaves open far
// less of their errors than a choice does.
const foldTol = 1e-6

// choose chooses γ by cross-validation of exact solutions: without each fold, of every so many-th row,
// the ridge problem is solved, and the squared errors on that fold are summed up. With x̂ and its
// intercept in place of the exact ones a residual is off by no more than ‖a‖·‖x̂ − x*‖ and what the
// intercept is off by, and by its rounding; so the score is within what that leaves of it.
func (s *sparseFit) choose(ctx context.Context) (*GammaChoice, error) {
	k := s.opts.Folds
	if k == 0 {
		k = defaultFolds
	}
	if k > s.rows.x.Rows {
		return nil, unfit("%d folds of %d rows: each needs one", k, s.rows.x.Rows)
	}
	rest, held := make([]*sparseRows, k), make([]*sparseRows, k)
	for i := range k {
		rest[i], held[i] = s.rows.split(i, k)
	}
	choice, err := chooseOf(s.opts.Candidates, gridOver(s.rows.meanEigenvalue(), gridCV), func(gammas []float64) ([]candidate, error) {
		for {
			all, err := s.candidates(ctx, rest, held, gammas)
			if _, large := errors.AsType[*SizeError](err); !large || s.opts.Candidates != nil || len(gammas) < 2 {
				return all, err
			}
			gammas = gammas[(len(gammas)+3)/4:] // ascending: the least take too many steps
		}
	})
	if err != nil {
		return nil, err
	}
	choice.By, choice.Whole = ByCV, true // of exact solutions, so that round-off alone leaves it open
	return choice, nil
}

// candidates are the solutions at some γ, with their errors on the folds.
func (s *sparseFit) candidates(ctx context.Context, rest, held []*sparseRows, gammas []float64) ([]candidate, error) {
	parts := make([][][]interval.Interval, len(gammas)) // of each γ and target, for each fold
	weight := 0.0
	for k := range rest {
		if tell := s.opts.Progress; tell != nil {
			tell(Choosing, Progress{Pass: k + 1, Rows: int64(s.rows.x.Rows), RelativeError: math.Inf(1)})
		}
		fits, err := s.solve(ctx, rest[k], gammas, foldTol)
		if err != nil {
			return nil, err
		}
		for i, f := range fits {
			missed, err := held[k].missedBy(f)
			if err != nil {
				return nil, err
			}
			if parts[i] == nil {
				parts[i] = make([][]interval.Interval, len(missed))
			}
			for j, v := range missed {
				parts[i][j] = append(parts[i][j], v)
			}
		}
	}
	for _, w := range s.rows.w {
		weight += w
	}
	fits, err := s.solve(ctx, s.rows, gammas, s.opts.Tol)
	if err != nil {
		return nil, err
	}
	round := float64(len(s.rows.w)+2) * roundoff.Eps // of the weight
	out := make([]candidate, len(gammas))
	for i, f := range fits {
		out[i].fit = f
		for _, folds := range parts[i] {
			out[i].scores = append(out[i].scores, perWeight(interval.Total(folds), weight, round))
		}
	}
	return out, nil
}

// missedBy brackets, for each target, the weighted squares of what the exact solution that f is near
// misses the rows by.
func (k *sparseRows) missedBy(f *Solution) ([]interval.Interval, error) {
	squares, off := make([]neumaier.Sum, k.targets), make([]neumaier.Sum, k.targets)
	yhat := make([]float64, k.targets)
	for i := range k.x.Rows {
		idx, val := k.x.Row(i)
		if err := f.PredictSparse(yhat, idx, val); err != nil {
			return nil, err
		}
		norm := vec.Norm(val)
		for j := range f.Targets {
			t := &f.Targets[j]
			y, size := k.y[i*k.targets+j], math.Abs(t.Intercept)
			for p, at := range idx {
				size += math.Abs(t.Coef[at] * val[p])
			}
			r := y - yhat[j]
			wrong := norm*t.ErrorBound + t.InterceptBound + float64(len(idx)+4)*roundoff.Eps*(math.Abs(y)+size)
			squares[j].Add(k.w[i] * r * r)
			off[j].Add(k.w[i] * wrong * wrong)
		}
	}
	n := float64(k.x.Rows)
	round := (8 + n*n*roundoff.Unit) * roundoff.Eps
	lost := math.Sqrt(n) * 0x1p-536 // of squares times weights, which underflow
	out := make([]interval.Interval, k.targets)
	for j := range out {
		v, wide := squares[j].Value(), math.Sqrt(off[j].Value())*(1+round+float64(k.x.Cols)*roundoff.Eps)+lost
		if out[j] = interval.Nonnegative(); !math.IsNaN(v) && wide <= math.MaxFloat64 {
			out[j] = interval.WidenRoot(interval.Interval{Lo: v * (1 - round), Hi: v * (1 + round)}, wide)
		}
	}
	return out, nil
}

// meanEigenvalue is that of AᵀA, ‖A‖²_F/d, of rows as they are.
func (k *sparseRows) meanEigenvalue() float64 {
	sum := 0.0
	for i := range k.x.Rows {
		_, val := k.x.Row(i)
		norm := vec.Norm(val)
		sum += k.w[i] * norm * norm
	}
	return sum / float64(k.x.Cols)
}
