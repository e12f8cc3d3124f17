package report

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A Plan is the JSON object that plan --json prints. It contains the plan and the measurements on which the plan is
// based.
type Plan struct {
	*plan.Plan
	Reason    string  `json:"reason"` // why the option Best was chosen, in words
	Seen      int64   `json:"rows_seen"`
	Dim       int     `json:"d"`
	Gigaflops float64 `json:"gemm_gflops"`
	Bandwidth float64 `json:"read_gigabytes_per_second"` // speed of reading rows, at 8 bytes a number
	// seconds of the passes that find the widths and scales of the columns; all times include them
	Opening float64   `json:"open_seconds"`
	Sizes   []SizeFor `json:"size_for,omitempty"`
}

// A SizeFor states how many rows a sketch needs for a fit in one pass. With Estimated rows the relative error is at
// most about Error, for the penalty Gamma.
type SizeFor struct {
	Gamma     float64 `json:"gamma"`
	Error     float64 `json:"error"`
	Worst     int     `json:"worst"` // size if the sketch error η is as large as theory allows, ignoring round-off
	Estimated int     `json:"estimated"`
}

// WriteText writes the plan as text.
func (p *Plan) WriteText(w io.Writer) error {
	fmt.Fprintf(
		w,
		"%d rows × %d features, planned from %d rows\nmeasured: %.0f GFLOP/s, %.2g GB/s of rows, %.2g s to open them\n\n",
		p.Rows,
		p.Dim,
		p.Seen,
		p.Gigaflops,
		p.Bandwidth,
		p.Opening,
	)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\tmethod\tm\tη about\tη at worst\tpasses\tone-shot error\tmemory\ttime\treaches --tol")
	for i, o := range p.Options {
		if i != p.Best && o.ByName {
			continue // it never needs fewer passes than cg; --json includes it
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
		fmt.Fprintf(
			tab,
			"%s\t%s\t%s\t%.3g\t%s\t%d\t%s\t%s\t%s\t%v\n",
			mark,
			o.Method,
			size,
			o.Shrinkage,
			AtMost(o.WorstShrinkage, 3),
			passes,
			AtMost(worst, 2),
			bytesOf(o.Bytes),
			secondsOf(o.Seconds),
			yes(o.Reaches),
		)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", wrapText(p.Reason))
	for _, s := range p.Sizes {
		fmt.Fprintf(
			w,
			"gamma %g: a one-shot fit reaches a relative error of %g with about --size %d (at worst %d)\n",
			s.Gamma,
			s.Error,
			s.Estimated,
			s.Worst,
		)
	}
	return nil
}

// Explain sets p.Reason to a sentence that says why the method p.Best was chosen, or that no method reaches the
// tolerance. The argument tol is the tolerance on the relative error, and bytes is the memory limit in bytes.
func (p *Plan) Explain(tol float64, bytes uint64) {
	const soonest = " reaches the tolerance fastest"
	if p.Soonest < 0 {
		p.Reason = fmt.Sprintf("no method reaches a relative error of %g within %.3g MiB", tol, mib(float64(bytes)))
		return
	}
	first := p.Options[p.Soonest]
	best := p.Options[p.Best]
	exact := p.Options[0]
	itself := " is the default method"
	if p.Exact && !exact.Reaches {
		itself = " is the default method within this memory"
	}
	switch {
	case !p.IsDefault:
		p.Reason = describeOption(first) + soonest
	case first.Seconds < best.Seconds:
		p.Reason = describeOption(best) + itself + "; " + describeOption(first) + soonest
	default:
		p.Reason = describeOption(best) + itself + ", and" + soonest
	}
	if !exact.Reaches {
		p.Reason += fmt.Sprintf("; %v needs %.3g MiB", exact.Method, mib(float64(exact.Bytes)))
	}
}

// describeOption describes a method of the plan with its time, passes and memory.
func describeOption(o plan.Option) string {
	name := o.Method.String()
	if o.Method == ridge.Exact &&
		o.Method.For(1, 1, make([]float64, len(o.Passes))) != ridge.Cholesky {
		name += " (one reduction to tridiagonal form)"
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
