package ridge

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Remedy is something that brings a fit which was not certified to its tolerance further, see
// [Result.Remedies].
type Remedy struct {
	Kind RemedyKind
	// Value is a number that goes with it: a tolerance that is reached, a γ, a size of sketch or
	// so many passes; 0 where there is none.
	Value float64
}

// A RemedyKind is what a [Remedy] changes.
type RemedyKind int

const (
	// FactorDirectly is Options.Method "exact": d² numbers, or n², fit, and a direct solution is
	// corrected by gradients with twice the digits.
	FactorDirectly RemedyKind = iota
	// ScaleColumns is to bring the features to like size, as [dataset.Standardize] does: a norm of
	// theirs is Value times another. The problem is another one then: γ counts alike for all.
	ScaleColumns
	// AllowPasses is Options.MaxPasses = Value, twice as many as are expected to suffice, or as were
	// made and one more.
	AllowPasses
	// EnlargeSketch is Options.Size = Value, with which MaxPasses are expected to suffice, where they
	// are not with the size at hand.
	EnlargeSketch
	// ChangeToCG is Options.Method "cg", which makes further passes and cannot diverge.
	ChangeToCG
	// RaiseGamma is a γ of Value, from which on round-off, in proportion to 1/γ, is expected to
	// allow the tolerance. The problem is another one then.
	RaiseGamma
	// RaiseTol is Options.Tol = Value, which is certified, or twice that where another run ends elsewhere.
	RaiseTol
)

var remedies = [...]string{
	FactorDirectly: "solve directly",
	ScaleColumns:   "bring the features to like size, one is %.2g times another",
	AllowPasses:    "allow %.0f passes",
	EnlargeSketch:  "take a sketch of %.0f rows",
	ChangeToCG:     "take cg",
	RaiseGamma:     "raise gamma to %.2g",
	RaiseTol:       "be content with a relative error of %.2g",
}

// String says it in words.
func (r Remedy) String() string {
	if r.Kind < 0 || int(r.Kind) >= len(remedies) {
		return fmt.Sprintf("Remedy(%d, %v)", int(r.Kind), r.Value)
	}
	if r.Value == 0 {
		return remedies[r.Kind]
	}
	return fmt.Sprintf(remedies[r.Kind], r.Value)
}

// asked is what remedies are found from beside a Result: the options, and the rows that there were.
type asked struct {
	opts Options
	n    int64
	d, t int
	rows bool // further ones can be read
	free bool // a direct solution may be made in place of the method that was chosen
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

// Remedies are what would bring a fit nearer to its tolerance, the most certain first: found from
// what this run has seen, so that what can't help, or takes more than Options.MaxBytes, is not
// among them. None where Err is nil. Errors are those of [Summary.Plan].
func (r *Result) Remedies() ([]Remedy, error) {
	if r.Err() == nil || r.asked == nil {
		return nil, nil
	}
	var out []Remedy
	if r.Status == Unsolved && r.Method != exactName && r.canFactor() {
		out = append(out, Remedy{Kind: FactorDirectly}) // by QR, where that is singular
	}
	worst, gamma := r.missed()
	if worst == 0 {
		return out, nil
	}
	inReach := r.asked.tol() >= LeastTol // or it is the rounding of the weights that keeps it from being reached
	if !factors(r.Method) && r.canFactor() && (inReach || worst > LeastTol) {
		out = append(out, Remedy{Kind: FactorDirectly})
	}
	switch r.Status {
	case RoundOff:
		if inReach && r.scales() {
			out = append(out, Remedy{ScaleColumns, r.ColumnSpread})
		}
		if gamma > 0 && worst < 1 && inReach {
			out = append(out, Remedy{RaiseGamma, 2 * gamma * worst / r.asked.tol()})
		}
	case Unproved:
		if r.asked.rows && !r.asked.opts.Once {
			out = append(out, Remedy{Kind: ChangeToCG})
		}
	case Diverged:
		out = append(out, Remedy{Kind: ChangeToCG})
	case PassLimit:
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
func (r *Result) missed() (worst, gamma float64) {
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
func (r *Result) scales() bool {
	if r.ColumnSpread <= farApart || r.Summary != nil && !r.Summary.lostNothing() {
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
	return missing <= r.ColumnSpread*r.ColumnSpread*r.asked.tol()
}

// margin is by how much more than is certified another run may be asked for. Systems that are solved
// together share what they learn until the first is done, which another tolerance makes another time,
// and where round-off ends it hangs on each rounding; the run of one system is the same up to there.
func (r *Result) margin() float64 {
	if r.Status == PassLimit && len(r.Solutions)*r.asked.t == 1 {
		return 1
	}
	return 2
}

// canFactor says that a direct solution can be made of these rows.
func (r *Result) canFactor() bool {
	a := r.asked
	if !a.rows || a.opts.Once || a.opts.Reducer != nil {
		return false
	}
	k := len(r.Solutions)
	order, bytes := a.d, float64(exactBytes(a.d, a.t, reduces(k)))
	if a.n >= 0 && byRows(exactName, a.n, a.d, a.opts.Gammas) {
		order, bytes = int(a.n), dualBytes(a.n, a.d, a.t, Dual, dualPlan{gammas: k})
	}
	return exactFits(order) && bytes <= float64(a.opts.maxBytes())
}

// morePasses are the passes that are expected to suffice for what was missed at γ, and the size of a
// sketch with which those that were allowed do, where there are such; see [Summary.Plan].
func (r *Result) morePasses(gamma float64) ([]Remedy, error) {
	if r.Summary == nil { // a direct solution of rows that can be read once
		return nil, nil
	}
	cfg := r.Summary.Config()
	if out, err := r.Summary.outlook(); err != nil || !r.Summary.lostNothing() && out.lost(gamma) > r.asked.tol() {
		return nil, err
	}
	plan := PlanConfig{Gammas: []float64{gamma}, Tol: r.asked.tol(), MaxBytes: r.asked.opts.maxBytes()}
	if r.Summary.lostNothing() { // no sketch is larger than that
		plan.Sizes = []int{cfg.Size}
	} else {
		for m := cfg.Size; m < cfg.Dim; m *= 2 {
			plan.Sizes = append(plan.Sizes, m)
		}
		plan.Sizes = append(plan.Sizes, cfg.Dim)
	}
	p, err := r.Summary.Plan(plan)
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
		passes, allowed := o.Passes[0]-1, r.asked.passes() // but for the sketch's
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

func (a *asked) tol() float64 {
	if a.opts.Tol == 0 {
		return defaultTol
	}
	return a.opts.Tol
}

func (a *asked) passes() int {
	if a.opts.MaxPasses == 0 {
		return defaultPasses
	}
	return a.opts.MaxPasses
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

// spread is how many times the least norm of columns that aren't zero the largest is, at least, where
// their sums of squares are these and up to more above them: 0 where nothing is known.
func spread(squares []float64, more float64) float64 {
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
