package dataset_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// slow is a Reader that notices being closed while it reads.
type slow struct {
	reading, raced *atomic.Bool
}

func (s slow) Read(b *dataset.Buffer, _ int) error {
	s.reading.Store(true)
	for range 200 {
		runtime.Gosched()
	}
	b.X = append(b.X, 1)
	b.EndRow()
	s.reading.Store(false)
	return nil
}

func (s slow) Close() error {
	if s.reading.Load() {
		s.raced.Store(true)
	}
	return nil
}

// TestCloseAfterRead: a Reader is not closed while it is being read from,
// wherever the loop is left.
func TestCloseAfterRead(t *testing.T) {
	var reading, raced atomic.Bool
	s := dataset.NewStream(-1, 1, 0, false, func() (dataset.Reader, error) { return slow{&reading, &raced}, nil })
	for k := range 200 {
		left := k % 5
		for _, err := range s.Blocks(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			left--
			if left < 0 {
				break
			}
		}
	}
	if raced.Load() {
		t.Error("closed during Read")
	}
}

// wrapped is a Reader whose failure has io.EOF for a cause.
type wrapped struct{}

func (wrapped) Read(*dataset.Buffer, int) error {
	return &dataset.InputError{File: "f", Msg: "ends early", Err: io.EOF}
}
func (wrapped) Close() error { return nil }

// TestWrappedEOF: an error whose cause is io.EOF is an error, not the end.
func TestWrappedEOF(t *testing.T) {
	s := dataset.NewStream(-1, 1, 0, false, func() (dataset.Reader, error) { return wrapped{}, nil })
	var e *dataset.InputError
	if _, err := read(t, s); !errors.As(err, &e) {
		t.Errorf("%v, want the reader's error", err)
	}
}

// TestTransformsAllocateNothing: ten times the blocks, no more memory.
func TestTransformsAllocateNothing(t *testing.T) {
	csr := func(n int) dataset.Source {
		c := &engine.CSR{Rows: n, Cols: 2, RowPtr: make([]int, n+1), ColIdx: make([]int32, n), Val: make([]float64, n)}
		for i := range n {
			c.RowPtr[i+1], c.Val[i] = i+1, 1
		}
		s, err := dataset.FromCSR(c, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	closed := 0
	for name, make := range map[string]func(n int) dataset.Source{
		"rows of sparse":    func(n int) dataset.Source { return part(t, csr(n), 0, int64(n)) },
		"fourier of sparse": func(n int) dataset.Source { return fourier(t, csr(n), 8) },
		"fourier of stream": func(n int) dataset.Source { return fourier(t, stream(n, -1, &closed), 8) },
		"held-out rows": func(n int) dataset.Source {
			_, held, err := dataset.Holdout{Share: 0.3}.Split(stream(n, -1, &closed))
			if err != nil {
				t.Fatal(err)
			}
			return held
		},
		"zip": func(n int) dataset.Source { return zipped(t, csr(n), stream(n, -1, &closed)) },
	} {
		count := func(n int) float64 {
			s := make(n)
			return testing.AllocsPerRun(3, func() {
				for _, err := range s.Blocks(context.Background()) {
					if err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		if few, many := count(15000), count(45000); !(many <= few+30) {
			t.Errorf("%s: %v allocations for 15000 rows, %v for 45000", name, few, many)
		}
	}
}

func part(t *testing.T, src dataset.Source, lo, hi int64) dataset.Source {
	t.Helper()
	s, err := dataset.Rows(src, lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func zipped(t *testing.T, x, y dataset.Source) dataset.Source {
	t.Helper()
	s, err := dataset.Zip(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestZipTellsBothCounts, whichever side ends first.
func TestZipTellsBothCounts(t *testing.T) {
	closed := 0
	for _, n := range [][2]int{{7, 5}, {7, 30}, {4, 3}, {0, 3}, {3, 0}} {
		_, err := read(t, zipped(t, stream(n[0], -1, &closed), stream(n[1], -1, &closed)))
		want := unequal(n[0], n[1])
		if !errors.Is(err, dataset.ErrShape) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: %v, want …%s", n, err, want)
		}
	}
}

func unequal(nx, ny int) string {
	f := func(n int) string { return big.NewInt(int64(n)).String() }
	return f(nx) + " rows of features, " + f(ny) + " of targets"
}

// TestMomentsAgainstBigFloat: mean and standard deviation of hard columns, dense
// and sparse, within 1e-12 relative of 400-bit arithmetic.
func TestMomentsAgainstBigFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 6000
	rows := make([][]float64, n)
	for i := range rows {
		z := rng.NormFloat64()
		rows[i] = []float64{1e6 + z, 1e-8 * z, 1 + 1e-6*z, 1e100 * z, z}
		if i%7 != 0 {
			rows[i][4] = 0
		}
	}
	for name, src := range map[string]dataset.Source{"dense": dense(t, rows...), "sparse": sparse(t, rows...)} {
		_, s, err := dataset.Standardize(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		for j := range rows[0] {
			mean, sd := moments(rows, j)
			if name == "dense" && !(math.Abs(s.Mean[j]-mean) <= 1e-12*(math.Abs(mean)+sd)) {
				t.Errorf("dense column %d: mean %v, want %v", j, s.Mean[j], mean)
			}
			// Welford, one entry at a time, loses eps·mean/sd where the mean is far off.
			tol := 1e-12 + 0x1p-50*math.Abs(mean)/sd
			if !(math.Abs(s.Scale[j]-sd) <= tol*sd) {
				t.Errorf("%s column %d: scale %v, want %v", name, j, s.Scale[j], sd)
			}
		}
	}
}

// moments are mean and population standard deviation of column j.
func moments(rows [][]float64, j int) (mean, sd float64) {
	f := func() *big.Float { return new(big.Float).SetPrec(400) }
	n, sum, square := f().SetInt64(int64(len(rows))), f(), f()
	for _, r := range rows {
		sum.Add(sum, f().SetFloat64(r[j]))
	}
	m := f().Quo(sum, n)
	for _, r := range rows {
		d := f().Sub(f().SetFloat64(r[j]), m)
		square.Add(square, d.Mul(d, d))
	}
	mean, _ = m.Float64()
	sd, _ = f().Sqrt(square.Quo(square, n)).Float64()
	return mean, sd
}

// TestConstantColumns keep scale 1 exactly, dense and sparse, however long.
func TestConstantColumns(t *testing.T) {
	rows := make([][]float64, 9999)
	for i := range rows {
		rows[i] = []float64{0.1, 1e10 / 3, -7e-300, 0}
	}
	for name, src := range map[string]dataset.Source{"dense": dense(t, rows...), "sparse": sparse(t, rows...)} {
		_, s, err := dataset.Standardize(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range s.Scale {
			if v != 1 || (name == "dense" && s.Mean[j] != rows[0][j]) {
				t.Errorf("%s column %d: %v ± %v", name, j, s.Mean[j], v)
			}
		}
	}
}

// TestNothingInfiniteComesOut: squares and quotients that overflow are errors
// that name the place.
func TestNothingInfiniteComesOut(t *testing.T) {
	var e *dataset.InputError
	_, _, err := dataset.Standardize(context.Background(), dense(t, []float64{1, 1e200}, []float64{2, -1e200}))
	if !errors.As(err, &e) || !e.NonFinite || !strings.Contains(err.Error(), "feature 2") {
		t.Errorf("a variance of 1e400: %v", err)
	}
	s := &dataset.Scaling{Mean: []float64{0, 0}, Scale: []float64{1, 1e-10}}
	for name, src := range map[string]dataset.Source{"dense": dense(t, []float64{1, 1}, []float64{1, 1e305}), "sparse": sparse(t, []float64{1, 1}, []float64{1, 1e305})} {
		out, err := s.Apply(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, out); !errors.As(err, &e) || !e.NonFinite || e.Line != 2 || e.Column != 2 {
			t.Errorf("%s: 1e315 scaled: %v", name, err)
		}
	}
	// W·x = ±Inf or Inf − Inf, whose cosine is no number.
	if _, err := read(t, fourier(t, dense(t, []float64{1.7e308, -1.7e308, 1.7e308}), 50)); !errors.As(err, &e) ||
		!e.NonFinite {
		t.Errorf("features of 1.7e308: %v", err)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		s := &dataset.Scaling{Mean: []float64{0}, Scale: []float64{bad}}
		if _, err := s.Apply(dense(t, []float64{1})); err == nil {
			t.Errorf("a scale of %v is accepted", bad)
		}
	}
}

// TestWithoutTargets: what a prediction reads has none, through every transform.
func TestWithoutTargets(t *testing.T) {
	before := runtime.NumGoroutine()
	src, err := dataset.FromDense(5, 2, 0, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scaled, _, err := dataset.Standardize(context.Background(), part(t, src, 1, 5))
	if err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, fourier(t, scaled, 3)); len(got.x) != 4 || len(got.x[0]) != 3 || len(got.y[0]) != 0 {
		t.Errorf("%v", got)
	}
	for range fourier(t, scaled, 3).Blocks(context.Background()) {
		break
	}
	settled(t, before)
}

// TestFourierThreads: the same bits for any number of processors and any blocks.
func TestFourierThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, 101)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), 0, rng.NormFloat64()}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := mustRead(t, fourier(t, sparse(t, rows...), 33))
	for _, procs := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(procs)
		got := mustRead(t, fourier(t, sparse(t, rows...), 33))
		for i := range want.x {
			for k, v := range want.x[i] {
				if got.x[i][k] != v {
					t.Fatalf("%d processors: feature (%d, %d) is %v, with one it is %v", procs, i, k, got.x[i][k], v)
				}
			}
		}
	}
}

// TestScaledSparse: sparse rows are scaled by the scales of their columns, and filled where a mean is not zero.
func TestScaledSparse(t *testing.T) {
	src, err := dataset.FromCSR(
		&engine.CSR{Rows: 2, Cols: 4, RowPtr: []int{0, 2, 3}, ColIdx: []int32{1, 3, 0}, Val: []float64{6, 10, -8}},
		1,
		make([]float64, 2),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, mean := range []float64{0, 4} {
		s := &dataset.Scaling{Mean: []float64{mean, 0, 0, 0}, Scale: []float64{8, 3, 2, 5}}
		scaled, err := s.Apply(src)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{-mean / 8, 2, 0, 2, -1 - mean/8, 0, 0, 0}
		got := mustRead(t, scaled)
		if x := slices.Concat(got.x...); got.sparse != (mean == 0) || !slices.Equal(x, want) {
			t.Errorf("mean %g: %v, want %v", mean, x, want)
		}
	}
}
