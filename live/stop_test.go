package live_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge/window"
)

// An endless source yields the same block until it is stopped.
type endless dataset.Block

func (e endless) Dims() (n int64, d, t int) { return -1, dim, 1 }

func (e endless) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for ctx.Err() == nil {
			if !yield(dataset.Block(e), nil) {
				return
			}
		}
		yield(dataset.Block{}, ctx.Err())
	}
}

// ends runs a live sketch until it ends, which it does.
func (s *tester) ends(t *testing.T, ctx context.Context, src dataset.Source) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.do(t, ctx, src) }()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		panic("the run hangs") // so that the stacks are shown
	}
}

// TestStopsWhileRowsCome stops runs while they append a block of a source that always has another. Each run ends,
// and the file has all rows that were appended.
func TestStopsWhileRowsCome(t *testing.T) {
	leaktest.Check(t)
	src := endless{N: 5, X: make([]float64, 5*dim), Y: make([]float64, 5)}
	for i := range src.X {
		src.X[i] = float64(i % 7)
	}
	for blocks := range 30 {
		s := newTester(t, window.Policy{})
		s.run.Every = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		s.run.Clock = func() time.Time { // called when the run begins, and for each block
			calls++
			if calls == 2+blocks {
				cancel()
				time.Sleep(100 * time.Microsecond) // the source hears of it first
			}
			return start
		}
		check(t, s.ends(t, ctx, src))
		last := s.told[len(s.told)-1]
		rows := s.read(t).Rows()
		if last.End != live.Stopped || last.Rows != rows || rows != s.run.Sketch.Rows() || rows < int64(5*(1+blocks)) {
			t.Errorf("told %+v, the file has %d rows", last, rows)
		}
	}
}
