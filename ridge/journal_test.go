package ridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
)

// sources are rows of every kind that a pass treats in its own way.
func sources(t *testing.T) map[string]dataset.Source {
	const n, d, targets = 9000, 5, 2 // three blocks or more
	rng := rand.New(rand.NewPCG(6, 2))
	x, y, w := make([]float64, n*d), make([]float64, n*targets), make([]float64, n)
	csr := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i := range x {
		x[i] = 100 + float64(1+i%d)*rng.NormFloat64()
		if i%3 == 0 {
			csr.ColIdx, csr.Val = append(csr.ColIdx, int32(i%d)), append(csr.Val, x[i])
		}
		if i%d == d-1 {
			csr.RowPtr = append(csr.RowPtr, len(csr.Val))
		}
	}
	for i := range y {
		y[i] = 0.1*x[i/targets*d] + rng.NormFloat64()
	}
	for i := range w {
		w[i] = rng.ExpFloat64()
	}
	with := func(s dataset.Source, err error) dataset.Source {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	cut := func(s dataset.Source) dataset.Source { return blocks{s, 700} }
	dense, sparse := cut(with(dataset.FromDense(n, d, targets, x, y))), cut(with(dataset.FromCSR(csr, targets, y)))
	weights := cut(with(dataset.FromDense(n, 1, 0, w, nil)))
	_, scaling, err := dataset.Standardize(t.Context(), dense)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]dataset.Source{
		"dense":           dense,
		"unnumbered":      unnumbered{dense},
		"sparse":          sparse,
		"weighted":        with(dataset.Weigh(dense, weights)),
		"weighted sparse": with(dataset.Weigh(sparse, weights)),
		"prepared": with(
			dataset.Fourier{
				Components: 7,
				Gamma:      1e-3,
			}.Apply(
				with(scaling.Apply(with(dataset.Rows(dense, 10, 8000)))),
				nil,
			),
		),
	}
}

// blocks is a source that yields blocks of at most so many rows.
type blocks struct {
	dataset.Source
	rows int
}

func (s blocks) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		_, d, t := s.Dims()
		var view engine.CSR
		for b, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(b, err)
				return
			}
			for lo := 0; lo < b.N; lo += s.rows {
				if err := ctx.Err(); err != nil {
					yield(dataset.Block{}, err)
					return
				}
				if !yield(b.Cut(lo, min(lo+s.rows, b.N), d, t, &view), nil) {
					return
				}
			}
		}
	}
}

// unnumbered is a source whose blocks don't tell where they begin.
type unnumbered struct{ dataset.Source }

func (s unnumbered) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			b.First = 0
			if !yield(b, err) {
				return
			}
		}
	}
}

// TestJournalCancelled: a solve that is cancelled amid a pass has the pass recorded so
// far, and the next one begins there.
func TestJournalCancelled(t *testing.T) {
	src := sources(t)["dense"]
	sum, err := ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 3, Store: fd.StoreRows}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &testkit.Memory{States: map[int][]byte{}, Left: 1000, Never: true}
	stopped := int64(0)
	_, err = ridge.Solve(ctx, src, sum, 1, ridge.SolveOptions{Tol: 1e-4, Journal: m, Progress: func(p ridge.Progress) {
		if p.Pass == 2 && p.Rows > 4000 {
			stopped = p.Rows
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(m.States) != 2 {
		t.Fatalf("%v, %d passes are recorded", err, len(m.States))
	}
	var first ridge.Progress
	_, err = ridge.Solve(
		t.Context(),
		src,
		sum,
		1,
		ridge.SolveOptions{Tol: 1e-4, Journal: m, Progress: func(p ridge.Progress) {
			if first.Pass == 0 {
				first = p
			}
		}},
	)
	if err != nil || first.Pass != 2 || first.Rows != stopped+700 {
		t.Errorf("cancelled after row %d of pass 2, it goes on with %+v: %v", stopped, first, err)
	}
}

// isTried reports whether case i is tried with, or without, an intercept: in turn, or both if FDRIDGE_THOROUGH is set.
func isTried(i int, intercept bool) bool {
	return intercept == (i%2 == 0) || os.Getenv("FDRIDGE_THOROUGH") != ""
}

// TestJournal: a solve that is interrupted, and killed, time and again finds bit for
// bit what one does that isn't. Each source has each method, and both with and without an intercept.
func TestJournal(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		src := all[name]
		for _, intercept := range []bool{false, true} {
			sum := testkit.Must(
				ridge.Summarize(
					t.Context(),
					src,
					ridge.SummaryConfig{Size: 3, Intercept: intercept, Store: fd.StoreRows},
					nil,
				),
			)(
				t,
			)
			for k, method := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
				if !isTried(i+k, intercept) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%v", name, intercept, method), func(t *testing.T) {
					eta := sum.Sketch().Bound().FD()
					testJournal(
						t,
						src,
						sum,
						[]float64{eta, 3 * eta},
						ridge.SolveOptions{Method: method, Tol: 1e-9, MaxPasses: 12},
					)
				})
			}
		}
	}
}

func testJournal(t *testing.T, src dataset.Source, sum *ridge.Summary, gammas []float64, opts ridge.SolveOptions) {
	fits, err := ridge.SolvePath(t.Context(), src, sum, gammas, opts)
	want := testkit.Solved(t, fits, err)
	rng := rand.New(rand.NewPCG(1, 1))
	states := map[int][]byte{}
	for round := 0; ; round++ {
		if round == 1000 {
			t.Fatal("no end after a thousand interruptions")
		}
		ctx, cancel := context.WithCancel(t.Context())
		m := &testkit.Memory{Rng: rng, States: states, Left: rng.IntN(4), Kill: round%2 == 0, End: cancel}
		opts.Journal = m
		fits, err := ridge.SolvePath(ctx, src, sum, gammas, opts)
		cancel()
		if !errors.Is(err, context.Canceled) {
			if got := testkit.Solved(t, fits, err); !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d interruptions %+v, without any %+v", round, got[0], want[0])
			}
			if round < 3 || m.Asked == 0 {
				t.Fatalf("interrupted but %d times, %d states asked for", round, m.Asked)
			}
			break
		}
	}
	testChanged(t, src, sum, gammas, opts, states)
	testDamaged(t, src, sum, gammas, opts, states)
}

// testChanged: with other options the answers of the journal are used as far as the
// same questions are asked, and no further.
func testChanged(
	t *testing.T,
	src dataset.Source,
	sum *ridge.Summary,
	gammas []float64,
	opts ridge.SolveOptions,
	states map[int][]byte,
) {
	opts.MaxPasses, opts.Tol = 40, 1e-10
	opts.Journal = nil
	fits, err := ridge.SolvePath(t.Context(), src, sum, gammas, opts)
	want := testkit.Solved(t, fits, err)
	m := &testkit.Memory{Rng: rand.New(rand.NewPCG(1, 2)), States: maps.Clone(states), Left: 1000}
	opts.Journal = m
	fits, err = ridge.SolvePath(t.Context(), src, sum, gammas, opts)
	if got := testkit.Solved(t, fits, err); !reflect.DeepEqual(got, want) || m.Asked == 0 {
		t.Errorf("with a larger limit %+v, without the journal %+v; %d states asked for", got[0], want[0], m.Asked)
	}
}

// testDamaged: a state that was cut short or changed is an error.
func testDamaged(
	t *testing.T,
	src dataset.Source,
	sum *ridge.Summary,
	gammas []float64,
	opts ridge.SolveOptions,
	states map[int][]byte,
) {
	for pass := 1; pass <= 2; pass++ {
		good := states[pass]
		for i := 0; i < len(good); i += 1 + len(good)/40 {
			flipped := slices.Clone(good)
			flipped[i] ^= 1 << (i % 8)
			for _, bad := range [][]byte{good[:i], flipped} {
				m := &testkit.Memory{Rng: rand.New(rand.NewPCG(1, 3)), States: maps.Clone(states), Left: 1000}
				m.States[pass] = bad
				if len(bad) == len(good) && i >= 48 && i < 80 { // the answer to another question
					continue
				}
				opts.Journal = m
				_, err := ridge.SolvePath(t.Context(), src, sum, gammas, opts)
				e, ok := errors.AsType[*fd.FormatError](err)
				if !ok && !(len(bad) == 0 && errors.Is(err, io.ErrUnexpectedEOF)) {
					t.Fatalf("byte %d of %d of pass %d: %v, %v", i, len(good), pass, e, err)
				}
			}
		}
	}
}

// TestJournalMixed: a precise pass that an earlier version has measured, which does not tell what
// residuals are off by, is made again.
func TestJournalMixed(t *testing.T) {
	const state, precise, mixed = 24, 8, 4 // where the bits are, and which
	src := sources(t)["weighted"]
	sum := testkit.Must(
		ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 3, Intercept: true, Store: fd.StoreRows}, nil),
	)(
		t,
	)
	gamma, opts := sum.Sketch().Bound().FD(), ridge.SolveOptions{Tol: 1e-15}
	m := &testkit.Memory{Rng: rand.New(rand.NewPCG(1, 4)), States: map[int][]byte{}, Left: 1000}
	opts.Journal = m
	want := testkit.Must(ridge.Solve(t.Context(), src, sum, gamma, opts))(t)
	older := 0
	for pass, s := range m.States {
		if s[state]&precise != 0 {
			m.States[pass] = slices.Clone(s)
			m.States[pass][state] ^= precise | mixed
			older = pass
		}
	}
	if older == 0 {
		t.Fatal("no pass was precise")
	}
	got := testkit.Must(ridge.Solve(t.Context(), src, sum, gamma, opts))(t)
	if !reflect.DeepEqual(got, want) || m.States[older][state]&precise == 0 {
		t.Errorf("with a pass of an earlier version %+v, want %+v", got, want)
	}
}

// TestContinue: a summary that was written amid a pass, by whatever block, goes on to
// be the one of the whole pass.
func TestContinue(t *testing.T) {
	for name, src := range sources(t) {
		for _, intercept := range []bool{false, true} {
			cfg := ridge.SummaryConfig{Size: 3, Intercept: intercept, Store: fd.StoreRows}
			want := bits(t, src, cfg)
			ctx, cancel := context.WithCancel(t.Context())
			_, cfg.Dim, cfg.Targets = src.Dims()
			sum, err := ridge.NewSummary(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for rounds := 0; ; rounds++ {
				if rounds == 100 {
					t.Fatal("no end after a hundred interruptions")
				}
				told := 0
				err := sum.Continue(ctx, src, func(int64) {
					told++
					if told == 2 {
						cancel()
					}
				})
				if err == nil {
					if rounds < 2 {
						t.Errorf("%s: interrupted %d times", name, rounds)
					}
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				b, err := sum.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				sum = new(ridge.Summary)
				if err := sum.UnmarshalBinary(b); err != nil {
					t.Fatal(err)
				}
				ctx, cancel = context.WithCancel(t.Context())
			}
			cancel()
			if got, err := sum.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, intercept %v: another summary after interruptions, %v", name, intercept, err)
			}
			if err := sum.Continue(t.Context(), one{}, nil); !errors.Is(err, ridge.ErrShape) {
				t.Errorf("%s: rows of other dimensions: %v", name, err)
			}
		}
	}
}

func bits(t *testing.T, src dataset.Source, cfg ridge.SummaryConfig) []byte {
	t.Helper()
	sum, err := ridge.Summarize(t.Context(), src, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sum.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// one is a source of one feature and no target.
type one struct{ dataset.Source }

func (one) Dims() (n int64, d, t int) { return -1, 1, 0 }

// forged is a journal that has one state, of the first pass.
type forged []byte

func (f forged) Recorded(pass int) ([]byte, error) {
	if pass == 1 {
		return f, nil
	}
	return nil, nil
}

func (f forged) Due() bool { return false }

func (f forged) Record(int, []byte) error { return nil }

// FuzzJournal: malformed content of a journal is refused. Other content is used as the result of a pass. It may be
// false, so that there is no solution, but nothing panics.
func FuzzJournal(f *testing.F) {
	src, err := dataset.FromDense(5, 2, 1, []float64{1, 2, -1, 1, 3, 0, 0, 1, 2, 2}, []float64{1, 0, 2, -1, 1})
	if err != nil {
		f.Fatal(err)
	}
	sum, err := ridge.Summarize(f.Context(), src, ridge.SummaryConfig{Size: 1, Store: fd.StoreRows}, nil)
	if err != nil {
		f.Fatal(err)
	}
	solve := func(j ridge.Journal) error {
		_, err := ridge.Solve(
			context.Background(),
			blocks{src, 2},
			sum,
			1,
			ridge.SolveOptions{Journal: j, MaxPasses: 5},
		)
		return err
	}
	for _, left := range []int{1, 1000} { // in its midst, and ended
		ctx, cancel := context.WithCancel(f.Context())
		m := &testkit.Memory{Rng: rand.New(rand.NewPCG(1, 1)), States: map[int][]byte{}, Left: left, End: cancel}
		_, err := ridge.Solve(ctx, blocks{src, 2}, sum, 1, ridge.SolveOptions{Journal: m, MaxPasses: 5})
		cancel()
		if len(m.States[1]) == 0 {
			f.Fatalf("nothing was recorded: %v", err)
		}
		f.Add(m.States[1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, state := range []forged{b, wiretest.Seal(slices.Clone(b))} {
			if err := solve(state); err != nil && err.Error() == "" {
				t.Fatalf("%T says nothing", err)
			}
		}
	})
}
