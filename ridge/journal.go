package ridge

// A Journal stores the results of the passes of a solve, so that an interrupted solve can be restarted. The
// restarted solve takes the results of completed passes from the journal. It resumes the interrupted pass at the
// row where the pass stopped. If the data, the backend and the tuning are unchanged, the solution has the same bits
// as without the interruption.
//
// A pass multiplies vectors by AᵀA. These vectors may change with the tolerance or the limit on passes. So the
// journal records a hash of the vectors of each pass. If this hash differs from the hash in the restarted solve,
// the pass is repeated. Passes of a [Refresher] are not recorded.
type Journal interface {
	// Recorded returns the last recorded state of the given pass, or nil if the pass has no record. The first pass
	// has the number 1.
	Recorded(pass int) ([]byte, error)
	// Due reports whether the state of the current pass should be recorded now. The solver calls Due after each block.
	Due() bool
	// Record stores the state of a pass. The solver calls it when Due returns true, at the end of the pass, and
	// when the context is cancelled. The new state replaces the earlier record of this pass. Record also removes
	// all records of later passes, because they come from an earlier run. If Record returns an error, the solve
	// ends with it.
	Record(pass int, state []byte) error
}
