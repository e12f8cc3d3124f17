package dataset

import (
	"sync"
	"sync/atomic"
)

// A Tally counts over all passes what was done to rows that were read.
type Tally struct {
	Filled  atomic.Int64 // values that were missing, and had the mean put in their place
	Dropped atomic.Int64 // rows that were left out
	Unknown atomic.Int64 // values of levels that were not learnt

	mutex   sync.Mutex
	unknown map[unknownLevel]struct{}
}

// An unknownLevel is a text that is none of the levels of a category; "" is a missing value.
type unknownLevel struct {
	category int
	text     string
}

// UnknownLevels is how many different levels those values had that Unknown counts of the rows of
// sources; the texts of rows at hand ([RowEncoder.Texts]) have no end, and are not kept. At most 2²⁰
// are counted.
func (t *Tally) UnknownLevels() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.unknown)
}

// meet takes note of a level that was not learnt.
func (t *Tally) meet(category int, text string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.unknown == nil {
		t.unknown = map[unknownLevel]struct{}{}
	}
	if len(t.unknown) < mostLevels {
		t.unknown[unknownLevel{category, text}] = struct{}{}
	}
}
