package dataset_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// A passed source counts its passes.
type passed struct {
	dataset.Source
	mu     sync.Mutex
	passes int
}

func (c *passed) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	c.mu.Lock()
	c.passes++
	c.mu.Unlock()
	return c.Source.Blocks(ctx)
}

// blocksOf are the blocks of a pass, copied.
func blocksOf(t testing.TB, blocks iter.Seq2[dataset.Block, error]) (out []dataset.Block) {
	t.Helper()
	for b, err := range blocks {
		if err != nil {
			t.Fatal(err)
		}
		b.X, b.Y, b.W = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.W)
		if s := b.Sparse; s != nil {
			lo, hi := s.RowPtr[0], s.RowPtr[b.N]
			c := &engine.CSR{
				Rows:   s.Rows,
				Cols:   s.Cols,
				ColIdx: slices.Clone(s.ColIdx[lo:hi]),
				Val:    slices.Clone(s.Val[lo:hi]),
			}
			for _, p := range s.RowPtr[:b.N+1] {
				c.RowPtr = append(c.RowPtr, p-lo)
			}
			b.Sparse = c
		}
		if len(b.X) == 0 {
			b.X = nil
		}
		if len(b.Y) == 0 {
			b.Y = nil
		}
		out = append(out, b)
	}
	return out
}

// cacheable are sources of several blocks: dense, sparse, weighted, without targets.
func cacheable(t testing.TB) map[string]dataset.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	must := func(s dataset.Source, err error) dataset.Source {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const n = 9000
	x := engine.CSR{Rows: n, Cols: 70000, RowPtr: []int{0}}
	for range n {
		for j := rng.IntN(20); j < x.Cols; j += 1 + rng.IntN(20000) {
			x.ColIdx, x.Val = append(x.ColIdx, int32(j)), append(x.Val, rng.NormFloat64())
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	dense := must(dataset.FromDense(n, 7, 2, numbers(n*7), numbers(n*2)))
	sparse := must(dataset.FromCSR(&x, 1, numbers(n)))
	w := numbers(n)
	for i := range w {
		w[i] *= w[i]
	}
	weights := must(dataset.FromDense(n, 1, 0, w, nil))
	return map[string]dataset.Source{
		"dense": dense, "sparse": sparse,
		"weighted": must(dataset.Weigh(dense, weights)), "sparse, weighted": must(dataset.Weigh(sparse, weights)),
		"no targets": must(dataset.FromDense(n, 3, 0, numbers(n*3), nil)),
		"mixed": must(
			dataset.Concat(
				must(
					dataset.FromCSR(
						&engine.CSR{Rows: 2, Cols: 7, RowPtr: []int{0, 0, 1}, ColIdx: []int32{6}, Val: []float64{2}},
						2,
						numbers(4),
					),
				),
				dense,
			),
		),
	}
}

func sameBlocks(t testing.TB, what string, got, want []dataset.Block) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d blocks, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s: block %d is not the same", what, i)
		}
	}
}

// files are those in a directory.
func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names
}

// TestCache reads the same blocks again and again, from any row on, and the source once.
func TestCache(t *testing.T) {
	ctx := context.Background()
	for name, src := range cacheable(t) {
		dir := t.TempDir()
		want := blocksOf(t, src.Blocks(ctx))
		if len(want) < 2 {
			t.Fatalf("%s: %d blocks", name, len(want))
		}
		once := &passed{Source: src}
		c, err := dataset.Cached(once, dataset.CacheOptions{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			sameBlocks(t, name, blocksOf(t, c.Blocks(ctx)), want)
		}
		for _, first := range []int64{1, want[1].First, want[1].First + 1, 8999, 9100} {
			sameBlocks(t, name, blocksOf(t, c.BlocksFrom(ctx, first)), blocksOf(t, dataset.From(ctx, src, first)))
		}
		if once.passes != 1 || c.Err() != nil || len(files(t, dir)) != 1 {
			t.Errorf("%s: %d passes over the source, %v, files %v", name, once.passes, c.Err(), files(t, dir))
		}
		if err := c.Close(); err != nil || len(files(t, dir)) != 0 {
			t.Errorf("%s: Close: %v, files %v", name, err, files(t, dir))
		}
	}
}

// TestCacheKept finds the file of an earlier run of the same key, and no other.
func TestCacheKept(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	src := cacheable(t)["dense"]
	want := blocksOf(t, src.Blocks(ctx))
	for i, key := range []string{"a", "a", "b", "a"} {
		once := &passed{Source: src}
		c, err := dataset.Cached(once, dataset.CacheOptions{Dir: dir, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		sameBlocks(t, key, blocksOf(t, c.Blocks(ctx)), want)
		if err := errors.Join(c.Err(), c.Close()); err != nil {
			t.Error(err)
		}
		if passes := []int{1, 0, 1, 0}[i]; once.passes != passes {
			t.Errorf("run %d, key %s: %d passes over the source, want %d", i, key, once.passes, passes)
		}
	}
	if len(files(t, dir)) != 2 {
		t.Errorf("files %v", files(t, dir))
	}
}

// TestCacheDamaged changes each byte of a cache file, and truncates and extends the file at each byte. A pass still
// yields the rows of the source, and Cache.Err returns an error.
func TestCacheDamaged(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	src, err := dataset.FromDense(3, 2, 1, []float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9})
	if err != nil {
		t.Fatal(err)
	}
	want := blocksOf(t, src.Blocks(ctx))
	open := func() (*dataset.Cache, *passed) {
		once := &passed{Source: src}
		c, err := dataset.Cached(once, dataset.CacheOptions{Dir: dir, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		return c, once
	}
	c, _ := open()
	blocksOf(t, c.Blocks(ctx))
	name := files(t, dir)[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 1 << (i % 8)
		for _, content := range [][]byte{changed, whole[:i], append(slices.Clone(whole), whole[:i+1]...)} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
			c, once := open()
			sameBlocks(t, "damaged", blocksOf(t, c.Blocks(ctx)), want)
			if once.passes != 1 || c.Err() == nil {
				t.Fatalf("byte %d: %d passes over the source, error %v", i, once.passes, c.Err())
			}
		}
	}
}

// TestCacheFull has a file that may not be as large as the rows: they come from the source, and
// nothing is left.
func TestCacheFull(t *testing.T) {
	ctx := context.Background()
	for name, src := range cacheable(t) {
		for _, most := range []int64{1, 4000, 30000} {
			dir := t.TempDir()
			once := &passed{Source: src}
			c, err := dataset.Cached(once, dataset.CacheOptions{Dir: dir, MaxBytes: most})
			if err != nil {
				t.Fatal(err)
			}
			want := blocksOf(t, src.Blocks(ctx))
			for range 2 {
				sameBlocks(t, name, blocksOf(t, c.Blocks(ctx)), want)
			}
			if once.passes != 2 || c.Err() == nil || len(files(t, dir)) != 0 {
				t.Errorf("%s: %d passes over the source, error %v, files %v", name, once.passes, c.Err(), files(t, dir))
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCacheLeft leaves passes early, makes several at a time, and takes the file away.
func TestCacheLeft(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	src := cacheable(t)["sparse, weighted"]
	want := blocksOf(t, src.Blocks(ctx))
	c, err := dataset.Cached(src, dataset.CacheOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range c.Blocks(ctx) {
		if err != nil || b.N == 0 {
			t.Fatal(b.N, err)
		}
		break
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range c.Blocks(cancelled) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if names := files(t, dir); len(names) != 0 || c.Err() != nil {
		t.Errorf("left: %v, %v", names, c.Err())
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				sameBlocks(t, "several", blocksOf(t, c.Blocks(ctx)), want)
			}
		})
	}
	all.Wait()
	if names := files(t, dir); len(names) != 1 || c.Err() != nil {
		t.Fatalf("several: %v, %v", names, c.Err())
	}
	for _, err := range c.Blocks(cancelled) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if err := os.Remove(files(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	sameBlocks(t, "taken away", blocksOf(t, c.Blocks(ctx)), want)
	if !errors.Is(c.Err(), fs.ErrNotExist) {
		t.Error(c.Err())
	}
}

// TestCacheRefused is of options that are no good.
func TestCacheRefused(t *testing.T) {
	src := cacheable(t)["dense"]
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []dataset.CacheOptions{{}, {Dir: name}, {Dir: name + "s"}, {Dir: t.TempDir(), MaxBytes: -1}} {
		if _, err := dataset.Cached(src, o); !errors.Is(err, dataset.ErrInput) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := dataset.Cached(nil, dataset.CacheOptions{Dir: t.TempDir()}); !errors.Is(err, dataset.ErrInput) {
		t.Error(err)
	}
}

// TestCacheByColumns: what is read by columns is read from a file of its own from the second time on,
// the same blocks, and no file is left.
func TestCacheByColumns(t *testing.T) {
	const n, d = 9, 40
	x := make([]float64, n*d)
	for i := range x {
		x[i] = float64(i*i%101) - 50
	}
	features, err := dataset.FromDense(d, n, 0, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	reads := &passed{Source: features}
	turned, err := dataset.Transpose(t.Context(), reads, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c, err := dataset.Cached(turned, dataset.CacheOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	columns, ok := dataset.ByColumns(c)
	if !ok {
		t.Fatal("a cache of columns has none")
	}
	want := blocksOf(t, features.Blocks(t.Context()))
	for range 3 {
		sameBlocks(t, "by columns", blocksOf(t, columns.Blocks(t.Context())), want)
	}
	if again, _ := dataset.ByColumns(c); again != columns {
		t.Error("columns are kept anew each time that they are asked for")
	}
	if reads.passes != 1 {
		t.Errorf("the columns were read %d times", reads.passes)
	}
	if got := len(files(t, dir)); got != 1 {
		t.Errorf("%d files are kept", got)
	}
	if err := c.Close(); err != nil || len(files(t, dir)) > 0 {
		t.Errorf("%v, left: %v", err, files(t, dir))
	}
	plain, err := dataset.Cached(features, dataset.CacheOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := dataset.ByColumns(plain); ok {
		t.Error("a cache of rows alone has columns")
	}
}
