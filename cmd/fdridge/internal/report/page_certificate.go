package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A verdict is the sentence at the top of the page.
type verdict struct {
	Text string
	Good bool // converged, and the bound says something
}

// A certificateSection says how exact the weights are.
type certificateSection struct {
	Sentences []string
	Advice    []string
	Fits      []certificateRow
}

// A certificateRow is what is proved of one target at one γ.
type certificateRow struct {
	model.Record
	ridge.Certificate
	R2     ridge.Interval
	Target string
}

// poor is the relative error above which a page says what to do about it.
const poor = 0.01

// useless is the one from which on it hardly says anything.
const useless = 0.5

// several tells that there is more than one target or γ.
func (f *Fit) several() bool {
	return len(f.Found.Solutions)*len(f.Found.Solutions[0].Targets) > 1
}

func (f *Fit) verdict() verdict {
	worst, _, _ := f.worst()
	v := verdict{Good: f.Found.Err() == nil && worst <= poor}
	switch {
	case f.Unsolved() != "" && f.Shortfall() == "":
		v.Text = fmt.Sprintf("Not all asked for: %s.", f.Unsolved())
	case f.Short() == ridge.Unproved:
		v.Text = "Nothing is proved of these weights: no relative error below 1."
	case f.Found.Err() != nil:
		v.Text = fmt.Sprintf("Not converged: %s is certified, relative, where %s was asked for; %s.", f.certified(worst), chart.Digits(f.Asked.Tol, 3), f.Short())
	case worst == 0:
		v.Text = "The weights are proved to be the exact ridge solution of " + f.solved() + "."
	case worst < useless:
		v.Text = fmt.Sprintf("The weights are proved to be within %s, relative, of the exact ridge solution of %s.", atMost(worst, 2, typeset), f.solved())
		if f.several() {
			v.Text = strings.Replace(v.Text, "The weights", "All weights", 1)
		}
	default:
		v.Text = "The weights are not proved to be near the exact ridge solution of " + f.solved() + "."
	}
	return v
}

// solved is what the solution is of: the rows that the fit had, which may be made of those of the file.
func (f *Fit) solved() string {
	switch prep := &f.Data.Preparation; {
	case prep.Expansion() != nil:
		return "the features of these data"
	case prep.Scaling != nil:
		return "these data in scaled columns"
	}
	return "these data"
}

// certified is a bound on the relative error in the middle of a sentence.
func (f *Fit) certified(worst float64) string {
	if math.IsInf(worst, 1) {
		return "no error"
	}
	return "an error of " + bound(worst)
}

// certificate puts the certificates in words and in a table.
func (f *Fit) certificate(rec *fitRecord) certificateSection {
	c := certificateSection{Advice: f.advice()}
	say := func(format string, args ...any) { c.Sentences = append(c.Sentences, fmt.Sprintf(format, args...)) }
	worst, at, target := f.worst()
	switch {
	case math.IsInf(worst, 1):
		say("There is no bound on the relative error, for the exact weights may be zero for all that is known.")
	case !(worst < useless):
		say("The bound on the relative error ‖x̂ − x*‖/‖x*‖ is %s: the exact weights x* may be about as far from the x̂ at hand as they are long.", bound(worst))
	}
	if f.several() {
		say("The bound is that of the worst, %s; the table has all.", f.nameOf(at, target))
	}
	if first := f.Found.Solutions[0]; f.Found.Summary == nil {
		say("No sketch was made: a direct factorisation solved the problem, and the bound is that of round-off.")
	} else if kept := f.scatter(); kept != "" {
		say("In place of the %d rows A, %s. Nothing of it is lost but by round-off, which is η = %s of the sum of squares along any direction: ‖AᵀA − BᵀB‖ ≤ η.%s",
			first.Rows, kept, bound(first.Shrinkage), f.share(first.Shrinkage))
	} else {
		say("In place of the %d rows A a sketch B of %d rows was kept. Along no direction does it miss more than η = %s of the sum of squares: ‖AᵀA − BᵀB‖ ≤ η.%s",
			first.Rows, f.Size(), bound(first.Shrinkage), f.share(first.Shrinkage))
		say("η against γ is what counts: the smaller their ratio, the nearer is the solution of one pass and the fewer passes refine it.")
	}
	data := "the data as they were read"
	if prep := &f.Data.Preparation; prep.Scaling != nil || prep.Expansion() != nil {
		data = f.solved() + " as float64 has them, rounded where that was computed"
	}
	say("Every bound holds for the exact solution x* of %s, round-off included. It says how well the ridge problem was solved, not how well the model predicts.", data)
	for _, r := range rec.Fits {
		for j, proved := range r.Certificates {
			c.Fits = append(c.Fits, certificateRow{r, proved, r.R2Bracket[j], f.targetName(j)})
		}
	}
	return c
}

// share says how large η is against ‖A‖², where that is not zero.
func (f *Fit) share(shrinkage float64) string {
	s, err := f.Found.Summary.Spectrum()
	if err != nil || s.Bound.Frobenius2 == 0 { // of an error the fit itself would have told
		return ""
	}
	all := s.Bound.Frobenius2
	return fmt.Sprintf(" That is about %s of the sum over all directions, %s.", percent(shrinkage/all), chart.Digits(all, 3))
}

// shortAdvice says what to do where the tolerance was not reached.
func (f *Fit) shortAdvice() []string {
	out := []string{"The weights are the best that were found, and every bound of this page holds for them. If that is enough, take them as they are."}
	for _, r := range f.Remedies {
		out = append(out, "What would help: "+r+".")
	}
	return out
}

// advice says what to do about a bound that is poor.
func (f *Fit) advice() []string {
	worst, at, _ := f.worst()
	switch {
	case f.Found.Err() != nil && f.Short() != ridge.Unproved:
		return f.shortAdvice()
	case worst <= poor:
		return nil
	case f.Found.Summary == nil && f.far():
		return []string{"The problem is close to singular: --standardize or a larger γ make it better conditioned."}
	case f.Found.Summary == nil:
		return []string{"The problem is close to singular: a larger γ makes it better conditioned."}
	}
	var out []string
	if f.Found.Method == ridge.OneShot {
		out = append(out, "Refine it by passes over the rows: fdridge fit --method cg, or fdridge solve with the sketch and --data.")
	}
	largest, estimated, err := plan.SizeFor(f.Found.Summary, poor, at.Gamma)
	if err != nil { // round-off alone is more than that at this γ
		return append(out, "No size of sketch proves more in one pass: "+err.Error()+".")
	}
	return append(out, fmt.Sprintf("Or take a larger sketch: --size %d is estimated to bring the bound to %s for γ = %s, at worst it takes --size %d; fdridge plan weighs this against other methods.",
		estimated, percent(poor), chart.Digits(at.Gamma, 4), largest))
}
