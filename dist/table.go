package dist

import (
	"context"

	"github.com/fdridge/fdridge/internal/background"
)

// Table returns, on every rank, the arguments row of all ranks: element r of the result is the argument of rank
// r. Table is collective. It makes one allreduce of P·k numbers, for P ranks and rows of k numbers. In it each
// rank fills its own row and leaves zeros elsewhere. Numbers are exact, except for the sign of zeros. If rows
// have different lengths, the error is [ErrMismatch].
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
