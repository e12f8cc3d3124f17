package dist

import (
	"context"

	"github.com/fdridge/fdridge/internal/background"
)

// Table returns, on every rank, the rows of all ranks, each of k numbers: row r is that of
// rank r. It is collective: one allreduce of P·k numbers, to which each rank adds its own
// row and zeros elsewhere. So the numbers arrive exactly, but for the sign of a zero. Rows
// of different lengths are [ErrMismatch].
func Table(ctx context.Context, t Transport, row []float64) ([][]float64, error) {
	ctx = background.IfNil(ctx)
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
