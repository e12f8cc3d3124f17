package dist

import (
	"context"
)

// Table returns the rows of all ranks on every rank, in the order of the ranks. It is a collective call, so every
// rank must call it. It makes one allreduce of P·k numbers, for P ranks and rows of k numbers. Each rank sets its
// own row, and zeros elsewhere. Therefore the numbers are exact, except for the sign of zeros. If rows have
// different lengths, the error is [ErrMismatch].
func Table(ctx context.Context, t Transport, row []float64) ([][]float64, error) {
	k := len(row)
	all := make([]float64, t.Size()*k)
	copy(all[t.Rank()*k:], row)
	if err := t.Allreduce(ctx, all); err != nil {
		return nil, err
	}
	rows := make([][]float64, t.Size())
	for r := range rows {
		rows[r] = all[r*k : (r+1)*k : (r+1)*k]
	}
	return rows, nil
}

// Gather returns the messages of all ranks on every rank, in the order of the ranks. The argument own is the
// message of this rank. Gather is a collective call, so every rank must call it. It makes one broadcast from each
// rank.
func Gather(ctx context.Context, t Transport, own []byte) ([][]byte, error) {
	var all [][]byte
	for root := range t.Size() {
		message, err := t.Broadcast(ctx, root, own)
		if err != nil {
			return nil, err
		}
		all = append(all, message)
	}
	return all, nil
}
