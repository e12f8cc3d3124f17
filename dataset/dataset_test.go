package dataset_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// A table has the rows that a pass over a source yielded, with zeros of sparse rows written out.
type table struct {
	x, y   [][]float64
	sparse bool
}

// read makes one pass and checks the blocks' own account.
func read(t *testing.T, src dataset.Source) (table, error) {
	t.Helper()
	var out table
	_, d, k := src.Dims()
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			if b.N != 0 || b.X != nil || b.Sparse != nil {
				t.Errorf("an error came with rows: %+v", b)
			}
			return out, err
		}
		if b.First != int64(len(out.x)) {
			t.Errorf("block begins at row %d, want %d", b.First, len(out.x))
		}
		for i := range b.N {
			row := make([]float64, d)
			if b.Sparse == nil {
				copy(row, b.X[i*d:(i+1)*d])
			} else {
				out.sparse = true
				idx, val := b.Sparse.Row(i)
				for l, j := range idx {
					row[j] = val[l]
				}
			}
			out.x = append(out.x, row)
			out.y = append(out.y, append([]float64(nil), b.Y[i*k:(i+1)*k]...))
		}
	}
	return out, nil
}

func mustRead(t *testing.T, src dataset.Source) table {
	t.Helper()
	out, err := read(t, src)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// counting is a Reader of n rows (i, −i) with target 2i, which fails before row
// fail.
type counting struct {
	n, at, fail int
	closed      *int
}

var errBroken = errors.New("broken")

func (c *counting) Read(b *dataset.Buffer, rows int) error {
	for b.N < min(rows, 3) && c.at < c.n {
		if c.at == c.fail {
			return errBroken
		}
		b.X = append(b.X, float64(c.at), -float64(c.at))
		b.Y = append(b.Y, 2*float64(c.at))
		b.EndRow()
		c.at++
	}
	if b.N == 0 {
		return io.EOF
	}
	return nil
}

func (c *counting) Close() error { *c.closed++; return nil }

func stream(n, fail int, closed *int) *dataset.Stream {
	return dataset.NewStream(-1, 2, 1, false, func() (dataset.Reader, error) {
		return &counting{n: n, fail: fail, closed: closed}, nil
	})
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestStream(t *testing.T) {
	before, closed := runtime.NumGoroutine(), 0
	s := stream(100, -1, &closed)
	for range s.Blocks(context.Background()) { // left at once
		break
	}
	if n, _, _ := s.Dims(); n != -1 {
		t.Errorf("n = %d after a pass that was left", n)
	}
	for range 2 {
		got := mustRead(t, s)
		if len(got.x) != 100 || got.x[99][1] != -99 || got.y[99][0] != 198 {
			t.Errorf("%d rows", len(got.x))
		}
	}
	if n, d, k := s.Dims(); n != 100 || d != 2 || k != 1 || s.Passes() != 3 || closed != 3 {
		t.Errorf("%d×%d, %d targets, %d passes, %d closed", n, d, k, s.Passes(), closed)
	}
	settled(t, before)
}

func TestStreamError(t *testing.T) {
	before, closed, seen := runtime.NumGoroutine(), 0, 0
	rows := 0
	for b, err := range stream(100, 50, &closed).Blocks(context.Background()) {
		rows += b.N
		if err != nil {
			seen++
			if !errors.Is(err, errBroken) {
				t.Error(err)
			}
		}
	}
	if seen != 1 || rows == 0 || rows > 50 || closed != 1 {
		t.Errorf("%d errors after %d rows, closed %d times", seen, rows, closed)
	}
	settled(t, before)
}

func TestCancel(t *testing.T) {
	before, closed := runtime.NumGoroutine(), 0
	for name, src := range map[string]dataset.Source{
		"stream":      stream(1<<30, -1, &closed),
		"transformed": fourier(t, stream(1<<30, -1, &closed), 3),
	} {
		ctx, cancel := context.WithCancel(context.Background())
		rows, last := 0, error(nil)
		for b, err := range src.Blocks(ctx) {
			rows += b.N
			last = err
			if rows > 20 {
				cancel()
			}
		}
		cancel()
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%s: the pass ended in %v", name, last)
		}
	}
	settled(t, before)
}

// TestNoGarbagePerBlock: ten times the rows, no more memory.
func TestNoGarbagePerBlock(t *testing.T) {
	count := func(n int) float64 {
		closed := 0
		s := stream(n, -1, &closed)
		return testing.AllocsPerRun(5, func() {
			for range s.Blocks(context.Background()) {
			}
		})
	}
	if few, many := count(300), count(3000); !(many <= few+20) {
		t.Errorf("%v allocations for 300 rows, %v for 3000", few, many)
	}
}

// TestBuffersReused: a pass uses the buffers of the pass before.
func TestBuffersReused(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector drops buffers of a sync.Pool")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection can empty the pool
	const size, passes = 1 << 17, 20
	s := dataset.NewStream(-1, size, 0, false, func() (dataset.Reader, error) { return &wideReader{left: 4}, nil })
	pass := func() {
		for _, err := range s.Blocks(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var before, after runtime.MemStats
	pass()
	runtime.ReadMemStats(&before)
	for range passes {
		pass()
	}
	runtime.ReadMemStats(&after)
	const buffer = 8 * size
	if got := after.TotalAlloc - before.TotalAlloc; got > passes*buffer/2 {
		t.Errorf("%d passes allocated %d buffers", passes, got/buffer)
	}
}

// raceDetector reports whether the race detector is on.
var raceDetector bool

// A wideReader reads rows of many features, one at a time.
type wideReader struct{ left int }

func (r *wideReader) Read(b *dataset.Buffer, _ int) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	b.X = slices.Grow(b.X, 1<<17)[:1<<17]
	b.EndRow()
	return nil
}

func (r *wideReader) Close() error { return nil }

func dense(t *testing.T, rows ...[]float64) dataset.Source {
	t.Helper()
	var x []float64
	y := make([]float64, len(rows))
	for i, r := range rows {
		x = append(x, r...)
		y[i] = float64(i)
	}
	s, err := dataset.FromDense(len(rows), len(rows[0]), 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sparse(t *testing.T, rows ...[]float64) dataset.Source {
	t.Helper()
	c := &engine.CSR{Rows: len(rows), Cols: len(rows[0]), RowPtr: []int{0}}
	for _, r := range rows {
		for j, v := range r {
			if v != 0 {
				c.ColIdx, c.Val = append(c.ColIdx, int32(j)), append(c.Val, v)
			}
		}
		c.RowPtr = append(c.RowPtr, len(c.Val))
	}
	s, err := dataset.FromCSR(c, 1, make([]float64, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMemory(t *testing.T) {
	nan := []float64{1, 2, 3, math.NaN()}
	_, err := dataset.FromDense(2, 2, 0, nan, nil)
	var e *dataset.InputError
	if !errors.As(err, &e) || !e.NonFinite || e.Line != 2 || e.Column != 2 {
		t.Errorf("NaN: %v", err)
	}
	for name, f := range map[string]func() (dataset.Source, error){
		"short x": func() (dataset.Source, error) { return dataset.FromDense(2, 2, 0, make([]float64, 3), nil) },
		"short y": func() (dataset.Source, error) {
			return dataset.FromDense(2, 2, 1, make([]float64, 4), make([]float64, 1))
		},
		"no features": func() (dataset.Source, error) { return dataset.FromDense(2, 0, 1, nil, make([]float64, 2)) },
	} {
		if _, err := f(); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCombine(t *testing.T) {
	a, b := dense(t, []float64{1, 2}, []float64{3, 4}), dense(t, []float64{5, 6}, []float64{7, 8}, []float64{9, 10})
	both, err := dataset.Concat(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if n, _, _ := both.Dims(); n != 5 {
		t.Errorf("%d rows", n)
	}
	if got := mustRead(t, both); got.x[3][1] != 8 || got.y[3][0] != 1 {
		t.Errorf("%v", got)
	}
	closed := 0
	for _, src := range []dataset.Source{both, stream(5, -1, &closed)} {
		all := mustRead(t, src)
		for lo := int64(0); lo < 5; lo++ {
			for hi := lo + 1; hi <= 5; hi++ {
				part, err := dataset.Rows(src, lo, hi)
				if err != nil {
					t.Fatal(err)
				}
				got := mustRead(t, part)
				n, _, _ := part.Dims()
				if n != hi-lo || len(got.x) != int(n) || got.x[0][0] != all.x[lo][0] ||
					got.x[n-1][1] != all.x[hi-1][1] {
					t.Errorf("rows %d to %d: %v", lo, hi, got.x)
				}
			}
		}
	}
	if _, err := dataset.Rows(both, 2, 6); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("rows beyond the end: %v", err)
	}
	beyond, err := dataset.Rows(stream(5, -1, &closed), 2, 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, beyond); !errors.Is(err, dataset.ErrShape) ||
		!strings.Contains(err.Error(), "there are only 5") {
		t.Errorf("rows beyond the end of a stream: %v", err)
	}
	if _, err := dataset.Concat(a, dense(t, []float64{1})); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("different widths: %v", err)
	}
}

func TestZip(t *testing.T) {
	closed := 0
	x := dense(t, []float64{1}, []float64{2}, []float64{3}, []float64{4}, []float64{5}, []float64{6}, []float64{7})
	y := stream(7, -1, &closed) // in blocks of three
	z, err := dataset.Zip(x, y)
	if err != nil {
		t.Fatal(err)
	}
	got := mustRead(t, z)
	if len(got.x) != 7 || got.x[4][0] != 5 || got.y[4][0] != 4 || got.y[4][1] != -4 {
		t.Errorf("%v", got)
	}
	for _, n := range []int{5, 6, 8, 30} {
		z, err := dataset.Zip(x, stream(n, -1, &closed))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, z); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("7 rows of features, %d of targets: %v", n, err)
		}
	}
	if _, err := dataset.Zip(x, dense(t, []float64{1})); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("lengths known to differ: %v", err)
	}
}

func TestStandardize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 1000
	var rows [][]float64
	var spread float64
	for i := range n {
		z := rng.NormFloat64()
		spread += z
		v := 0.0
		if i%4 == 0 {
			v = 2
		}
		rows = append(rows, []float64{1e8 + 1e-3*float64(i%2), 0.1, v, z})
	}
	a, err := dataset.Concat(dense(t, rows[:3]...), dense(t, rows[3:10]...), dense(t, rows[10:]...))
	if err != nil {
		t.Fatal(err)
	}
	out, s, err := dataset.Standardize(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(s.Mean[0]-1e8-0.5e-3) <= 1e-7) || !(math.Abs(s.Scale[0]-0.5e-3) <= 1e-7) {
		t.Errorf("large mean: %v ± %v", s.Mean[0], s.Scale[0])
	}
	if s.Scale[1] != 1 {
		t.Errorf("constant column: scale %v", s.Scale[1])
	}
	if !(math.Abs(s.Mean[2]-0.5) <= 1e-12) || !(math.Abs(s.Scale[2]-math.Sqrt(0.75)) <= 1e-12) {
		t.Errorf("third column: %v ± %v", s.Mean[2], s.Scale[2])
	}
	if !(math.Abs(s.Mean[3]-spread/n) <= 1e-12) {
		t.Errorf("fourth column: %v", s.Mean[3])
	}
	got := mustRead(t, out)
	for i, row := range got.x {
		for j, v := range row {
			if want := (rows[i][j] - s.Mean[j]) / s.Scale[j]; v != want {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, j, v, want)
			}
		}
	}

	thin := sparse(t, rows...)
	scaled, ss, err := dataset.Standardize(context.Background(), thin)
	if err != nil {
		t.Fatal(err)
	}
	if ss.Mean[2] != 0 || !(math.Abs(ss.Scale[2]-math.Sqrt(0.75)) <= 1e-12) {
		t.Errorf("sparse column: %v ± %v", ss.Mean[2], ss.Scale[2])
	}
	if got := mustRead(t, scaled); !got.sparse || got.x[0][2] != 2/ss.Scale[2] || got.x[1][2] != 0 {
		t.Errorf("sparse rows: %v, sparse %v", got.x[:2], got.sparse)
	}
	filled, err := s.Apply(thin)
	if err != nil {
		t.Fatal(err)
	}
	if f := mustRead(t, filled); f.sparse || f.x[1][2] != got.x[1][2] || f.x[0][2] != got.x[0][2] {
		t.Error("centring sparse rows gives something else than centring dense ones")
	}
	if _, err := s.Apply(dense(t, []float64{1})); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("a scaling of another width: %v", err)
	}
}

func fourier(t *testing.T, src dataset.Source, d int) dataset.Source {
	t.Helper()
	f, err := dataset.Fourier{Components: d, Gamma: 0.3, Seed: 7}.Apply(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFourier: inner products approximate the kernel within five standard
// errors, and the features do not depend on blocks or sparsity.
func TestFourier(t *testing.T) {
	rows := [][]float64{{1, 0, 2}, {0, 0.5, 0}, {-1, 0, 0}, {0, 0, 0}, {0.3, 0.2, 0.1}}
	const d = 20000
	z := mustRead(t, fourier(t, dense(t, rows...), d))
	for i := range rows {
		for j := range i + 1 {
			var dist, got float64
			for k := range 3 {
				dist += math.Pow(rows[i][k]-rows[j][k], 2)
			}
			for k, v := range z.x[i] {
				got += v * z.x[j][k]
			}
			// One term of the sum has a variance of at most 1 about its mean.
			if want := math.Exp(-0.3 * dist); !(math.Abs(got-want) <= 5/math.Sqrt(d)) {
				t.Errorf("kernel (%d, %d) is %v, want %v", i, j, got, want)
			}
		}
	}
	same := func(what string, other table) {
		t.Helper()
		for i, row := range z.x {
			for k, v := range row {
				if v != other.x[i][k] {
					t.Fatalf("%s: feature (%d, %d) is %v, was %v", what, i, k, other.x[i][k], v)
				}
			}
		}
	}
	parts, err := dataset.Concat(dense(t, rows[:2]...), dense(t, rows[2:]...))
	if err != nil {
		t.Fatal(err)
	}
	same("other blocks", mustRead(t, fourier(t, parts, d)))
	same("sparse", mustRead(t, fourier(t, sparse(t, rows...), d)))
	other, err := dataset.Fourier{Components: d, Gamma: 0.3, Seed: 8}.Apply(dense(t, rows...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if mustRead(t, other).x[0][0] == z.x[0][0] {
		t.Error("another seed gives the same features")
	}
	for _, f := range []dataset.Fourier{
		{}, {Components: 3}, {Components: -1, Gamma: 1}, {Components: 3, Gamma: math.NaN()},
		{Components: 3, Gamma: math.Inf(1)}, {Components: math.MaxInt, Gamma: 1},
	} {
		if _, err := f.Apply(dense(t, rows...), nil); err == nil {
			t.Errorf("%+v accepted", f)
		}
	}
}
