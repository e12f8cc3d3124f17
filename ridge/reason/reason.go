// Package reason has the reasons for choices made during a fit: a rule and the numbers that the rule compared.
package reason

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/ridge"
)

// A Reason explains a choice made during a fit. It holds the rule that decided and the numbers that the rule compared.
type Reason struct {
	Rule    Rule
	Numbers []float64    // each Rule describes them
	Method  ridge.Method // the method that the rule compares with, if any
}

// A Rule is a rule by which a fit chooses its method or decides about a further pass.
type Rule uint8

const (
	// Asked: the caller named the method.
	Asked Rule = iota

	// LeastSquares: γ = 0 can only be solved directly.
	LeastSquares
	// RanksShareRows: several processes share the rows, so each process needs a sketch.
	RanksShareRows
	// TargetsNeedSummary: each target has its own γ, and these γ are chosen from a summary.
	TargetsNeedSummary
	// BandsNeedSketch: the penalties of groups of columns are chosen from a sketch.
	BandsNeedSketch
	// FoldsNeedSketch: cross-validation needs a sketch of each fold.
	FoldsNeedSketch
	// SketchIsKept: the caller wants the summary.
	SketchIsKept
	// CheckpointIsKept: a journal stores the state of the passes.
	CheckpointIsKept
	// GramTooLarge: the d×d matrix AᵀA is too large. Numbers holds d and the limit in bytes.
	GramTooLarge
	// DualTooLarge: the n×n matrix AAᵀ is too large. Numbers holds n and the limit in bytes.
	DualTooLarge
	// MemoryTooSmall: a direct method needs more than MaxBytes. Numbers holds the bytes needed and MaxBytes.
	MemoryTooSmall
	// DirectIsCheaper: factoring AᵀA costs at most twice as much as 12 passes of Method. The rule allows twice the
	// cost, because an iteration may need more than 12 passes. Numbers holds the cost of factoring divided by the cost
	// of the passes.
	DirectIsCheaper
	// DualIsCheaper: factoring AAᵀ costs at most twice as much as 12 passes of Method. The rule allows twice the cost,
	// because an iteration may need more than 12 passes. Numbers holds the cost of factoring divided by the cost of the
	// passes.
	DualIsCheaper
	// IterationIsCheaper: 12 passes of an iteration cost less than half as much as factoring. Numbers holds the cost of
	// the passes divided by the cost of factoring.
	IterationIsCheaper
	// SparseRows: there are fewer rows than features, the n×n matrix AAᵀ is too large, and the rows are sparse. So
	// DualCG was chosen, which does not form AAᵀ.
	SparseRows
	// SparseLeverages: leave-one-out errors need the leverages of the rows, and the rows are sparse. So DualCG was
	// chosen, which brackets leverages by trial vectors and does not form AAᵀ.
	SparseLeverages
	// ReadOnce: the rows can be read only once, and the d×d matrix AᵀA fits in memory.
	ReadOnce
	// ReadOnceDual: the rows can be read only once, and the n×n matrix AAᵀ fits in memory.
	ReadOnceDual
	// NoRows: there is a summary but no source to read rows from.
	NoRows
	// RefinesSummary: there is a summary and a source of its rows, so passes refine the summary's solution.
	RefinesSummary

	// SingularTo: the system is singular for Method at a γ, so QR reads the rows again. Numbers holds γ.
	SingularTo
	// NotCertified: Method misses the tolerance at a γ, so QR reads the rows again. Numbers holds γ.
	NotCertified
	// Unsolvable: the system is singular for Method. Numbers holds γ.
	Unsolvable
	// TooLarge: Method needs more memory than MaxBytes. Numbers holds the bytes needed and MaxBytes.
	TooLarge

	// LeverageTakesPass: the leave-one-out errors of all γ of a grid need one pass, and each extension of the grid needs
	// one more.
	LeverageTakesPass
	// LeftOutTakesQR: small γ were left out, because AᵀA does not determine their scores. QR may determine them, so it
	// reads the rows again. Numbers[0] is the number of these γ.
	LeftOutTakesQR
	// GramIsHeld: the summary holds AᵀA itself, so only round-off can make the choice of γ uncertain. Numbers[0] is
	// choose.Choice.RelativeExcess, or −1 for leave-one-out errors.
	GramIsHeld
	// GramWasComputed: one more pass computed AᵀA. Numbers[0] is choose.Choice.RelativeExcess.
	GramWasComputed
	// GramCostsTooMuch: a pass that computes AᵀA costs too much. Numbers[0] is choose.Choice.RelativeExcess, and
	// Numbers[1] is the cost divided by the limit.
	GramCostsTooMuch
	// GramDoesNotFit: a pass that computes AᵀA needs too much memory. Numbers[0] is choose.Choice.RelativeExcess,
	// Numbers[1] is d, and Numbers[2] is the number of bytes needed.
	GramDoesNotFit
	// CandidatesWereSolved: further passes solved for the γ that could still be best. Numbers holds the number of passes.
	CandidatesWereSolved
)

var ruleNames = [...]string{
	Asked:                "asked",
	LeastSquares:         "least-squares",
	RanksShareRows:       "ranks-share-rows",
	TargetsNeedSummary:   "targets-need-summary",
	BandsNeedSketch:      "bands-need-sketch",
	FoldsNeedSketch:      "folds-need-sketch",
	SketchIsKept:         "sketch-is-kept",
	CheckpointIsKept:     "checkpoint-is-kept",
	GramTooLarge:         "gram-too-large",
	DualTooLarge:         "dual-too-large",
	MemoryTooSmall:       "memory-too-small",
	DirectIsCheaper:      "direct-is-cheaper",
	DualIsCheaper:        "dual-is-cheaper",
	IterationIsCheaper:   "iteration-is-cheaper",
	SparseRows:           "sparse-rows",
	SparseLeverages:      "sparse-leverages",
	ReadOnce:             "read-once",
	ReadOnceDual:         "read-once-dual",
	NoRows:               "no-rows",
	RefinesSummary:       "refines-summary",
	SingularTo:           "singular-to",
	NotCertified:         "not-certified",
	Unsolvable:           "unsolvable",
	TooLarge:             "too-large",
	LeverageTakesPass:    "leverage-takes-pass",
	LeftOutTakesQR:       "left-out-takes-qr",
	GramIsHeld:           "gram-is-held",
	GramWasComputed:      "gram-was-computed",
	GramCostsTooMuch:     "gram-costs-too-much",
	GramDoesNotFit:       "gram-does-not-fit",
	CandidatesWereSolved: "candidates-were-solved",
}

// String returns the name, such as "direct-is-cheaper".
func (r Rule) String() string {
	if int(r) >= len(ruleNames) {
		return fmt.Sprintf("Rule(%d)", int(r))
	}
	return ruleNames[r]
}

// MarshalText returns the name.
func (r Rule) MarshalText() ([]byte, error) {
	return []byte(r.String()), nil
}

// UnmarshalText reads a name.
func (r *Rule) UnmarshalText(text []byte) error {
	i := slices.Index(ruleNames[:], string(text))
	if i < 0 {
		return badinput.Errorf("reason: %q is not a rule", text)
	}
	*r = Rule(i)
	return nil
}

// reasonJSON is the JSON form of a [Reason].
type reasonJSON struct {
	Rule    Rule         `json:"rule"`
	Numbers []*float64   `json:"numbers,omitempty"`
	Method  ridge.Method `json:"method"`
}

// MarshalJSON writes rule, numbers (null for +Inf) and method.
func (r Reason) MarshalJSON() ([]byte, error) {
	out := reasonJSON{Rule: r.Rule, Method: r.Method}
	for i := range r.Numbers {
		if v := &r.Numbers[i]; math.IsNaN(*v) || math.IsInf(*v, 0) {
			out.Numbers = append(out.Numbers, nil)
		} else {
			out.Numbers = append(out.Numbers, v)
		}
	}
	return jsonfields.Value(out)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (r *Reason) UnmarshalJSON(text []byte) error {
	var in reasonJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*r = Reason{Rule: in.Rule, Method: in.Method}
	infinite := math.Inf(1)
	for _, v := range in.Numbers {
		if v == nil {
			v = &infinite
		}
		r.Numbers = append(r.Numbers, *v)
	}
	return nil
}
