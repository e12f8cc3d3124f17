package ridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestRowsChange: rows that change between the passes of a solve, or after the summary,
// are noticed in whatever pass they do, by every method, with targets of zero too.
func TestRowsChange(t *testing.T) {
	for _, method := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
		for _, sparse := range []bool{false, true} {
			for _, intercept := range []bool{false, true} {
				for _, zero := range []bool{false, true} {
					for from := 1; from <= 3; from++ {
						p := testkit.Hard(zero, sparse)
						sum := testkit.Must(
							ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 3, Intercept: intercept}, nil),
						)(
							t,
						)
						src := testkit.Changing{Table: p, From: from, Change: func(b *dataset.Block) {
							if b.First == 40 { // one entry
								if b.Sparse != nil {
									b.Sparse.Val[5] += 0.01
								} else {
									b.X[5] += 0.01
								}
							}
						}, Passes: new(int)}
						opts := ridge.SolveOptions{Method: method, Tol: 1e-12}
						if zero { // not at the solution from the start
							opts.Start = mat.NewDense(1, 12, slices.Repeat([]float64{1}, 12))
						}
						_, err := ridge.Solve(t.Context(), src, sum, 0.01, opts)
						if !errors.Is(err, ridge.ErrShape) ||
							!strings.Contains(err.Error(), "other rows than the summary") ||
							*src.Passes != from {
							t.Errorf(
								"%v, sparse %v, intercept %v, zero %v: changed in pass %d, after %d: %v",
								method,
								sparse,
								intercept,
								zero,
								from,
								*src.Passes,
								err,
							)
						}
					}
				}
			}
		}
	}
}

// TestTargetsChange: so are targets, in the passes that ask for a gradient.
func TestTargetsChange(t *testing.T) {
	p := testkit.Hard(false, false)
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 3}, nil))(t)
	for _, method := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
		src := testkit.Changing{Table: p, From: 2, Change: func(b *dataset.Block) { b.Y[0] += 0.1 }, Passes: new(int)}
		_, err := ridge.Solve(t.Context(), src, sum, 0.01, ridge.SolveOptions{Method: method, Tol: 1e-10})
		if !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%v: %v", method, err)
		}
	}
}

// TestLoneTargetChanges: a target changes where the row has no features, so that all
// products stay as they are.
func TestLoneTargetChanges(t *testing.T) {
	p := testkit.Hard(false, false)
	clear(p.X[0])
	for _, intercept := range []bool{false, true} {
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 3, Intercept: intercept}, nil))(t)
		for _, method := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
			src := testkit.Changing{Table: p, From: 2, Change: func(b *dataset.Block) {
				if b.First == 0 {
					b.Y[0] += 20
				}
			}, Passes: new(int)}
			_, err := ridge.Solve(t.Context(), src, sum, 0.01, ridge.SolveOptions{Method: method, Tol: 1e-10})
			if !errors.Is(err, ridge.ErrShape) {
				t.Errorf("%v, intercept %v: %v", method, intercept, err)
			}
		}
	}
}

// TestConstantRows: a pass over rows that are constant up to round-off accepts them as the rows of the summary.
func TestConstantRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, sparse := range []bool{false, true} {
		for _, jitter := range []float64{0, 1e-16, 3e-16, 1e-15} {
			p := testkit.Table{Sparse: sparse}
			for range 50 {
				p.X = append(
					p.X,
					[]float64{0.3 * (1 + jitter*float64(r.IntN(3))), 1e7 * (1 + jitter*float64(r.IntN(3)))},
				)
				p.Y = append(p.Y, []float64{0.7 * (1 + jitter*float64(r.IntN(3)))})
			}
			sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 2, Intercept: true}, nil))(t)
			for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin} {
				for _, start := range []*mat.Dense{nil, mat.NewDense(1, 2, []float64{1, 1})} {
					_, err := ridge.Solve(t.Context(), p, sum, 1, ridge.SolveOptions{Method: method, Start: start})
					if _, ok := errors.AsType[*ridge.NotConvergedError](err); err != nil && !ok {
						t.Errorf("sparse %v, jitter %g, %v: %v", sparse, jitter, method, err)
					}
				}
			}
		}
	}
}

// TestBlocksGoBad: a pass refuses the blocks that a summary does, with their place, and
// reads nothing beyond them.
func TestBlocksGoBad(t *testing.T) {
	var notFinite *fd.NonFiniteError
	spoil := func(change func(b *dataset.Block)) func(b *dataset.Block) {
		return func(b *dataset.Block) {
			if b.First == 60 {
				change(b)
			}
		}
	}
	for name, c := range map[string]struct {
		sparse bool
		change func(b *dataset.Block)
		ok     func(err error) bool
	}{
		"short X with room behind": {false, func(b *dataset.Block) { b.X = b.X[:len(b.X)-12] }, isShape},
		"short Y":                  {false, func(b *dataset.Block) { b.Y = b.Y[:3] }, isShape},
		"short W":                  {false, func(b *dataset.Block) { b.W = []float64{1} }, isShape},
		"NaN": {
			false, func(b *dataset.Block) { b.X[2*12+7] = math.NaN() },
			func(err error) bool { return errors.As(err, &notFinite) && notFinite.Row == 62 && notFinite.Col == 7 },
		},
		"Inf in y": {
			false, func(b *dataset.Block) { b.Y[4] = math.Inf(1) },
			func(err error) bool { return errors.As(err, &notFinite) && notFinite.Row == 64 && notFinite.Col == 12 },
		},
		"weight < 0": {
			false, func(b *dataset.Block) { b.W = slices.Repeat([]float64{1}, b.N); b.W[3] = -1 },
			func(err error) bool { return errors.As(err, &notFinite) && notFinite.Row == 63 && notFinite.Col == 13 },
		},
		"NaN in a sparse row": {
			true, func(b *dataset.Block) { b.Sparse.Val[12+2] = math.NaN() },
			func(err error) bool { return errors.As(err, &notFinite) && notFinite.Row == 61 && notFinite.Col == 2 },
		},
		"column out of range": {true, func(b *dataset.Block) { b.Sparse.ColIdx[11] = 12 }, isShape},
		"entries missing":     {true, func(b *dataset.Block) { b.Sparse.Val = b.Sparse.Val[:30] }, isShape},
		"pointers that fall":  {true, func(b *dataset.Block) { b.Sparse.RowPtr[2] = 0 }, isShape},
		"pointers missing":    {true, func(b *dataset.Block) { b.Sparse.RowPtr = b.Sparse.RowPtr[:5] }, isShape},
	} {
		p := testkit.Hard(false, c.sparse)
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 3}, nil))(t)
		src := testkit.Changing{Table: p, From: 2, Change: spoil(c.change), Passes: new(int)}
		if _, err := ridge.Solve(t.Context(), src, sum, 0.01, ridge.SolveOptions{}); !c.ok(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeafSource: a cancelled context ends a pass whatever the source does.
func TestDeafSource(t *testing.T) {
	p := testkit.Hard(false, false)
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 3}, nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	blocks := 0
	src := testkit.Changing{Table: p, From: 2, Change: func(*dataset.Block) {
		blocks++
		if blocks == 2 {
			cancel()
		}
	}, Passes: new(int)}
	if _, err := ridge.Solve(ctx, src, sum, 0.01, ridge.SolveOptions{Tol: 1e-12}); !errors.Is(err, context.Canceled) ||
		blocks > 2 {
		t.Errorf("%v after %d blocks", err, blocks)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	src.Passes = new(int)
	if _, err := ridge.Summarize(cancelled, src, ridge.SummaryConfig{Size: 3}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Summarize: %v", err)
	}
}
