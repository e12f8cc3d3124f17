package fd_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// TestAppendFunc: rows that a function writes in place leave the sketch in the same state as rows copied into it. This
// holds for any number of rows at a time and however full the sketch is. If a row is bad, only rows of the same call of
// the function are dropped.
func TestAppendFunc(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(1, 18))
	for _, cfg := range []fd.Config{{Dim: 300, Size: 7}, {Dim: 5, Size: 5}, {Dim: 40, Size: 30}, {Dim: 9000, Size: 3}} {
		d := cfg.Dim
		x := make([]float64, n*d)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, step := range []int{1, 3, 64, n} {
			copied, made := mustNew(t, cfg), mustNew(t, cfg)
			for lo := 0; lo < n; lo += step {
				k, next := min(step, n-lo), 0
				if err := copied.AppendRows(k, x[lo*d:], d); err != nil {
					t.Fatal(err)
				}
				err := made.AppendFunc(k, func(first int, rows engine.Matrix) {
					if first != next || rows.Cols != d || rows.Rows < 1 {
						t.Fatalf("rows %d to %d of %d columns, after row %d", first, first+rows.Rows, rows.Cols, next)
					}
					for i := range rows.Rows {
						copy(rows.Row(i), x[(lo+first+i)*d:])
					}
					next = first + rows.Rows
				})
				if err != nil || next != k {
					t.Fatalf("%d of %d rows were made: %v", next, k, err)
				}
			}
			a, b := marshal(t, copied), marshal(t, made)
			if !bytes.Equal(a, b) {
				t.Errorf("%+v, %d at a time: another sketch", cfg, step)
			}
		}
	}

	s := mustNew(t, fd.Config{Dim: 20000, Size: 4})
	calls := 0
	err := s.AppendFunc(40, func(first int, rows engine.Matrix) {
		calls++
		for i := range rows.Rows {
			for j := range rows.Row(i) {
				rows.Row(i)[j] = 1
			}
			if first+i == 10 {
				rows.Row(i)[3] = math.Inf(-1)
			}
		}
	})
	var bad *fd.NonFiniteError
	if !errors.As(err, &bad) || bad.Row != 10 || bad.Col != 3 || calls < 2 {
		t.Fatalf("%v after %d calls", err, calls)
	}
	if s.Rows() == 0 || s.Rows() > 10 {
		t.Errorf("%d rows stayed", s.Rows())
	}
	if b := s.Bound(); b.Frobenius2 != float64(s.Rows())*20000 {
		t.Errorf("‖A‖² is %g of %d rows of ones", b.Frobenius2, s.Rows())
	}
	if err := s.AppendFunc(-1, nil); !errors.Is(err, engine.ErrShape) {
		t.Errorf("%v", err)
	}
}

func mustNew(t *testing.T, cfg fd.Config) *fd.Sketch {
	t.Helper()
	s, err := fd.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
