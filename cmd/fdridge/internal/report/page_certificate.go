package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A verdict is the summary of the fit at the top of the HTML page.
type verdict struct {
	Text string
	Good bool // the fit converged and its error bound is small
}

// A certificateSection describes the proved accuracy of the coefficients.
type certificateSection struct {
	Sentences []string
	Advice    []string
	Tables    []*table
}

// Thresholds for the bound on the relative error.
const (
	poor    = 0.01 // above this bound the page gives advice
	useless = 0.5  // from this bound on the page claims no accuracy
)

// hasSeveralFits reports whether there is more than one fit. There is a fit for each target and each penalty γ.
func (f *Fit) hasSeveralFits() bool {
	return len(f.Found.Solutions)*len(f.Found.Solutions[0].Targets) > 1
}

// verdict summarises the fit. The error bound in the summary is for the coefficients in the units of the file, even
// if the columns were scaled.
func (f *Fit) verdict(rec *fitRecord) verdict {
	worst, _, _ := f.worst()
	v := verdict{Good: f.Found.Err() == nil && worst <= poor}
	switch {
	case f.Unsolved() != "" && f.Shortfall() == "":
		v.Text = fmt.Sprintf("Incomplete: %s.", f.Unsolved())
	case f.Short() == ridge.MinimumNorm:
		text := f.describeDependent(f.dependentFit())
		v.Text = strings.ToUpper(text[:1]) + text[1:]
	case f.Short() == ridge.Unproved:
		v.Text = "Nothing is proved about these coefficients: no relative error below 1."
	case f.Found.Err() != nil:
		v.Text = fmt.Sprintf(
			"Not converged: the proved bound on the relative error is %s, the tolerance is %s (%s).",
			bound(worst),
			chart.Digits(f.Asked.Tol, 3),
			f.Short(),
		)
	case worst == 0:
		v.Text = "The coefficients are proved to be the exact ridge solution of " + f.solved() + "."
	case worst < useless:
		unscaled := f.Data.Preparation.Reversible() != nil
		if unscaled {
			worst = 0
			for _, fit := range rec.Fits {
				for _, e := range fit.CoefRelative {
					worst = max(worst, float64(e))
				}
			}
		}
		if !(worst < 1) {
			v.Text = "The coefficients of the scaled columns are proved to the tolerance. " +
				"In the units of the file, no relative error below 1 is proved."
			v.Good = false
			break
		}
		v.Text = fmt.Sprintf(
			"The coefficients are proved to have a relative error of at most %s: they solve the ridge problem of %s "+
				"to that accuracy.",
			AtMost(worst, 2),
			f.solved(),
		)
		if unscaled {
			v.Text = strings.Replace(v.Text, "The coefficients", "The coefficients, in the units of the file,", 1)
		}
		if f.hasSeveralFits() {
			v.Text = strings.Replace(v.Text, "The coefficients", "All coefficients", 1)
		}
	default:
		v.Text = "The coefficients are not proved to be near the exact ridge solution of " + f.solved() + "."
	}
	if doubt := f.Doubt(); doubt != "" {
		v.Good = false
		v.Text += " But " + doubt + "."
	}
	return v
}

// solved returns words for the data of the ridge problem that was solved, such as "these data in scaled columns".
func (f *Fit) solved() string {
	switch prep := &f.Data.Preparation; {
	case prep.Expansion() != nil:
		return "the features of these data"
	case prep.Scaling != nil:
		return "these data in scaled columns"
	}
	return "these data"
}

// certificate returns the section of the HTML page about the accuracy of the coefficients. It consists of
// sentences, advice and tables.
func (f *Fit) certificate(rec *fitRecord) certificateSection {
	c := certificateSection{Advice: f.advice()}
	say := func(format string, args ...any) {
		c.Sentences = append(c.Sentences, fmt.Sprintf(format, args...))
	}
	worst, at, target := f.worst()
	switch {
	case math.IsInf(worst, 1):
		say("There is no bound on the relative error, because the exact coefficients may be zero.")
	case !(worst < useless):
		say(
			"The bound on the relative error ‖x̂ − x*‖/‖x*‖ is %s. The error may be as large as the "+
				"exact coefficients x* themselves.",
			bound(worst),
		)
	}
	if f.hasSeveralFits() {
		say(
			"The bound is largest for %s.%s",
			f.nameOf(at, target),
			map[bool]string{true: " The table has a row for each fit."}[rec.Targets <= mostTargets],
		)
	}
	first := f.Found.Solutions[0]
	if f.Found.Summary == nil {
		say("A direct factorisation solved the problem without a sketch. The bound comes from round-off alone.")
	} else if kept := f.describeGram(); kept != "" {
		say("For the %d rows A, %s. Only round-off is lost: the error of AᵀA is at most η = %s.%s",
			first.Rows, kept, bound(first.Shrinkage), f.describeShare(first.Shrinkage))
	} else {
		say("The %d rows A were reduced to a sketch B of %d rows. In each direction it misses at most η = %s of the sum "+
			"of squares: ‖AᵀA − BᵀB‖ ≤ η.%s",
			first.Rows, f.Size(), bound(f.sketchBound()), f.describeShare(f.sketchBound()))
		if f.hasLaterGram() {
			say("A later pass computed AᵀA itself, with an error of at most %s. The bounds of this page come from this "+
				"AᵀA.", bound(first.Shrinkage))
		}
		say("The ratio η/γ counts: if it is small, the solution of one pass is accurate, and few passes refine it.")
	}
	data := "the data as they were read"
	if prep := &f.Data.Preparation; prep.Scaling != nil || prep.Expansion() != nil {
		data = f.solved() + ", as rounded to float64"
	}
	say(
		"All bounds hold for the exact solution x* of %s, round-off included. They tell how well the ridge "+
			"problem was solved, not how well the model predicts.",
		data,
	)
	if rec.Targets > mostTargets {
		for i := range rec.Fits {
			c.Tables = append(c.Tables, f.quantilesTable(rec, i))
		}
		say("The last table has the %d targets with the largest bounds.", worstTargets)
	}
	if f.Data.Preparation.Reversible() != nil {
		say("The errors in the table are those of the coefficients in the units of the file.")
	}
	c.Tables = append(c.Tables, f.fitsTable(rec, true))
	return c
}

// describeShare returns a sentence with the percentage eta/‖A‖². Here ‖A‖² is the sum of squares of the
// rows A, and eta bounds how much of it the sketch misses in any one direction. describeShare returns "" if all
// rows are zero.
func (f *Fit) describeShare(eta float64) string {
	s, err := f.Found.Summary.Spectrum()
	if err != nil || s.Bound.Frobenius2 == 0 { // an error here would already have ended the fit
		return ""
	}
	all := s.Bound.Frobenius2
	return fmt.Sprintf(" This is about %s of the sum over all directions, %s.", percent(eta/all), chart.Digits(all, 3))
}

// advice returns what to try next if the fit missed its tolerance, or if its relative error bound is above 1 %.
// Otherwise it returns nil.
func (f *Fit) advice() []string {
	var out []string
	worst, at, _ := f.worst()
	switch {
	case f.Found.Err() != nil && f.Short() != ridge.Unproved:
		out = append(
			out,
			"These coefficients are the best ones found, and all bounds of this page hold. They may be accurate enough.",
		)
		for _, r := range f.Remedies {
			out = append(out, "This may help: "+r+".")
		}
		return out
	case worst <= poor:
		return nil
	case f.Found.Summary == nil && f.needsScaling():
		return []string{"The problem is close to singular. --standardize or a larger γ improves its condition number."}
	case f.Found.Summary == nil:
		return []string{"The problem is close to singular. A larger γ improves its condition number."}
	}
	if f.Found.Method == ridge.OneShot {
		out = append(
			out,
			"Refine the solution by passes over the rows: fdridge fit --method cg, or fdridge solve with the sketch and --data.",
		)
	}
	largest, estimated, err := plan.SizeFor(f.Found.Summary, poor, at.Gamma)
	if err != nil { // at this γ round-off alone exceeds the bound
		return append(out, "No sketch size proves more in one pass: "+errtext.Error(err)+".")
	}
	return append(
		out,
		fmt.Sprintf(
			"Or use a larger sketch: about --size %d (at worst %d) reaches a bound of %s for γ = %s. fdridge plan "+
				"compares this with other methods.",
			estimated,
			largest,
			percent(poor),
			chart.Digits(at.Gamma, 4),
		),
	)
}
