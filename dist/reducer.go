package dist

import (
	"context"

	"github.com/fdridge/fdridge/ridge"
)

// Reducer adds up the passes of a solve over the ranks of t, by Allreduce.
func Reducer(t Transport) ridge.Reducer { return reducer{t} }

type reducer struct{ t Transport }

func (r reducer) Sum(ctx context.Context, x []float64) error { return r.t.Allreduce(ctx, x) }

func (r reducer) Workers() int { return r.t.Size() }
