package choose_test

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestFoldsBounded: more folds than rows, or than memory has room for, are refused before
// there is a pass or a sketch.
func TestFoldsBounded(t *testing.T) {
	src := testkit.Waves(t, 40, 3, 1)
	cfg := ridge.SummaryConfig{Size: 2}
	read := false
	unknown := testkit.Uncounted{Source: src, Asked: func() { read = true }}
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
		src := testkit.Waves(t, c.n, c.d, c.targets)
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
