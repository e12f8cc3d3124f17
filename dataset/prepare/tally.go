package prepare

import (
	"context"
	"sync"
	"sync/atomic"
)

// A Tally counts what an [Encoding] did to the rows. If several passes encode a row, the row is counted once.
type Tally struct {
	Filled  atomic.Int64 // missing values replaced by another value, foreign cells included
	Foreign atomic.Int64 // cells of a wrong type, such as a text in a column of numbers
	Dropped atomic.Int64 // rows left out
	Unknown atomic.Int64 // values whose level was not learnt

	mutex   sync.Mutex
	unknown map[unknownLevel]struct{}
}

// An unknownLevel is a level of a column that the encoding does not know. The text "" stands for missing values.
type unknownLevel struct {
	column int
	text   string
}

// Pool adds up the counts over all processes. Every process must call Pool. reduce replaces each number in sums by
// its sum over the processes, for example Allreduce of a [ridge.Reducer]. If there is a single process, reduce is
// nil. Pool does not change the result of UnknownLevels, which counts the levels of this process alone.
func (t *Tally) Pool(ctx context.Context, reduce func(ctx context.Context, sums []float64) error) error {
	if reduce == nil {
		return nil
	}
	counts := []*atomic.Int64{&t.Filled, &t.Foreign, &t.Dropped, &t.Unknown}
	sums := make([]float64, len(counts))
	for i, c := range counts {
		sums[i] = float64(c.Load())
	}
	if err := reduce(ctx, sums); err != nil {
		return err
	}
	for i, c := range counts {
		c.Store(int64(sums[i]))
	}
	return nil
}

// UnknownLevels returns the number of different unknown levels, or 2²⁰ if there are more. It does not count rows
// that a [RowEncoder] has encoded, because their number is unlimited.
func (t *Tally) UnknownLevels() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.unknown)
}

func (t *Tally) addUnknown(column int, text string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.unknown == nil {
		t.unknown = map[unknownLevel]struct{}{}
	}
	if len(t.unknown) < maxLevels {
		t.unknown[unknownLevel{column, text}] = struct{}{}
	}
}
