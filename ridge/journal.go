package ridge

// A Journal stores the results of the passes of a solve, so that an interrupted solve can continue. The restarted solve
// takes the results of recorded passes from the journal. It then reads the data from the row at which the last pass was
// interrupted. The result is the same, bit for bit, as without the interruption.
//
// The restarted solve must read the same data. It needs the same backend and tuning for the same bits. If a tolerance
// or the limit on passes was changed, a pass may request other products than the recorded pass; such a pass is
// repeated. Passes of a [Refresher] are not recorded.
type Journal interface {
	// Recorded returns the last recorded state of the given pass, or nil. Passes count from 1.
	Recorded(pass int) ([]byte, error)
	// Due reports whether the state of the current pass should be recorded now. It is called after each block.
	Due() bool
	// Record stores the state of a pass. It is called when Due returns true, at the end of the pass, and when the
	// context is cancelled. The state replaces every record of this pass, and of later passes that an earlier run made. An error ends the
	// solve.
	Record(pass int, state []byte) error
}
