// Package reason describes why a fit made its choices. A reason is a rule and the numbers that the rule compared.
package reason

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/errtext"
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
	// RanksShareRows: several processes share the rows. Each process then needs a sketch.
	RanksShareRows
	// TargetsNeedSummary: each target has its own penalty γ, and these penalties are chosen from a summary of the
	// rows.
	TargetsNeedSummary
	// BandsNeedSketch: groups of columns have different penalties, and these penalties are chosen from a sketch.
	BandsNeedSketch
	// FoldsNeedSketch: cross-validation needs a sketch of each fold.
	FoldsNeedSketch
	// SketchIsKept: the caller wants the summary.
	SketchIsKept
	// CheckpointIsKept: a journal stores the state of the passes.
	CheckpointIsKept
	// GramTooLarge: the matrix AᵀA of the rows A is too large. It is d×d for d features. Numbers holds d and the
	// limit in bytes.
	GramTooLarge
	// DualTooLarge: the matrix AAᵀ of the rows A is too large. It is n×n for n rows. Numbers holds n and the limit
	// in bytes.
	DualTooLarge
	// MemoryTooSmall: a direct method needs more memory than the option MaxBytes permits. Numbers holds the number
	// of bytes needed, and MaxBytes.
	MemoryTooSmall
	// DirectIsCheaper: factoring AᵀA costs at most twice as much as 12 passes of the iteration in the field Method.
	// The rule allows twice the cost, because an iteration may need more than 12 passes. Numbers holds the cost of
	// factoring divided by the cost of the passes.
	DirectIsCheaper
	// DualIsCheaper: factoring AAᵀ costs at most twice as much as 12 passes of the iteration in the field Method.
	// The rule allows twice the cost, because an iteration may need more than 12 passes. Numbers holds the cost of
	// factoring divided by the cost of the passes.
	DualIsCheaper
	// IterationIsCheaper: 12 passes of an iteration cost less than half as much as a direct method. Numbers holds
	// the cost of the passes divided by the cost of the direct method.
	IterationIsCheaper
	// SparseRows: the rows A are sparse, there are fewer rows than features, and AAᵀ is too large. So DualCG was
	// chosen, which does not compute AAᵀ.
	SparseRows
	// SparseLeverages: leave-one-out errors need the leverages of the rows A, and the rows are sparse. So DualCG
	// was chosen. It brackets leverages by trial vectors and does not compute AAᵀ.
	SparseLeverages
	// ReadOnce: the rows A can be read only once, and AᵀA fits in memory. So a direct method was chosen, which
	// needs only one pass.
	ReadOnce
	// ReadOnceDual: the rows A can be read only once, there are fewer rows than features, and AAᵀ fits in memory.
	// So a direct method was chosen, which needs only one pass.
	ReadOnceDual
	// NoRows: there is a summary but no source to read rows from.
	NoRows
	// RefinesSummary: there are a summary and a source of its rows. So the solution of the summary is refined by
	// passes over the source.
	RefinesSummary

	// SingularTo: the system is singular for the method in the field Method at a penalty γ. So QR reads the rows
	// again. Numbers holds γ.
	SingularTo
	// NotCertified: the method in the field Method misses the tolerance at a penalty γ. So QR reads the rows again.
	// Numbers holds γ.
	NotCertified
	// Unsolvable: the system is singular for the method in the field Method at a penalty γ. Numbers holds γ.
	Unsolvable
	// TooLarge: the method in the field Method needs more memory than the option MaxBytes permits. Numbers holds
	// the number of bytes needed, and MaxBytes.
	TooLarge

	// LeverageTakesPass: the leave-one-out errors of all penalties of a grid need one pass over the rows. Each
	// extension of the grid needs another pass.
	LeverageTakesPass
	// LeftOutTakesQR: small penalties γ were left out, because the computed AᵀA does not determine their scores. QR
	// may determine them, so it reads the rows again. Numbers[0] is the number of these γ.
	LeftOutTakesQR
	// GramIsHeld: the summary holds AᵀA itself, so only round-off can make the choice of the penalty γ uncertain.
	// Numbers[0] is the relative excess of the choice, see the methods choose.GammaChoice.RelativeExcess and
	// choose.Choice.RelativeExcess. For leave-one-out errors it is −1.
	GramIsHeld
	// GramWasComputed: one more pass computed AᵀA. Numbers[0] is choose.Choice.RelativeExcess.
	GramWasComputed
	// GramCostsTooMuch: a pass over the rows A that computes AᵀA costs too much. Numbers[0] is the relative excess
	// of the choice, as in [GramIsHeld]. Numbers[1] is the cost of the pass divided by the limit.
	GramCostsTooMuch
	// GramDoesNotFit: a pass over the rows A that computes AᵀA needs too much memory. Numbers[0] is the relative
	// excess of the choice, as in [GramIsHeld]. Numbers[1] is the number of features, and Numbers[2] the number of
	// bytes needed.
	GramDoesNotFit
	// CandidatesWereSolved: further passes solved the problem for those penalties that could still be the best
	// choice. Numbers holds the number of passes.
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
		return errtext.BadInput("reason: %q is not a rule", text)
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
