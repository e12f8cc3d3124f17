package report

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
)

// reasonWords maps each rule to the function that words a reason with that rule.
var reasonWords = map[ridge.Rule]func(r ridge.Reason) string{
	ridge.LeastSquares:     fixed("gamma = 0 is least squares, which nothing else solves"),
	ridge.RanksShareRows:   fixed("several ranks share the rows"),
	ridge.BandsNeedSketch:  fixed("penalties of bands are chosen from a sketch"),
	ridge.FoldsNeedSketch:  fixed("gamma is chosen from sketches of the folds"),
	ridge.SketchIsKept:     fixed("the sketch is to be kept"),
	ridge.CheckpointIsKept: fixed("a checkpoint is to be kept"),
	ridge.GramTooLarge: func(r ridge.Reason) string {
		return fmt.Sprintf("d² for d = %.0f takes more than %.0f MiB", r.Numbers[0], mib(r.Numbers[1]))
	},
	ridge.DualTooLarge: func(r ridge.Reason) string {
		return fmt.Sprintf("n² for n = %.0f takes more than %.0f MiB", r.Numbers[0], mib(r.Numbers[1]))
	},
	ridge.MemoryTooSmall: func(r ridge.Reason) string {
		return fmt.Sprintf("exact takes %.3g MiB, and %.3g are allowed", mib(r.Numbers[0]), mib(r.Numbers[1]))
	},
	ridge.DirectIsCheaper: func(r ridge.Reason) string {
		return fmt.Sprintf("d² numbers fit, and it is %.2g times the work of %v, which would make about a dozen passes", r.Numbers[0], r.Method)
	},
	ridge.DualIsCheaper: func(r ridge.Reason) string {
		return fmt.Sprintf("n² numbers fit, and it is %.2g times the work of %v, which would make about a dozen passes", r.Numbers[0], r.Method)
	},
	ridge.IterationIsCheaper: func(r ridge.Reason) string {
		return fmt.Sprintf("it is %.2g times the work of exact, if it makes about a dozen passes", r.Numbers[0])
	},
	ridge.ReadOnce:       fixed("the rows can be read once, and d² numbers fit"),
	ridge.ReadOnceDual:   fixed("the rows can be read once, and n² numbers fit"),
	ridge.NoRows:         fixed("there are no rows, but a sketch"),
	ridge.RefinesSummary: fixed("there is a sketch, and the rows to refine by"),
	ridge.SingularTo: func(r ridge.Reason) string {
		return fmt.Sprintf("to %v the system is numerically singular at gamma = %v, so QR has read the rows once more", r.Method, r.Numbers[0])
	},
	ridge.NotCertified: func(r ridge.Reason) string {
		return fmt.Sprintf("it is not certified to the tolerance at gamma = %v, so QR has read the rows once more", r.Numbers[0])
	},
	ridge.LeverageTakesPass: fixed("leave-one-out errors take a pass of their own, and one each time that the grid goes on"),
	ridge.GramIsHeld: func(r ridge.Reason) string {
		return leavesOpen(r) + "AᵀA itself is kept, so that round-off alone leaves it open"
	},
	ridge.GramWasComputed: func(r ridge.Reason) string {
		return leavesOpen(r) + "one pass more has computed AᵀA itself"
	},
	ridge.GramDoesNotFit: func(r ridge.Reason) string {
		return leavesOpen(r) + fmt.Sprintf("d² for d = %.0f takes too much memory for a pass that computes AᵀA itself, %.3g MiB", r.Numbers[1], mib(r.Numbers[2]))
	},
	ridge.GramCostsTooMuch: func(r ridge.Reason) string {
		return leavesOpen(r) + fmt.Sprintf("a pass that computes AᵀA itself would take %.2g times what is spent on a choice", r.Numbers[1])
	},
	ridge.CandidatesWereSolved: func(r ridge.Reason) string {
		return fmt.Sprintf("%.0f more have narrowed the training errors of those that are left open", r.Numbers[0])
	},
}

func fixed(text string) func(ridge.Reason) string { return func(ridge.Reason) string { return text } }

func mib(bytes float64) float64 { return bytes / (1 << 20) }

// leavesOpen says what the sketch leaves open of a choice.
func leavesOpen(r ridge.Reason) string {
	excess := r.Numbers[0]
	switch {
	case excess < 0:
		return "for the leverages, "
	case excess < 100:
		return fmt.Sprintf("the sketch leaves open that another gamma is better by %.2g %%, and ", 100*excess)
	}
	return "the sketch leaves open that another gamma is better by any factor, and "
}

// Words returns a reason in words, "" if there is none.
func Words(r ridge.Reason) string {
	words, ok := reasonWords[r.Rule]
	if !ok {
		return ""
	}
	return words(r)
}

// allWords returns several reasons in words.
func allWords(reasons []ridge.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, Words(r))
	}
	return strings.Join(out, "; ")
}

// methodReason returns why the method ran, in words.
func (f *Fit) methodReason() string {
	if f.solves() {
		return "" // it is whether --data was given
	}
	var out []string
	for _, s := range f.Found.Trace {
		why := Words(s.Reason)
		if why == "" || s.Err != nil || s.Stage != fdridge.Sketching && s.Stage != fdridge.Reading {
			continue
		}
		if s.Method == ridge.OneShot {
			why = "the rows can be read once, and " + why
		}
		if s.Stage == fdridge.Reading && len(out) > 0 && f.Found.Trace[0].Stage == fdridge.Sketching {
			out = []string{"the sketch's pass has counted the rows: " + why}
			continue
		}
		out = append(out, why)
	}
	return strings.Join(out, "; ")
}
