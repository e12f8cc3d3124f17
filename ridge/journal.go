package ridge

// A Journal stores the results of the passes of a solve, so that an interrupted solve can be restarted. The restarted
// solve takes the results of completed passes from the journal. It resumes the interrupted pass at the row where the
// pass stopped. Its solution has the same bits as without the interruption, if the data, the backend and the tuning are
// the same.
//
// A change of the tolerance or of the limit on passes may change the vectors that a pass multiplies. The journal
// records a hash of these vectors. If a recorded pass multiplied other vectors than the solve needs now, the pass is
// repeated. Passes of a [Refresher] are not recorded.
type Journal interface {
	// Recorded returns the last recorded state of the given pass, or nil. Passes count from 1.
	Recorded(pass int) ([]byte, error)
	// Due reports whether the state of the current pass should be recorded now. The solver calls Due after each block.
	Due() bool
	// Record stores the state of a pass. The solver calls it when Due returns true, at the end of the pass, and when the
	// context is cancelled. The new state replaces the earlier record of this pass. Record also removes all records of
	// later passes, because an earlier run has left them. An error ends the solve.
	Record(pass int, state []byte) error
}
