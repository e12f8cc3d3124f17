package live_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge/window"
)

// Blocks of dense rows are small, so that few rows make several.
func init() { os.Setenv("FDRIDGE_GRADIENT_ROWS", "500") }

// table is so many random rows, dense or sparse.
func table(r *rand.Rand, n int, sparse bool) dataset.Block {
	b := dataset.Block{N: n, Y: make([]float64, n)}
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range b.Y {
		b.Y[i] = r.NormFloat64()
	}
	if !sparse {
		b.X = x
		return b
	}
	b.Sparse = &engine.CSR{Rows: n, Cols: dim, RowPtr: []int{0}}
	for i := range n {
		for j := range dim {
			if (i+j)%3 > 0 {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, int32(j)), append(b.Sparse.Val, x[i*dim+j])
			}
		}
		b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
	}
	return b
}

// pieces cuts a block at some rows.
func pieces(b dataset.Block, at ...int) (out []dataset.Block) {
	lo := 0
	for _, hi := range append(at, b.N) {
		out = append(out, b.Cut(lo, hi, dim, 1, new(engine.CSR)))
		lo = hi
	}
	return out
}

// fixed are the rows at which a block of a table ends, as live.Fixed says.
func fixed(t *testing.T, b dataset.Block) (at []int) {
	t.Helper()
	size, begun := must(engine.DefaultTuning())(t).GradientRows(dim), 0
	for i := 1; i < b.N; i++ {
		whole := i%size == 0
		if s := b.Sparse; s != nil {
			whole = i%dataset.SparseRows == 0 || s.RowPtr[i]-s.RowPtr[begun] >= 1<<14
		}
		if whole {
			at, begun = append(at, i), i
		}
	}
	return at
}

// blockKinds are the policies of forgetting under which the bits of a sketch depend on the division into blocks.
var blockKinds = []window.Policy{{}, {HalfLifeRows: 500}}

// waitAt returns what waits, before a block that so many rows come before, until the file has these
// or the run has ended.
func (s *tester) waitAt(rows int) func(before int64) {
	written := make(chan int64, 1)
	s.run.Tell = func(i live.Interval) error {
		s.told = append(s.told, i)
		select {
		case <-written:
		default:
		}
		written <- i.Rows
		if i.End != "" {
			close(written)
		}
		return nil
	}
	return func(before int64) {
		for before == int64(rows) {
			if has, more := <-written; has >= before || !more {
				break
			}
		}
	}
}

// A script is a source that yields blocks and then, if stop is not nil, stops the run.
type script struct {
	blocks []dataset.Block
	before func(rows int64) // if not nil, called before a block, with the number of rows before it
	stop   func()
}

func (s script) Dims() (n int64, d, t int) { return -1, dim, 1 }

func (s script) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		rows := int64(0)
		for _, b := range s.blocks {
			if s.before != nil {
				s.before(rows)
			}
			rows += int64(b.N)
			if !yield(b, nil) {
				return
			}
		}
		if s.stop != nil {
			s.stop()
			<-ctx.Done()
			yield(dataset.Block{}, ctx.Err())
		}
	}
}

// TestFixedBlocks: however rows come, and whenever the file is written, a sketch in fixed blocks has the bits that
// appending these blocks makes. The file has all rows that have come, or whole blocks alone.
func TestFixedBlocks(t *testing.T) {
	for _, f := range blockKinds {
		for _, sparse := range []bool{false, true} {
			all := table(rand.New(rand.NewPCG(31, 7)), 1500, sparse)
			want, other := must(window.NewStream(configOf(f)))(t), must(window.NewStream(configOf(f)))(t)
			ends := fixed(t, all)
			for _, b := range pieces(all, ends...) {
				check(t, want.AppendAt(start, b))
			}
			for _, b := range pieces(all, 100, 1100) {
				check(t, other.AppendAt(start, b))
			}
			if bytes.Equal(message(t, want), message(t, other)) {
				t.Errorf("%v, sparse %v: other blocks have the same bits", f, sparse)
			}
			for _, mode := range []live.Blocks{live.Fixed, live.FixedPrompt} {
				r := rand.New(rand.NewPCG(uint64(mode), 1))
				var at []int
				for lo := 1 + r.IntN(200); lo < all.N; lo += 1 + r.IntN(300) {
					at = append(at, lo)
				}
				s := newTester(t, f)
				s.run.Blocks = mode
				src := script{blocks: pieces(all, at...)}
				if mode == live.FixedPrompt {
					src.before = s.waitAt(at[1])
				}
				check(t, s.ends(t, t.Context(), src))
				if !bytes.Equal(message(t, s.read(t)), message(t, want)) {
					t.Errorf("%v, sparse %v, blocks %d: another sketch", f, sparse, mode)
				}
				expected := map[live.Blocks][]int{live.Fixed: ends, live.FixedPrompt: at}[mode]
				for _, i := range s.told {
					if i.Rows > 0 && i.Rows < int64(all.N) && !slices.Contains(expected, int(i.Rows)) {
						t.Errorf("%v, sparse %v, blocks %d: told of %d rows", f, sparse, mode, i.Rows)
					}
				}
			}
		}
	}
}

// TestFixedStops: a stopped run with live.Fixed has only whole blocks, and resumes to the bits of a run that was not
// stopped. A stopped run with live.FixedPrompt has all rows that had arrived.
func TestFixedStops(t *testing.T) {
	f := window.Policy{}
	all := table(rand.New(rand.NewPCG(31, 8)), 1500, false)
	ends := fixed(t, all)
	for mode, rows := range map[live.Blocks]int{live.Fixed: ends[1], live.FixedPrompt: 1400} {
		s := newTester(t, f)
		s.run.Blocks, s.run.Every = mode, time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		check(t, s.ends(t, ctx, script{blocks: pieces(all, 700, 1400)[:2], stop: cancel}))
		if got := s.read(t).Rows(); got != int64(rows) {
			t.Errorf("blocks %d: %d rows, want %d", mode, got, rows)
		}
		if mode == live.FixedPrompt {
			continue
		}
		s.run.Skip = int64(rows)
		check(t, s.ends(t, t.Context(), script{blocks: pieces(all, 100, 1000, 1100)}))
		want := must(window.NewStream(configOf(f)))(t)
		for _, b := range pieces(all, ends...) {
			check(t, want.AppendAt(start, b))
		}
		if !bytes.Equal(message(t, s.read(t)), message(t, want)) {
			t.Error("a run that was stopped goes on to another sketch")
		}
	}
}

// TestPromptRefuses: of a row that is refused all rows before it are kept, those too that a file had from the middle
// of a block.
func TestPromptRefuses(t *testing.T) {
	f := window.Policy{}
	for bad, at := range map[int][]int{300: {100, 200, 400}, 900: {800, 850, 890}, 3: {2}} {
		all := table(rand.New(rand.NewPCG(31, 9)), 1500, false)
		all.X[bad*dim+1] = 1e200
		s := newTester(t, f)
		s.run.Blocks = live.FixedPrompt
		err := s.ends(t, t.Context(), script{blocks: pieces(all, at...), before: s.waitAt(at[len(at)-1])})
		last := s.told[len(s.told)-1]
		if !errors.Is(err, engine.ErrInput) || last.End != live.Failed || last.Rows != int64(bad) ||
			s.read(t).Rows() != int64(bad) {
			t.Errorf("row %d is refused: %v, told %+v", bad, err, last)
		}
	}
}
