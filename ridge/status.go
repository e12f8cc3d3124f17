package ridge

import (
	"errors"
	"fmt"

	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Status says why a method stopped.
type Status int

const (
	// NotTerminated is the zero value, of a [Solution] that no method here has made.
	NotTerminated Status = iota
	// Converged says that every target is certified to the tolerance.
	Converged
	// ZeroSolution says that a target's AᵀY, and so its x*, is zero to round-off: no
	// relative error can be certified. All others are to the tolerance.
	ZeroSolution
	// OnePass is that of one-shot solutions, which have no tolerance.
	OnePass
	// Factorized is that of direct solutions, which have none either.
	Factorized
	// RoundOff says that float64 certifies no smaller error for these data.
	RoundOff
	// PassLimit says that MaxPasses did not suffice.
	PassLimit
	// Diverged says that the error grew without bound.
	Diverged
)

// What [Status.Err] returns where a method has not solved the problem.
var (
	ErrRoundOff  = errors.New("ridge: round-off allows no smaller certified error")
	ErrPassLimit = errors.New("ridge: limit on passes reached")
	ErrDiverged  = errors.New("ridge: iteration diverged")
)

var statuses = [...]struct {
	text string
	err  error
}{
	NotTerminated: {"", nil},
	Converged:     {"certified to the tolerance", nil},
	ZeroSolution:  {"the solution is zero, to round-off", nil},
	OnePass:       {"one pass", nil},
	Factorized:    {"direct factorisation", nil},
	RoundOff:      {"round-off: float64 certifies no smaller error for these data; standardise the features or raise gamma", ErrRoundOff},
	PassLimit:     {"the limit on passes", ErrPassLimit},
	Diverged:      {"the iteration diverged: gamma is too small for this sketch; enlarge the sketch or use cg", ErrDiverged},
}

// String says it in words, with advice where there is any; "" for [NotTerminated].
func (s Status) String() string {
	if s < 0 || int(s) >= len(statuses) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statuses[s].text
}

// Err is nil where the method did what was asked of it, or nothing has run; otherwise
// [ErrRoundOff], [ErrPassLimit] or [ErrDiverged].
func (s Status) Err() error {
	if s < 0 || int(s) >= len(statuses) {
		return nil
	}
	return statuses[s].err
}

// statusOf is why the iteration of a system stopped.
var statusOf = [...]Status{
	krylov.Iterating: NotTerminated, krylov.Reached: Converged, krylov.Zero: ZeroSolution, krylov.RoundOff: RoundOff,
	krylov.PassLimit: PassLimit, krylov.Diverged: Diverged,
}
