package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// fixedWords describes the reasons whose words contain no numbers.
var fixedWords = map[reason.Rule]string{
	reason.LeastSquares:       "gamma = 0 is least squares, which only direct methods solve",
	reason.RanksShareRows:     "several ranks share the rows",
	reason.TargetsNeedSummary: "each target has a gamma of its own",
	reason.BandsNeedSketch:    "the penalties of bands are chosen from a sketch",
	reason.FoldsNeedSketch:    "gamma is chosen from sketches of the folds",
	reason.SketchIsKept:       "--save-sketch writes a sketch, and direct methods make none",
	reason.CheckpointIsKept:   "--checkpoint stores a sketch, and direct methods make none",
	reason.SparseRows:         "the rows are sparse and fewer than the features, and n² numbers do not fit into memory",
	reason.SparseLeverages: "the rows are sparse, and leave-one-out errors need their leverages, " +
		"which a sketch hardly knows",
	reason.ReadOnce:          "the rows can be read only once, and d² numbers fit into memory",
	reason.ReadOnceDual:      "the rows can be read only once, and n² numbers fit into memory",
	reason.NoRows:            "there is a sketch, but no --data",
	reason.RefinesSummary:    "there is a sketch, and --data refines the solution",
	reason.LeverageTakesPass: "a pass computes leave-one-out errors",
}

func mib(bytes float64) float64 { return bytes / (1 << 20) }

// possibleGain states by how much another penalty γ may be better. The text is the beginning of a sentence.
func possibleGain(r reason.Reason) string {
	excess := r.Numbers[0]
	switch {
	case excess < 0:
		return "leave-one-out errors need AᵀA to be precise, and "
	case excess < 100:
		return fmt.Sprintf("by the sketch alone another gamma may be better by %.2g %%, and ", 100*excess)
	}
	return "by the sketch alone another gamma may be better by any factor, and "
}

// Words describes a reason in words. If r is the zero value, which means no reason, it returns "".
func Words(r reason.Reason) string {
	switch r.Rule {
	case reason.GramTooLarge:
		return fmt.Sprintf("d² numbers for d = %.0f need more than %.0f MiB", r.Numbers[0], mib(r.Numbers[1]))
	case reason.DualTooLarge:
		return fmt.Sprintf("n² numbers for n = %.0f need more than %.0f MiB", r.Numbers[0], mib(r.Numbers[1]))
	case reason.MemoryTooSmall:
		return fmt.Sprintf("exact needs %.3g MiB, the limit is %.3g MiB", mib(r.Numbers[0]), mib(r.Numbers[1]))
	case reason.DirectIsCheaper:
		return fmt.Sprintf("%s of the work of 12 %v passes, and AᵀA fits into memory", percent(r.Numbers[0]), r.Method)
	case reason.DualIsCheaper:
		return fmt.Sprintf("%s of the work of 12 %v passes, and AAᵀ fits into memory", percent(r.Numbers[0]), r.Method)
	case reason.IterationIsCheaper:
		return fmt.Sprintf("12 passes need %s of the work of exact", percent(r.Numbers[0]))
	case reason.SingularTo:
		return fmt.Sprintf(
			"%v found the system numerically singular at gamma = %v, so QR read the rows once more",
			r.Method,
			r.Numbers[0],
		)
	case reason.NotCertified:
		return fmt.Sprintf(
			"the first factorisation missed the tolerance at gamma = %v, so QR read the rows once more",
			r.Numbers[0],
		)
	case reason.LeftOutTakesQR:
		return fmt.Sprintf(
			"QR read the rows once more, because AᵀA does not determine the scores of %.0f small gamma",
			r.Numbers[0],
		)
	case reason.GramIsHeld:
		return possibleGain(r) + "AᵀA is stored, so only round-off is left"
	case reason.GramWasComputed:
		if r.Numbers[0] < 0 {
			return "1 computed AᵀA, which makes these errors precise"
		}
		return possibleGain(r) + "1 pass computed AᵀA"
	case reason.GramDoesNotFit:
		return possibleGain(
			r,
		) + fmt.Sprintf(
			"AᵀA does not fit into memory (d = %.0f, %.3g MiB)",
			r.Numbers[1],
			mib(r.Numbers[2]),
		)
	case reason.GramCostsTooMuch:
		return possibleGain(
			r,
		) + fmt.Sprintf(
			"a pass that computes AᵀA would cost %.2g times the limit for a choice",
			r.Numbers[1],
		)
	case reason.CandidatesWereSolved:
		return fmt.Sprintf("%.0f more passes narrowed the training errors of the possible candidates", r.Numbers[0])
	}
	return fixedWords[r.Rule]
}

// describeSpent states why passes over the rows were made to choose the penalty γ, or why no pass was made.
func describeSpent(by choose.Criterion, passes int, spent []reason.Reason) string {
	var out []string
	leftOut := passes // number of passes that computed leave-one-out errors
	for _, r := range spent {
		switch r.Rule {
		case reason.LeverageTakesPass:
			continue
		case reason.GramWasComputed, reason.LeftOutTakesQR:
			leftOut--
		}
		out = append(out, Words(r))
	}
	if by.Needs().Pass && leftOut > 0 {
		text := fmt.Sprint(leftOut)
		if leftOut == passes {
			text = plural(leftOut, "it", "they")
		}
		text += " computed leave-one-out errors"
		if leftOut > 1 {
			text += ", for the grid and its extensions"
		}
		out = append([]string{text}, out...)
	}
	return strings.Join(out, "; ")
}

// methodReason states in words why the method was used.
func (f *Fit) methodReason() string {
	if f.isSolve() {
		return "" // the method depends only on whether --data is given
	}
	var out []string
	for _, s := range f.Found.Trace {
		why := Words(s.Reason)
		if why == "" ||
			slices.Contains(out, why) ||
			s.Err != nil ||
			s.Stage != fdridge.Sketching && s.Stage != fdridge.Reading {
			continue
		}
		if s.Method == ridge.OneShot {
			why = "the rows can be read only once, and " + why
		}
		if s.Stage == fdridge.Reading &&
			len(out) > 0 &&
			slices.ContainsFunc(f.Found.Trace, func(t fdridge.Step) bool {
				return t.Stage == fdridge.Sketching
			}) {
			out = []string{"chosen after the sketch's pass counted the rows: " + why}
			continue
		}
		out = append(out, why)
	}
	return strings.Join(out, "; ")
}
