package dist

import (
	"context"
	"fmt"
)

// A DisagreeError reports that not all ranks have the same value of something.
type DisagreeError struct {
	What  string
	Ranks []int  // those whose value is not that of rank 0, ascending
	Value string // of the first of them
	Root  string // of rank 0
}

func (e *DisagreeError) Error() string {
	return fmt.Sprintf("%s is not the same on all ranks: rank 0 has %q, rank %d has %q; %d of the ranks differ from rank 0: %v",
		e.What, e.Root, e.Ranks[0], e.Value, len(e.Ranks), e.Ranks)
}

// Agree returns nil where value, which is called what, is the same on all ranks, and
// else the same *[DisagreeError] on each. It is collective: one broadcast of the value
// and one allreduce of P numbers, and one more broadcast of a value that differs.
func Agree(ctx context.Context, t Transport, what, value string) error {
	root, err := t.Broadcast(ctx, 0, []byte(value))
	if err != nil {
		return err
	}
	differs := make([]float64, t.Size())
	if value != string(root) {
		differs[t.Rank()] = 1
	}
	if err := t.Allreduce(ctx, differs); err != nil {
		return err
	}
	e := &DisagreeError{What: what, Root: string(root)}
	for r, d := range differs {
		if d != 0 {
			e.Ranks = append(e.Ranks, r)
		}
	}
	if e.Ranks == nil {
		return nil
	}
	first, err := t.Broadcast(ctx, e.Ranks[0], []byte(value))
	if err != nil {
		return err
	}
	e.Value = string(first)
	return e
}
