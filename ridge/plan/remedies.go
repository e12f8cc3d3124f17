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
	// Value goes with the kind: a tolerance, a γ, a size of the sketch or a number of passes; 0 if there is none.
	Value float64
}

// A RemedyKind names what a [Remedy] changes.
type RemedyKind int

const (
	// FactorDirectly: use method Exact. d² (or n²) numbers fit, and a direct solution is corrected by gradients with twice the digits.
	FactorDirectly RemedyKind = iota
	// ScaleColumns: bring the features to like size, as [dataset.Standardize] does. The largest norm of a feature is Value times the
	// least. This changes the problem: γ then counts alike for all features.
	ScaleColumns
	// AllowPasses: set MaxPasses to Value.
	AllowPasses
	// EnlargeSketch: set Size to Value, with which MaxPasses are expected to suffice.
	EnlargeSketch
	// ChangeToCG: use method CG, which makes further passes and cannot diverge.
	ChangeToCG
	// RaiseGamma: use a γ of at least Value. This changes the problem.
	RaiseGamma
	// RaiseTol: set Tol to Value, a tolerance that this fit can certify.
	RaiseTol
)

// An Outcome is what a fit came to, for [Remedies].
type Outcome struct {
	Problem      Problem
	Method       ridge.Method // the method that ran
	Status       ridge.Status
	Solutions    []*ridge.Solution
	Summary      *ridge.Summary // nil for a direct method
	ColumnSpread float64        // the largest norm of a feature over the least, see [Spread]; 0 if unknown
	Tol          float64
	MaxPasses    int
	CanRead      bool // the rows can be read again
	Shared       bool // several processes share the rows
}

// farApart is from where on the norms of columns are said to be of different size.
const farApart = 10

// mostPasses is how many are worth advising.
const mostPasses = 100_000

// remeasuring is how many passes go to gradients with twice the digits where the tolerance is below
// plainly, which plain ones rarely certify.
const (
	remeasuring = 2
	plainly     = 1e-10
)

// Remedies returns the changes that may help a fit that missed its tolerance, the most certain first. They follow from what the fit has seen:
// what cannot help, or takes more than MaxBytes, is left out. Errors are those of [New].
func Remedies(o Outcome) ([]Remedy, error) {
	r := &o
	var out []Remedy
	if r.Status == ridge.Unsolved && r.Method != ridge.Exact && r.canFactor() {
		out = append(out, Remedy{Kind: FactorDirectly}) // by QR, where that is singular
	}
	worst, gamma := r.missed()
	if worst == 0 {
		return out, nil
	}
	inReach := r.Tol >= ridge.LeastTol // or it is the rounding of the weights that keeps it from being reached
	if !r.Method.IsDirect() && r.canFactor() && (inReach || worst > ridge.LeastTol) {
		out = append(out, Remedy{Kind: FactorDirectly})
	}
	switch r.Status {
	case ridge.RoundOff:
		if inReach && r.scales() {
			out = append(out, Remedy{ScaleColumns, r.ColumnSpread})
		}
		if gamma > 0 && worst < 1 && inReach {
			out = append(out, Remedy{RaiseGamma, 2 * gamma * worst / r.Tol})
		}
	case ridge.Unproved:
		if r.CanRead {
			out = append(out, Remedy{Kind: ChangeToCG})
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
	if tol := roundUp(worst * r.margin()); tol < 1 {
		out = append(out, Remedy{RaiseTol, tol})
	}
	return out, nil
}

// missed is the worst certificate of those that miss the tolerance, and the least γ of these.
func (r *Outcome) missed() (worst, gamma float64) {
	gamma = math.Inf(1)
	for _, s := range r.Solutions {
		for _, o := range s.Targets {
			if s.Status.Err() != nil {
				worst, gamma = math.Max(worst, o.RelativeErrorBound), math.Min(gamma, s.Gamma)
			}
		}
	}
	return worst, gamma
}

// scales says that columns of like size may bring what was missed into reach. They improve the
// condition of K by no more than the square of how far apart they are: where more than that is missing,
// it is not the units of the columns that the problem is close to singular by. A sketch that has lost
// something says that they are so far apart at least.
func (r *Outcome) scales() bool {
	if r.ColumnSpread <= farApart || r.Summary != nil && !r.Summary.HoldsGram() {
		return r.ColumnSpread > farApart
	}
	missing := 0.0
	for _, s := range r.Solutions {
		for i := range s.Targets {
			if o := &s.Targets[i]; s.Status.Err() != nil {
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

// margin is by how much more than is certified another run may be asked for. Systems that are solved
// together share what they learn until the first is done, which another tolerance makes another time,
// and where round-off ends it hangs on each rounding; the run of one system is the same up to there.
func (r *Outcome) margin() float64 {
	if r.Status == ridge.PassLimit && len(r.Solutions)*r.Problem.Targets == 1 {
		return 1
	}
	return 2
}

// canFactor reports whether a direct solution can be made of these rows.
func (r *Outcome) canFactor() bool {
	if !r.CanRead || r.Shared {
		return false
	}
	p := r.Problem
	p.Gammas = make([]float64, len(r.Solutions))
	return Fits(p)
}

// morePasses are the passes that are expected to suffice for what was missed at γ, and the size of a
// sketch with which those that were allowed do, where there are such; see [New].
func (r *Outcome) morePasses(gamma float64) ([]Remedy, error) {
	if r.Summary == nil { // a direct solution of rows that can be read once
		return nil, nil
	}
	cfg := r.Summary.Config()
	if out, err := newOutlook(r.Summary); err != nil || !r.Summary.HoldsGram() && out.lost(gamma) > r.Tol {
		return nil, err
	}
	plan := Config{Gammas: []float64{gamma}, Tol: r.Tol, MaxBytes: r.Problem.MaxBytes}
	if r.Summary.HoldsGram() { // no sketch is larger than that
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
	if plan.Tol < plainly {
		more = remeasuring
	}
	suffices := false // with the size at hand, as far as was expected: it is round-off that takes more
	for _, o := range p.Options {
		passes, allowed := o.Passes[0]-1, r.MaxPasses // but for the sketch's
		switch {
		case o.Method != r.Method || !o.Reaches || passes < 1:
		case o.Size <= cfg.Size:
			suffices = passes <= allowed
			if needed := max(passes, allowed+1); needed <= mostPasses {
				out = append(out, Remedy{AllowPasses, 2 * float64(needed)}) // round-off costs CG some
			}
		case passes+more <= allowed && !suffices:
			return append(out, Remedy{EnlargeSketch, float64(o.Size)}), nil
		}
	}
	return out, nil
}

// lost is what round-off is expected to leave of the relative error of iterations at γ: that of
// products with K, of ‖K‖, over the least eigenvalue of H.
func (o *outlook) lost(gamma float64) float64 {
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

// roundUp is v to two digits, no less than v.
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

// Spread returns the largest norm of a column divided by the least that is not zero, at least, if the sums of squares of the columns are at least squares and
// at most more above them. It returns 0 if nothing is known.
func Spread(squares []float64, more float64) float64 {
	least, largest := math.Inf(1), 0.0
	for _, v := range squares {
		if v+more > 0 {
			least, largest = math.Min(least, v+more), math.Max(largest, v)
		}
	}
	if largest == 0 {
		return 0
	}
	return math.Sqrt(largest / least)
}

// ColumnSpread is [Spread] as a sketch knows it: (BᵀB)_jj ≤ K_jj ≤ (BᵀB)_jj + η.
func ColumnSpread(spec *fd.Spectrum) float64 {
	squares, eta := spec.ColumnNorms(), spec.Bound.FD()
	for j, v := range squares {
		squares[j] = math.Max(0, v*v-eta)
	}
	return Spread(squares, eta)
}
