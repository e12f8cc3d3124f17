package file_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// sources are the same rows, of three features and a target, in every format and
// through every transform, in several blocks each.
func sources(t *testing.T) map[string]dataset.Source {
	t.Helper()
	const n, d = 2*8192 + 217, 4
	r := rand.New(rand.NewPCG(5, 6))
	x, columns := make([]float64, n*d), make([]float64, n*d)
	weights, target := make([]float64, n), make([]float64, n)
	var text, svm strings.Builder
	for i := range n {
		for j := range d {
			v := float64(r.IntN(2000)-1000) / 8
			x[i*d+j], columns[j*n+i] = v, v
			text.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			text.WriteByte(",\n"[b2i(j == d-1)])
		}
		target[i], weights[i] = x[i*d+d-1], float64(r.IntN(4))
		fmt.Fprintf(&svm, "%v 1:%v 3:%v\n", target[i], x[i*d], x[i*d+2])
	}
	text4, shape := text.String(), fmt.Sprintf("(%d, %d)", n, d)
	rows, fortran := npy("<f8", "False", shape, floats(le, x...)), npy("<f8", "True", shape, floats(le, columns...))
	half := strings.Index(text4[len(text4)/2:], "\n") + len(text4)/2 + 1
	alone := npy("<f8", "False", fmt.Sprintf("(%d,)", n), floats(le, target...))
	last := file.Options{Target: []string{"last"}, Targets: 1, Header: csv.Absent}
	label := file.Options{Targets: 1, Features: 3}

	out := map[string]dataset.Source{}
	add := func(name string, opts file.Options, texts ...string) dataset.Source {
		var paths []string
		for _, text := range texts {
			paths = append(paths, named(t, "data", text))
		}
		out[name] = opened(t, paths, opts)
		return out[name]
	}
	plain := last
	plain.Header = csv.Auto
	zipsrc := add("csv.gz", last, zipped(t, text4))
	add("csv", last, text4)
	add("csv.zst", last, zstandard(t, text4))
	add("two csv", last, text4[:half], text4[half:])
	add("npy", plain, rows)
	add("npy.gz", plain, zipped(t, rows))
	add("npy Fortran", plain, fortran)
	add("npz", plain, npz(t, zip.Store, "x.npy", rows))
	add("npz deflated", plain, npz(t, zip.Deflate, "x.npy", rows))
	add("npz Fortran", plain, npz(t, zip.Store, "x.npy", fortran))
	add(
		"npz, two arrays",
		file.Options{Target: []string{"y"}, Targets: 1},
		npz(t, zip.Deflate, "x.npy", rows, "y.npy", alone),
	)
	add("parquet", plain, parquetFile(t, []string{"a", "b", "c", "y"}, n, x))
	sparse := add("svmlight", label, svm.String())
	add("svmlight.gz", label, zipped(t, svm.String()))
	add("target file", file.Options{Target: []string{named(t, "y", alone)}, Targets: 1}, rows)
	w := opened(
		t,
		[]string{named(t, "weights", npy("<f8", "False", fmt.Sprintf("(%d,)", n), floats(le, weights...)))},
		file.Options{},
	)

	transform := func(name string, src dataset.Source, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = src
	}
	scaled, scaling, err := dataset.Standardize(context.Background(), zipsrc)
	transform("standardised", scaled, err)
	src, err := scaling.Apply(sparse)
	transform("centred sparse", src, err)
	src, err = dataset.Fourier{Components: 3, Gamma: 1e-3}.Apply(zipsrc, nil)
	transform("Fourier", src, err)
	src, err = dataset.Polynomial{Degree: 2}.Apply(scaled, nil)
	transform("polynomial of standardised", src, err)
	src, err = dataset.Rows(zipsrc, 100, n-100)
	transform("rows", src, err)
	src, err = dataset.Every(zipsrc, 3)
	transform("every third", src, err)
	src, err = dataset.Concat(zipsrc, scaled)
	transform("one after the other", src, err)
	src, err = dataset.Weigh(sparse, w)
	transform("weighted", src, err)
	dense, err := dataset.FromDense(n, d, 1, x, target)
	transform("memory", dense, err)
	pairs := make([]float64, 0, 2*n)
	for i, w := range weights {
		pairs = append(pairs, target[i], w)
	}
	two, err := dataset.FromDense(n, d, 2, x, pairs)
	if err == nil {
		src, err = dataset.TargetAsWeight(two)
	}
	transform("target as weight", src, err)
	csr := &engine.CSR{Rows: n, Cols: d, RowPtr: make([]int, n+1)}
	src, err = dataset.FromCSR(csr, 1, target)
	transform("sparse memory", src, err)
	return out
}

// rowsOf digests each row of a block: its features, targets and weight.
func rowsOf(b dataset.Block, d, t int) (rows []uint64) {
	for i := range b.N {
		h := uint64(1)
		put := func(v float64) { h = (bits.RotateLeft64(h, 7) ^ math.Float64bits(v)) * 0x9e3779b97f4a7c15 }
		if b.Sparse != nil {
			idx, val := b.Sparse.Row(i)
			for k, v := range val {
				put(float64(idx[k]))
				put(v)
			}
		} else {
			for _, v := range b.X[i*d : (i+1)*d] {
				put(v)
			}
		}
		for _, v := range b.Y[i*t : (i+1)*t] {
			put(v)
		}
		put(b.Weight(i))
		rows = append(rows, h)
	}
	return rows
}

// take reads a pass and shows it the number of blocks so far, until more says no.
func take(ctx context.Context, src dataset.Source, more func(blocks int) bool) (rows []uint64, blocks int, err error) {
	_, d, t := src.Dims()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return rows, blocks, err
		}
		rows = append(rows, rowsOf(b, d, t)...)
		blocks++
		if !more(blocks) {
			return rows, blocks, nil
		}
	}
	return rows, blocks, nil
}

func always(int) bool { return true }

// TestPasses ends passes over every source in every way, and looks for what they leave
// behind.
func TestPasses(t *testing.T) {
	for name, src := range sources(t) {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			start := time.Now()
			want, blocks, err := take(context.Background(), src, always)
			if err != nil || blocks < 3 {
				t.Fatalf("%d blocks, %v", blocks, err)
			}
			took := time.Since(start)
			endPasses(t, src, want, blocks)
			cancelAnyTime(t, src, want, took)
			passesAtOnce(t, src, want, blocks)
		})
	}
}

func isPrefix(got, want []uint64) bool {
	return len(got) <= len(want) && slices.Equal(got, want[:len(got)])
}

// endPasses: a pass that is cancelled yields the context's error, after rows that are
// right; one that is left early has no error.
func endPasses(t *testing.T, src dataset.Source, want []uint64, blocks int) {
	expired, stop := context.WithDeadline(context.Background(), time.Now())
	defer stop()
	if rows, _, err := take(expired, src, always); len(rows) > 0 || err != context.DeadlineExceeded {
		t.Errorf("after the deadline: %d rows, %v", len(rows), err)
	}
	if out, scaling, err := dataset.Standardize(expired, src); err != context.DeadlineExceeded || out != nil ||
		scaling != nil {
		t.Errorf("standardising after the deadline: %v, %v, %v", out, scaling, err)
	}
	for at := 1; at < blocks; at += 1 + blocks/4 {
		ctx, cancel := context.WithCancel(context.Background())
		rows, seen, err := take(ctx, src, func(n int) bool {
			if n == at {
				cancel()
			}
			return true
		})
		if err != context.Canceled || seen != at || !isPrefix(rows, want) {
			t.Errorf("cancelled in block %d of %d: %d blocks, error %v", at, blocks, seen, err)
		}
		rows, seen, err = take(context.Background(), src, func(n int) bool { return n < at })
		if err != nil || seen != at || !isPrefix(rows, want) {
			t.Errorf("left in block %d of %d: %d blocks, error %v", at, blocks, seen, err)
		}
		cancel()
	}
}

// cancelAnyTime cancels from another goroutine, whatever the readers are at.
func cancelAnyTime(t *testing.T, src dataset.Source, want []uint64, took time.Duration) {
	passes, cut := 3, 0
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		passes = 8
	}
	for range passes {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(rand.N(took), cancel)
		rows, _, err := take(ctx, src, always)
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatal(err)
		case !isPrefix(rows, want):
			t.Fatalf("%d rows that are not the first of %d", len(rows), len(want))
		case err == nil && len(rows) != len(want):
			t.Fatalf("%d of %d rows without an error", len(rows), len(want))
		case err != nil:
			cut++
		}
		timer.Stop()
		cancel()
	}
	t.Logf("%d of %d passes were cut short", cut, passes)
}

// passesAtOnce makes six passes over one source at the same time. Half of the passes end early.
func passesAtOnce(t *testing.T, src dataset.Source, want []uint64, blocks int) {
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			most := blocks
			if g%2 == 1 {
				most = 1 + g/2
			}
			rows, _, err := take(context.Background(), src, func(n int) bool { return n < most })
			if err != nil || !isPrefix(rows, want) || most == blocks && len(rows) != len(want) {
				t.Errorf("pass %d: %d of %d rows, %v", g, len(rows), len(want), err)
			}
		})
	}
	wg.Wait()
}
