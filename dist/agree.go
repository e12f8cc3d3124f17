package dist

import (
	"context"
	"fmt"
)

// A DisagreeError reports that a value differs between ranks.
type DisagreeError struct {
	What  string
	Ranks []int  // ranks whose value differs from rank 0's, ascending
	Value string // value of the first rank in Ranks
	Root  string // value of rank 0
}

func (e *DisagreeError) Error() string {
	return fmt.Sprintf(
		"%s is not the same on all ranks: rank 0 has %q, rank %d has %q; %d of the ranks differ from rank 0: %v",
		e.What,
		e.Root,
		e.Ranks[0],
		e.Value,
		len(e.Ranks),
		e.Ranks,
	)
}

// Agree returns nil if value is the same on all ranks, the workers that t connects. Otherwise every rank returns
// the same *[DisagreeError], whose text begins with name. Agree is a collective call, so every rank must call it.
// It makes one broadcast of the value, and one allreduce of one number for each rank. If the values differ, it
// makes a second broadcast.
func Agree(ctx context.Context, t Transport, name, value string) error {
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
	e := &DisagreeError{What: name, Root: string(root)}
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
