package plan

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Remedy is a change of options that may help a fit reach its tolerance.
type Remedy struct {
	Kind RemedyKind
	// Value is the new value of the option that Kind changes: a tolerance, a penalty γ, a sketch size or a number
	// of passes. For [ScaleColumns] it is a ratio. If Kind needs no number, Value is 0.
	Value float64
}

// A RemedyKind names what a [Remedy] changes.
type RemedyKind int

const (
	// FactorDirectly advises to use the method Exact, because the matrix AᵀA, or AAᵀ, of the rows A fits in memory.
	// Exact also corrects its solution by gradients with twice the digits.
	FactorDirectly RemedyKind = iota
	// ScaleColumns advises to scale the features to similar norms, as [dataset.Standardize] does. Value is the
	// ratio of the largest norm of a feature to the smallest. Scaling changes the problem: the penalty γ then
	// penalises all features equally.
	ScaleColumns
	// AllowPasses: set MaxPasses to Value.
	AllowPasses
	// EnlargeSketch advises to set Size to Value. With this size, the present MaxPasses is expected to be enough.
	EnlargeSketch
	// ChangeToCG advises to use the method CG, which makes further passes over the rows and cannot diverge.
	ChangeToCG
	// RaiseGamma advises to use a penalty γ of at least Value. The solution then belongs to a different problem.
	RaiseGamma
	// RaiseTol advises to set Tol to Value, a tolerance that can be proved to be met.
	RaiseTol
)

// An Outcome is the input of [Remedies]. It describes a completed fit.
type Outcome struct {
	Problem   Problem
	Method    ridge.Method // the method that ran
	Status    ridge.Status
	Solutions []*ridge.Solution
	Summary   *ridge.Summary // nil for a direct method
	// ColumnSpread is the ratio of the largest norm of a feature to the smallest nonzero norm, see [Spread]. If the
	// ratio is unknown, ColumnSpread is 0.
	ColumnSpread float64
	Tol          float64
	MaxPasses    int
	// LeastGamma is used if columns are linearly dependent. It is the smallest power of ten that reaches Tol when
	// used as the penalty γ. If this number is unknown, LeastGamma is 0.
	LeastGamma float64
	CanRead    bool // the rows can be read again
	Shared     bool // several processes share the rows
}

// unevenSpread is the largest [Spread] at which no scaling of the features is advised.
const unevenSpread = 10

// maxAdvisedPasses is the largest number of passes that a remedy suggests.
const maxAdvisedPasses = 100_000

// doubledPasses is the number of additional passes that an iteration needs if the tolerance is below doubledTol.
// The passes are needed because gradients must then usually be computed with twice the digits.
const (
	doubledPasses = 2
	doubledTol    = 1e-10
)

// Remedies returns changes of options that may help a fit that missed its tolerance. The change most likely to help
// comes first. Remedies leaves out changes that cannot help or that need more memory than MaxBytes. Its errors are
// the errors of [New].
func Remedies(o Outcome) ([]Remedy, error) {
	r := &o
	var out []Remedy
	if r.Status == ridge.Unsolved && r.Method != ridge.Exact && r.canFactor() {
		out = append(out, Remedy{Kind: FactorDirectly}) // QR may solve a system that is singular for other methods
	}
	worst, gamma := r.worstMiss()
	if worst == 0 {
		return out, nil
	}
	canReach := r.Tol >= ridge.LeastTol // if false, the rounding of the coefficients limits the error
	if !r.Method.IsDirect() && r.canFactor() && (canReach || worst > ridge.LeastTol) {
		out = append(out, Remedy{Kind: FactorDirectly})
	}
	switch r.Status {
	case ridge.RoundOff:
		if canReach && r.canScale() {
			out = append(out, Remedy{ScaleColumns, r.ColumnSpread})
		}
		if gamma > 0 && worst < 1 && canReach {
			out = append(out, Remedy{RaiseGamma, 2 * gamma * worst / r.Tol})
		}
	case ridge.Unproved:
		if r.CanRead {
			out = append(out, Remedy{Kind: ChangeToCG})
		}
	case ridge.MinimumNorm:
		if r.LeastGamma > 0 {
			out = append(out, Remedy{RaiseGamma, r.LeastGamma})
		}
	case ridge.Diverged:
		out = append(out, Remedy{Kind: ChangeToCG})
	case ridge.PassLimit:
		more, err := r.morePasses(gamma)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	margin := 2.0
	if r.Status == ridge.PassLimit && len(r.Solutions)*r.Problem.Targets == 1 {
		margin = 1
	}
	if tol := roundUp(worst * margin); tol < 1 {
		out = append(out, Remedy{RaiseTol, tol})
	}
	return out, nil
}

// worstMiss returns the largest error bound, and the smallest penalty γ, of the solutions that missed the
// tolerance.
func (r *Outcome) worstMiss() (worst, gamma float64) {
	gamma = math.Inf(1)
	for _, s := range r.Solutions {
		for _, o := range s.Targets {
			if s.Status.Err() != nil {
				worst = math.Max(worst, o.RelativeErrorBound)
				gamma = math.Min(gamma, s.Gamma)
			}
		}
	}
	return worst, gamma
}

// canScale reports whether scaling the columns may reduce the error bound to the tolerance. Scaling can divide the
// condition number of AᵀA, and with it the error bound, by at most the square of ColumnSpread.
func (r *Outcome) canScale() bool {
	if r.ColumnSpread <= unevenSpread || r.Summary != nil && !r.Summary.HoldsGram() {
		return r.ColumnSpread > unevenSpread
	}
	missing := 0.0
	for _, s := range r.Solutions {
		for i := range s.Targets {
			o := &s.Targets[i]
			if s.Status.Err() != nil {
				x := o.Coef
				if o.Scaled != nil {
					x = o.Scaled
				}
				missing = math.Max(missing, math.Min(o.RelativeErrorBound, o.ErrorBound/vec.Norm(x)))
			}
		}
	}
	return missing <= r.ColumnSpread*r.ColumnSpread*r.Tol
}

func (r *Outcome) canFactor() bool {
	if !r.CanRead || r.Shared {
		return false
	}
	p := r.Problem
	p.Gammas = make([]float64, len(r.Solutions))
	return Fits(p)
}

// morePasses suggests more passes, or a larger sketch.
func (r *Outcome) morePasses(gamma float64) ([]Remedy, error) {
	if r.Summary == nil { // a direct method has no summary
		return nil, nil
	}
	cfg := r.Summary.Config()
	if out, err := newForecast(r.Summary); err != nil ||
		!r.Summary.HoldsGram() && out.roundOffError(gamma) > r.Tol {
		return nil, err
	}
	plan := Config{Gammas: []float64{gamma}, Tol: r.Tol, MaxBytes: r.Problem.MaxBytes}
	if r.Summary.HoldsGram() { // a larger sketch gains nothing
		plan.Sizes = []int{cfg.Size}
	} else {
		for m := cfg.Size; m < cfg.Dim; m *= 2 {
			plan.Sizes = append(plan.Sizes, m)
		}
		plan.Sizes = append(plan.Sizes, cfg.Dim)
	}
	p, err := New(r.Summary, plan)
	if err != nil {
		return nil, err
	}
	var out []Remedy
	more := 0
	if plan.Tol < doubledTol {
		more = doubledPasses
	}
	// suffices is true if MaxPasses should be enough with the present sketch. The fit then missed its tolerance
	// because of round-off, so that a larger sketch does not help.
	suffices := false
	for _, o := range p.Options {
		passes, allowed := o.Passes[0]-1, r.MaxPasses // without the pass of the summary
		switch {
		case o.Method != r.Method || !o.Reaches || passes < 1:
		case o.Size <= cfg.Size:
			suffices = passes <= allowed
			if needed := max(passes, allowed+1); needed <= maxAdvisedPasses {
				out = append(out, Remedy{AllowPasses, 2 * float64(needed)}) // twice as many, because round-off slows CG down
			}
		case passes+more <= allowed && !suffices:
			return append(out, Remedy{EnlargeSketch, float64(o.Size)}), nil
		}
	}
	return out, nil
}

// roundOffError estimates the relative error of the solution that round-off in AᵀA causes. This is the round-off
// divided by the smallest eigenvalue of AᵀA + γI, for the rows A and the penalty gamma.
func (o *forecast) roundOffError(gamma float64) float64 {
	least := gamma
	if o.known.Rank() >= o.d {
		least += o.floorOf(o.rows)
	}
	largest := o.known.Bound().FD()
	if len(o.known.Sketch.Sigma2) > 0 {
		largest += o.known.Sketch.Sigma2[0]
	}
	return roundoff.Eps * math.Min(largest, o.known.Bound().Frobenius2) / least
}

// roundUp rounds v up to two significant digits.
func roundUp(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	up := math.Ceil(v/unit) * unit
	for up < v {
		up += unit
	}
	return up
}

// Spread returns a lower bound on the ratio of the largest norm of a column to the smallest nonzero norm of a
// column. For each column j, the sum of squares must be between squares[j] and squares[j]+slack. If all squares are
// 0, Spread returns 0.
func Spread(squares []float64, slack float64) float64 {
	least := math.Inf(1)
	largest := 0.0
	for _, v := range squares {
		if v+slack > 0 {
			least = math.Min(least, v+slack)
			largest = math.Max(largest, v)
		}
	}
	if largest == 0 {
		return 0
	}
	return math.Sqrt(largest / least)
}

// ColumnSpread returns the [Spread] of the columns of the rows A, to within 1 %. spec describes a sketch B of the
// rows and the bound η on ‖AᵀA − BᵀB‖. They bracket the sum of squares of each column j:
// (BᵀB)_jj ≤ (AᵀA)_jj ≤ (BᵀB)_jj + η.
func ColumnSpread(spec *fd.Spectrum) float64 {
	squares, eta := spec.ColumnNorms(), spec.Bound.FD()
	for j, v := range squares {
		squares[j] = math.Max(0, v*v-eta)
	}
	return Spread(squares, eta)
}
