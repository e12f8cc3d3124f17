package live_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge/window"
)

// A list is a source of some blocks. before, if not nil, is called before each block is read, and
// once more at the end, which is err.
type list struct {
	blocks []dataset.Block
	before func(k int)
	err    error
}

func (l list) Dims() (n int64, d, t int) { return -1, dim, 1 }

func (l list) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for k := 0; ; k++ {
			if l.before != nil {
				l.before(k)
			}
			if k == len(l.blocks) {
				if l.err != nil {
					yield(dataset.Block{}, l.err)
				}
				return
			}
			if !yield(l.blocks[k], nil) {
				return
			}
		}
	}
}

// TestClockSetBack: if the machine's clock is set back, the time of a sketch stands still until
// the clock has caught up.
func TestClockSetBack(t *testing.T) {
	all := blocks(rand.New(rand.NewPCG(31, 1)), 5)
	clock := []time.Duration{0, time.Second, -time.Hour, 500 * time.Millisecond, 2 * time.Second, -time.Minute}
	shown := []time.Duration{0, time.Second, time.Second, time.Second, 2 * time.Second, 2 * time.Second}
	for _, f := range kinds {
		if f.Duration+f.HalfLife == 0 {
			continue
		}
		s := newTester(t, f)
		s.run.Every = time.Hour
		src := list{blocks: all, before: func(k int) { s.at = start.Add(clock[k]) }} // block k−1 was appended
		check(t, s.do(t, t.Context(), src))
		twin := must(window.NewStream(configOf(f)))(t)
		for k, b := range all {
			check(t, twin.AppendAt(start.Add(shown[k]), b))
		}
		advance(t, twin, start.Add(shown[len(all)]))
		if !bytes.Equal(message(t, s.read(t)), message(t, twin)) {
			t.Errorf("%v: the file is not that of a clock that stood still", f)
		}
		if last := s.told[len(s.told)-1]; !last.Time.Equal(start.Add(2*time.Second)) || last.Seconds != 2 {
			t.Errorf("%v: told %v after %v s", f, last.Time, last.Seconds)
		}
	}
}

// TestIntervalsLeaveTime: if the end of an interval takes longer than a tenth of Every, the next
// one comes ten times as long after it. Otherwise it comes after Every.
func TestIntervalsLeaveTime(t *testing.T) {
	for _, takes := range []time.Duration{0, time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s, src := newTester(t, window.Policy{Rows: 1000}), make(feed)
			s.run.Every, s.run.Clock = time.Minute, nil
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { src <- blocks(rand.New(rand.NewPCG(31, 2)), 1)[0] }()
			var ended time.Time
			count := 0
			s.run.Tell = func(i live.Interval) error {
				began := time.Now()
				count++
				if count > 1 && i.End == "" {
					if got, want := began.Sub(ended), max(time.Minute, 10*takes); got != want {
						t.Errorf("an interval that takes %v: the next ends %v later, want %v", takes, got, want)
					}
				}
				if i.End != "" {
					return nil // the reader waits for the sketch's lock here, and a bubble's clock stops meanwhile
				}
				time.Sleep(takes)
				ended = time.Now()
				if count == 4 {
					cancel()
				}
				return nil
			}
			check(t, s.do(t, ctx, src))
			if count != 5 {
				t.Errorf("told %d times", count)
			}
		})
	}
}

// TestLastWriteFails: an error of the last write is returned together with the error of the source.
func TestLastWriteFails(t *testing.T) {
	for _, broken := range []error{nil, errBroken} {
		s := newTester(t, window.Policy{})
		s.run.Every = time.Hour
		s.run.File = must(live.Open(s.name))(t)
		src := list{blocks: blocks(rand.New(rand.NewPCG(31, 3)), 2), err: broken}
		src.before = func(k int) {
			if k == 2 {
				check(t, os.MkdirAll(filepath.Join(s.name+".new", "in the way"), 0o700))
			}
		}
		err := s.run.Do(t.Context(), src)
		if _, ok := errors.AsType[*fs.PathError](err); !ok || errors.Is(err, errBroken) != (broken != nil) {
			t.Errorf("source's error %v: %v", broken, err)
		}
		check(t, s.run.File.Close())
	}
}
