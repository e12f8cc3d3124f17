package report

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A Plan is a plan and what it was made from, as plan --json prints it.
type Plan struct {
	*plan.Plan
	Reason    string    `json:"reason"` // why Best is the best, in words; where another option is sooner, which
	Seen      int64     `json:"rows_seen"`
	Dim       int       `json:"d"`
	Gigaflops float64   `json:"gemm_gflops"`
	Bandwidth float64   `json:"read_gigabytes_per_second"` // rows, as float64, that the files give, or memory if that is less
	Opening   float64   `json:"open_seconds"`              // passes that find widths and scales, in the times of all methods
	Sizes     []SizeFor `json:"size_for,omitempty"`
}

// A SizeFor is the size that is estimated to make a one-shot fit good to an error.
type SizeFor struct {
	Gamma     float64 `json:"gamma"`
	Error     float64 `json:"error"`
	Worst     int     `json:"worst"` // by the largest η, but for round-off
	Estimated int     `json:"estimated"`
}

// WriteText writes the plan for a person.
func (p *Plan) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%d rows × %d features, planned from %d rows; %.0f GFLOP/s, %.2g GB/s of rows, %.2g s to open them\n\n", p.Rows, p.Dim, p.Seen, p.Gigaflops, p.Bandwidth, p.Opening)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\tmethod\tm\tη about\tη at worst\tpasses\tone-shot error about\tmemory\ttime\treaches --tol")
	for i, o := range p.Options {
		if i != p.Best && o.ByName {
			continue // never fewer passes than cg; --json has them
		}
		mark := ""
		if i == p.Best {
			mark = "→"
		}
		passes, worst, size := 0, 0.0, "–"
		for k := range p.Gammas {
			if k < len(o.Passes) {
				passes = max(passes, o.Passes[k])
			}
			if k < len(o.Contraction) {
				worst = max(worst, o.Contraction[k])
			}
		}
		if o.Size > 0 {
			size = strconv.Itoa(o.Size)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%.3g\t%s\t%d\t%s\t%s\t%s\t%v\n", mark, o.Method, size, o.Shrinkage, AtMost(o.WorstShrinkage, 3), passes, AtMost(worst, 2), bytesOf(o.Bytes), secondsOf(o.Seconds), yes(o.Reaches))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", p.Reason)
	for _, s := range p.Sizes {
		fmt.Fprintf(w, "gamma %g: --size %d is estimated to make the one-shot fit good to %g, at worst %d\n", s.Gamma, s.Estimated, s.Error, s.Worst)
	}
	return nil
}

// Explain sets the Reason of a plan to a tolerance within so many bytes.
func (p *Plan) Explain(tol float64, bytes uint64) {
	const soonest = " reaches the tolerance soonest"
	if p.Soonest < 0 {
		p.Reason = fmt.Sprintf("nothing reaches a relative error of %g within %.3g MiB", tol, mib(float64(bytes)))
		return
	}
	first, best, exact := p.Options[p.Soonest], p.Options[p.Best], p.Options[0]
	itself := " is what runs unless a method is named"
	if p.Exact && !exact.Reaches {
		itself = " is what runs in so little memory unless a method is named"
	}
	switch {
	case !p.ByItself:
		p.Reason = describeOption(first) + soonest
	case first.Seconds < best.Seconds:
		p.Reason = describeOption(best) + itself + "; " + describeOption(first) + soonest
	default:
		p.Reason = describeOption(best) + itself + ", and" + soonest
	}
	if !exact.Reaches {
		p.Reason += fmt.Sprintf("; exact takes %.3g MiB", mib(float64(exact.Bytes)))
	}
}

// describeOption names an option and its cost.
func describeOption(o plan.Option) string {
	name := o.Method.String()
	if o.Method == ridge.Exact && o.Method.For(1, 1, make([]float64, len(o.Passes))) != ridge.Cholesky {
		name += " by one reduction to tridiagonal form"
	}
	if o.Size > 0 {
		name += fmt.Sprintf(" with m = %d", o.Size)
	}
	most := 0
	for _, n := range o.Passes {
		most = max(most, n)
	}
	return fmt.Sprintf("%s (about %.2g s, %d passes, %.3g MiB)", name, o.Seconds, most, mib(float64(o.Bytes)))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
