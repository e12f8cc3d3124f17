package ridge

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/badinput"
)

// A Reason tells why a step of a fit was taken: a rule and the numbers that it was applied to.
type Reason struct {
	Rule    Rule
	Numbers []float64 // as the rule's comment lists them
	Method  Method    // the method that the rule compares with, if it names one
}

// A Rule is a rule by which a fit chooses what to do.
type Rule uint8

const (
	// Asked: the caller named the method.
	Asked Rule = iota

	// LeastSquares: γ = 0 can only be solved directly.
	LeastSquares
	// RanksShareRows: several processes share the rows, so that each needs a sketch.
	RanksShareRows
	// BandsNeedSketch: the penalties of bands are chosen from a sketch.
	BandsNeedSketch
	// FoldsNeedSketch: cross-validation keeps a sketch of each fold.
	FoldsNeedSketch
	// SketchIsKept: the caller wants the summary.
	SketchIsKept
	// CheckpointIsKept: a journal keeps the state of the passes.
	CheckpointIsKept
	// GramTooLarge: d² (or n²) numbers take too much memory. Numbers: d (or n), the limit in bytes.
	GramTooLarge
	// DualTooLarge is GramTooLarge for n².
	DualTooLarge
	// MemoryTooSmall: a direct method needs more than MaxBytes. Numbers: bytes needed, MaxBytes.
	MemoryTooSmall
	// DirectIsCheaper: factoring costs at most twice what the iteration Method does. Numbers: the ratio.
	DirectIsCheaper
	// DualIsCheaper is DirectIsCheaper for a factorisation of AAᵀ.
	DualIsCheaper
	// IterationIsCheaper: the iteration costs less than half of what factoring does. Numbers: the ratio.
	IterationIsCheaper
	// ReadOnce: the rows can be read only once, and d² numbers fit.
	ReadOnce
	// ReadOnceDual is ReadOnce for n².
	ReadOnceDual
	// NoRows: there is a summary and no source of rows.
	NoRows
	// RefinesSummary: there are a summary and the rows to refine by.
	RefinesSummary

	// SingularTo: the system is singular to Method at a γ, and QR reads the rows once more. Numbers: γ.
	SingularTo
	// NotCertified: Method does not certify the tolerance at a γ, and QR reads the rows once more. Numbers: γ.
	NotCertified
	// Unsolvable: the system is singular to Method. Numbers: γ.
	Unsolvable
	// TooLarge: Method needs more memory than MaxBytes. Numbers: bytes needed, MaxBytes.
	TooLarge

	// LeverageTakesPass: leave-one-out errors take one pass, and one more each time the grid is extended.
	LeverageTakesPass
	// GramIsHeld: AᵀA itself is known, so that round-off alone leaves the choice open. Numbers: the relative excess that is left open, -1
	// for leave-one-out errors: nothing is known of them before the pass.
	GramIsHeld
	// GramWasComputed: one more pass computed AᵀA. Numbers: the excess.
	GramWasComputed
	// GramCostsTooMuch: a pass that computes AᵀA costs too much. Numbers: the excess, the cost over the limit.
	GramCostsTooMuch
	// GramDoesNotFit: a pass that computes AᵀA needs too much memory. Numbers: the excess, d, bytes needed.
	GramDoesNotFit
	// CandidatesWereSolved: more passes solved for the γ that were left open. Numbers: passes.
	CandidatesWereSolved
)

var ruleNames = [...]string{
	Asked:                "asked",
	LeastSquares:         "least-squares",
	RanksShareRows:       "ranks-share-rows",
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
	ReadOnce:             "read-once",
	ReadOnceDual:         "read-once-dual",
	NoRows:               "no-rows",
	RefinesSummary:       "refines-summary",
	SingularTo:           "singular-to",
	NotCertified:         "not-certified",
	Unsolvable:           "unsolvable",
	TooLarge:             "too-large",
	LeverageTakesPass:    "leverage-takes-pass",
	GramIsHeld:           "gram-is-held",
	GramWasComputed:      "gram-was-computed",
	GramCostsTooMuch:     "gram-costs-too-much",
	GramDoesNotFit:       "gram-does-not-fit",
	CandidatesWereSolved: "candidates-were-solved",
}

// String returns the name, as "direct-is-cheaper".
func (r Rule) String() string {
	if int(r) >= len(ruleNames) {
		return fmt.Sprintf("Rule(%d)", int(r))
	}
	return ruleNames[r]
}

// MarshalText returns the name.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name.
func (r *Rule) UnmarshalText(text []byte) error {
	i := slices.Index(ruleNames[:], string(text))
	if i < 0 {
		return badinput.Errorf("ridge: %q is not a rule", text)
	}
	*r = Rule(i)
	return nil
}

// reasonJSON is a [Reason] as it is written.
type reasonJSON struct {
	Rule    Rule       `json:"rule"`
	Numbers []*float64 `json:"numbers,omitempty"`
	Method  Method     `json:"method"`
}

// MarshalJSON writes rule, numbers, null for +Inf, and method.
func (r Reason) MarshalJSON() ([]byte, error) {
	out := reasonJSON{Rule: r.Rule, Method: r.Method}
	for _, v := range r.Numbers {
		out.Numbers = append(out.Numbers, finite(v))
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Reason) UnmarshalJSON(text []byte) error {
	var in reasonJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*r = Reason{Rule: in.Rule, Method: in.Method}
	for _, v := range in.Numbers {
		r.Numbers = append(r.Numbers, or(v, math.Inf(1)))
	}
	return nil
}

// or returns *v, or missing if v is nil.
func or(v *float64, missing float64) float64 {
	if v == nil {
		return missing
	}
	return *v
}
