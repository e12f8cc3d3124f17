package ridge

import (
	"errors"
	"fmt"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Status is the reason why a method stopped.
type Status int

const (
	// NotTerminated is the zero value. It means that no method of this package has computed the [Solution].
	NotTerminated Status = iota
	// Converged: every target is certified to the tolerance.
	Converged
	// ZeroSolution: the exact solution for some target is zero up to round-off, so that no relative error can be
	// proved. For all other targets, the error is proved to be within the tolerance.
	ZeroSolution
	// OnePass: the solution was computed from the sketch of one pass. This method has no tolerance.
	OnePass
	// Factorized: a direct method solved the system by a factorisation. If a tolerance was given, the method met
	// it.
	Factorized
	// RoundOff: because of the round-off of float64 arithmetic, the method cannot prove an error within the
	// tolerance.
	RoundOff
	// PassLimit: MaxPasses passes did not reach the tolerance.
	PassLimit
	// Diverged: the error grew without bound. The solution is the iterate with the smallest error bound.
	Diverged
	// Unsolved: for some penalty γ, the system has no unique solution. There is no Solution for this γ. This
	// happens with γ = 0 if columns are linearly dependent.
	Unsolved
	// Unproved: the solution was computed in one pass, and its error bound is too large to prove anything, see
	// [Target.Proves].
	Unproved
	// MinimumNorm: the penalty is 0, and some columns depend on others up to round-off. The solution is the
	// least-squares solution of smallest norm. The coefficients have no error bound, because the rank of the rows
	// is not proved. The bracket of the residual sum of squares is proved.
	MinimumNorm
)

// The errors that [Status.Err] returns.
var (
	ErrRoundOff  = errors.New("ridge: round-off allows no smaller certified error")
	ErrPassLimit = errors.New("ridge: limit on passes reached")
	ErrDiverged  = errors.New("ridge: iteration diverged")
	ErrUnsolved  = errors.New("ridge: there is no solution at some gamma")
	ErrUnproved  = errors.New("ridge: one pass proves nothing of the weights")
	ErrDependent = errors.New("ridge: columns depend on each other, so that the solution at gamma = 0 is not unique")
)

var statuses = [...]struct {
	name, text string
	err        error
}{
	NotTerminated: {"", "", nil},
	Converged:     {"converged", "certified to the tolerance", nil},
	ZeroSolution:  {"zero-solution", "the solution is zero, to round-off", nil},
	OnePass:       {"one-pass", "one pass", nil},
	Factorized:    {"factorized", "direct factorisation", nil},
	RoundOff: {
		"round-off",
		"round-off: float64 certifies no smaller error for these data by this method",
		ErrRoundOff,
	},
	PassLimit: {"pass-limit", "the limit on passes", ErrPassLimit},
	Diverged:  {"diverged", "the iteration diverged: gamma is too small for this sketch", ErrDiverged},
	Unsolved:  {"unsolved", "there is no solution at some gamma", ErrUnsolved},
	Unproved:  {"unproved", "one pass, which proves nothing of these weights", ErrUnproved},
	MinimumNorm: {
		"minimum-norm",
		"columns depend on each other within round-off: the minimum-norm solution",
		ErrDependent,
	},
}

// String returns a description of the status, or "" for [NotTerminated]. To find out what to change after a
// failure, call fdridge.Result.Remedies.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statuses) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statuses[s].text
}

// Err returns nil if the method succeeded or the status is [NotTerminated]. Otherwise it returns [ErrRoundOff],
// [ErrPassLimit], [ErrDiverged], [ErrUnsolved], [ErrUnproved] or [ErrDependent].
func (s Status) Err() error {
	if s < 0 || int(s) >= len(statuses) {
		return nil
	}
	return statuses[s].err
}

// MarshalText returns the name of the status: "converged", "zero-solution", "one-pass", "factorized", "round-off",
// "pass-limit", "diverged", "unsolved", "unproved", "minimum-norm", or "" for [NotTerminated]. These names never
// change. The descriptions that String returns may change.
func (s Status) MarshalText() ([]byte, error) {
	if s < 0 || int(s) >= len(statuses) {
		return nil, errtext.BadInput("ridge: %v is no status", s)
	}
	return []byte(statuses[s].name), nil
}

// UnmarshalText reads the output of MarshalText. For any other text the error is [ErrInput].
func (s *Status) UnmarshalText(text []byte) error {
	for i := range statuses {
		if statuses[i].name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return errtext.BadInput("ridge: %q is no status", text)
}

// Worse returns the status of a solve whose two parts ended with s and t:
//
//   - t, if both are failures
//   - the failure, if one of them is a failure
//   - [ZeroSolution], if both are successes and one of them is ZeroSolution
func (s Status) Worse(t Status) Status {
	if t.Err() != nil || s.Err() == nil && (s == NotTerminated || t == ZeroSolution) {
		return t
	}
	return s
}

// statusOf maps the status of an iteration to a Status.
var statusOf = [...]Status{
	krylov.Iterating: NotTerminated,
	krylov.Reached:   Converged,
	krylov.Zero:      ZeroSolution,
	krylov.RoundOff:  RoundOff,
	krylov.PassLimit: PassLimit,
	krylov.Diverged:  Diverged,
}
