package ridge

import (
	"errors"
	"fmt"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Status says why a method stopped.
type Status int

const (
	// NotTerminated is the zero value, of a [Solution] that no method here has made.
	NotTerminated Status = iota
	// Converged says that every target is certified to the tolerance, by [DualCG] to 1e-12 where none
	// was given.
	Converged
	// ZeroSolution says that a target's AᵀY, and so its x*, is zero to round-off: no
	// relative error can be certified. All others are to the tolerance.
	ZeroSolution
	// OnePass is that of one-shot solutions, which have no tolerance.
	OnePass
	// Factorized is that of direct solutions by a factor, but for those that were to be certified to
	// a tolerance and are not: these have RoundOff.
	Factorized
	// RoundOff says that float64 certifies no smaller error for these data by this method.
	RoundOff
	// PassLimit says that MaxPasses did not suffice.
	PassLimit
	// Diverged says that the error grew without bound. The solution is the best that was
	// measured before, never worse certified than the one that the iteration began with.
	Diverged
	// Unsolved says that the method has no solution at some γ, which is left out: where γ = 0 and
	// columns depend on each other there is none.
	Unsolved
	// Unproved is that of one-shot solutions of which nothing is proved, see [Target.Proves].
	Unproved
)

// What [Status.Err] returns where a method has not solved the problem.
var (
	ErrRoundOff  = errors.New("ridge: round-off allows no smaller certified error")
	ErrPassLimit = errors.New("ridge: limit on passes reached")
	ErrDiverged  = errors.New("ridge: iteration diverged")
	ErrUnsolved  = errors.New("ridge: there is no solution at some gamma")
	ErrUnproved  = errors.New("ridge: one pass proves nothing of the weights")
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
	RoundOff:      {"round-off", "round-off: float64 certifies no smaller error for these data by this method", ErrRoundOff},
	PassLimit:     {"pass-limit", "the limit on passes", ErrPassLimit},
	Diverged:      {"diverged", "the iteration diverged: gamma is too small for this sketch", ErrDiverged},
	Unsolved:      {"unsolved", "there is no solution at some gamma", ErrUnsolved},
	Unproved:      {"unproved", "one pass, which proves nothing of these weights", ErrUnproved},
}

// String says it in words; "" for [NotTerminated]. What can be done is [Result.Remedies].
func (s Status) String() string {
	if s < 0 || int(s) >= len(statuses) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statuses[s].text
}

// Err is nil where the method did what was asked of it, or nothing has run; otherwise
// [ErrRoundOff], [ErrPassLimit], [ErrDiverged], [ErrUnsolved] or [ErrUnproved].
func (s Status) Err() error {
	if s < 0 || int(s) >= len(statuses) {
		return nil
	}
	return statuses[s].err
}

// MarshalText writes the name of a status, which stays the same whatever String says: "converged",
// "zero-solution", "one-pass", "factorized", "round-off", "pass-limit", "diverged", "unsolved", "unproved", "" for
// [NotTerminated].
func (s Status) MarshalText() ([]byte, error) {
	if s < 0 || int(s) >= len(statuses) {
		return nil, badinput.Errorf("ridge: %v is no status", s)
	}
	return []byte(statuses[s].name), nil
}

// UnmarshalText reads what MarshalText writes. Another text is [ErrInput].
func (s *Status) UnmarshalText(text []byte) error {
	for i := range statuses {
		if statuses[i].name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return badinput.Errorf("ridge: %q is no status", text)
}

// Worse returns the status of two solutions with status s and t: the last that missed what was asked, otherwise the last that is not plain
// success.
func (s Status) Worse(t Status) Status {
	if t.Err() != nil || s.Err() == nil && (s == NotTerminated || t == ZeroSolution) {
		return t
	}
	return s
}

// statusOf is why the iteration of a system stopped.
var statusOf = [...]Status{
	krylov.Iterating: NotTerminated, krylov.Reached: Converged, krylov.Zero: ZeroSolution, krylov.RoundOff: RoundOff,
	krylov.PassLimit: PassLimit, krylov.Diverged: Diverged,
}
