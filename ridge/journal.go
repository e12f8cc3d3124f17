package ridge

// A Journal keeps what the passes of a solve have found, for the same solve to go on
// from where it was interrupted. A solver's state is a function of what its passes
// return: started again, it is answered from the journal as far as that goes, and reads
// the data from the row on that the last pass had come to. The result is bit for bit
// that of a solve that was not interrupted.
//
// A pass that asks another question than the one recorded, as where a tolerance or
// the limit on passes was changed meanwhile, is made anew. The data have to be the
// same, and so the backend and the tuning for the same bits. Passes that a [Refresher]
// makes are its own and are made again.
type Journal interface {
	// Recorded returns the state that a pass, counted from 1, was recorded in last,
	// nil for none.
	Recorded(pass int) ([]byte, error)
	// Due reports whether the state of the pass under way is wanted. It is asked after
	// each block.
	Due() bool
	// Record takes the state of a pass: on the way when Due says so or the context is
	// cancelled, and at its end. It takes the place of what was recorded of this pass and
	// of later ones. An error ends the solve.
	Record(pass int, state []byte) error
}
