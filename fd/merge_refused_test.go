package fd_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

// failing is a backend whose eigenproblems do not converge.
type failing struct{ engine.Backend }

func (failing) SymEig(engine.Matrix, []float64, engine.Matrix, []float64) bool { return false }

// TestMergeRefused: a merge with a sketch that is lost, or that has had too many shrinks to count, is refused
// and changes neither.
func TestMergeRefused(t *testing.T) {
	s := newSketch(t, fd.Config{Dim: 3, Size: 1})
	for i := range 5 {
		check(t, s.AppendRow([]float64{1, 2, float64(i)}))
	}
	before := marshal(t, s)

	lost := newSketch(t, fd.Config{Dim: 3, Size: 1, Backend: failing{must(engine.Default())(t)}})
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = lost.AppendRow([]float64{1, 2, float64(i)})
	}
	if !errors.Is(err, fd.ErrNoConvergence) {
		t.Fatal(err)
	}
	if err := s.Merge(lost); !errors.Is(err, fd.ErrNoConvergence) {
		t.Errorf("a lost sketch is merged: %v", err)
	}
	if err := lost.Merge(s); !errors.Is(err, fd.ErrNoConvergence) {
		t.Errorf("a lost sketch is merged into: %v", err)
	}

	forged := bytes.Clone(before)
	wiretest.Put(forged, 80, 1<<62)
	many := must(fd.ReadSketch(bytes.NewReader(wiretest.Seal(forged)), nil))(t)
	if err := s.Merge(many); s.Shrinks() == 0 || !errors.Is(err, engine.ErrInput) {
		t.Errorf("with %d and %d shrinks: %v", s.Shrinks(), many.Shrinks(), err)
	}
	if !bytes.Equal(marshal(t, s), before) {
		t.Error("a merge that was refused has changed the sketch")
	}
}
