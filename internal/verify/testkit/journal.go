package testkit

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// Memory is a journal in memory that ends a solve after Left records. It cancels
// the context by End. If Kill is true, it also loses all later records, like a
// process that is killed.
type Memory struct {
	Rng    *rand.Rand
	States map[int][]byte
	Left   int // records until the end
	Kill   bool
	End    context.CancelFunc
	Asked  int  // states handed out
	Never  bool // is a state due
}

func (m *Memory) Recorded(pass int) ([]byte, error) {
	if m.States[pass] != nil {
		m.Asked++
	}
	return m.States[pass], nil
}

func (m *Memory) Due() bool { return !m.Never && m.Rng.IntN(3) == 0 }

func (m *Memory) Record(pass int, state []byte) error {
	m.Left--
	if m.Left < 0 {
		m.End()
		if m.Kill {
			return nil
		}
	}
	maps.DeleteFunc(m.States, func(k int, _ []byte) bool { return k > pass })
	m.States[pass] = state
	return nil
}

func Solved(t *testing.T, fits []*ridge.Solution, err error) []*ridge.Solution {
	t.Helper()
	if e, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
		return e.Solutions
	}
	if err != nil {
		t.Fatal(err)
	}
	return fits
}
