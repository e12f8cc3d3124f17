package ridge_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// uncounted is a source that does not know how many rows it has, and may tell when it is
// asked for them.
type uncounted struct {
	dataset.Source
	asked func()
}

func (u uncounted) Dims() (n int64, d, t int) {
	_, d, t = u.Source.Dims()
	return -1, d, t
}

func (u uncounted) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	if u.asked != nil {
		u.asked()
	}
	return u.Source.Blocks(ctx)
}

func waves(t *testing.T, n, d, targets int) dataset.Source {
	t.Helper()
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = math.Sin(float64(i*i%1009 + i))
	}
	for i := range y {
		y[i] = math.Cos(float64(3*i + i%7))
	}
	return must(dataset.FromDense(n, d, targets, x, y))(t)
}

// TestFoldsBounded: more folds than rows, or than memory has room for, are refused before
// there is a pass or a sketch.
func TestFoldsBounded(t *testing.T) {
	src := waves(t, 40, 3, 1)
	cfg := ridge.SummaryConfig{Size: 2}
	read := false
	unknown := uncounted{src, func() { read = true }}
	for _, folds := range []int{41, 1 << 30, math.MaxInt} {
		_, err := choose.CrossValidate(t.Context(), src, cfg, choose.CrossValidation{Folds: folds})
		if !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%d folds of 40 rows: %v", folds, err)
		}
	}
	for _, cv := range []choose.CrossValidation{
		{Folds: 1 << 30}, {Folds: math.MaxInt}, {Folds: 1e7}, {Folds: 40, MaxBytes: 1000},
	} {
		for _, exact := range []bool{false, true} {
			cv.Exact = exact
			_, err := choose.CrossValidate(t.Context(), unknown, cfg, cv)
			limit := cv.MaxBytes
			if limit == 0 {
				limit = 8 << 30
			}
			e, ok := errors.AsType[*choose.FoldsError](err)
			if !ok || e.Folds != cv.Folds || e.Limit != limit || e.Bytes <= limit || read {
				t.Errorf("%d folds: %v", cv.Folds, err)
			}
		}
	}
	if _, err := choose.CrossValidate(
		t.Context(), src, cfg, choose.CrossValidation{Folds: 40, Gammas: []float64{1}},
	); err != nil {
		t.Errorf("as many folds as rows: %v", err)
	}
	if _, err := choose.CrossValidate(
		t.Context(), unknown, cfg, choose.CrossValidation{Folds: 41, Gammas: []float64{1}},
	); !errors.Is(err, ridge.ErrShape) || !read {
		t.Errorf("more folds than rows that were counted: %v", err)
	}
}

// TestFoldsMemory: the folds allocate about the memory that FoldsError states for them: at most this, and at least a
// quarter of it, up to 128 KiB.
func TestFoldsMemory(t *testing.T) {
	for _, c := range []struct{ n, d, targets, size, folds int }{
		{4000, 10, 1, 4, 50}, {4000, 200, 1, 32, 20}, {600, 1000, 3, 8, 20}, {1500, 120, 1, 120, 5}, {60000, 8, 1, 8, 5},
	} {
		src := waves(t, c.n, c.d, c.targets)
		cv := choose.CrossValidation{Folds: c.folds, Gammas: []float64{1}, MaxBytes: 1}
		cfg := ridge.SummaryConfig{Size: c.size, Intercept: true}
		_, err := choose.CrossValidate(t.Context(), src, cfg, cv)
		e, ok := errors.AsType[*choose.FoldsError](err)
		if !ok {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		cv.MaxBytes = e.Bytes
		cv.Progress = func(_ int, rows int64) {
			if rows == int64(c.n) {
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
		}
		if _, err := choose.CrossValidate(t.Context(), src, cfg, cv); err != nil {
			t.Fatal(err)
		}
		took := float64(after.HeapAlloc) - float64(before.HeapAlloc)
		t.Logf("%+v: said %d, took %.0f", c, e.Bytes, took)
		if said := float64(e.Bytes); !(took <= said+1<<17) || !(said <= 4*took+1<<17) {
			t.Errorf("%+v: said to need %.0f bytes, took %.0f", c, said, took)
		}
	}
}
