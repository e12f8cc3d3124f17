package dataset_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fdridge/fdridge/dataset"
)

// sleepy is a reader of three rows that takes a second for each.
type sleepy struct{ rows int }

func (r *sleepy) Read(b *dataset.Buffer, rows int) error {
	if r.rows == 3 {
		return errEnd
	}
	time.Sleep(time.Second)
	r.rows++
	b.X = append(b.X, float64(r.rows))
	b.EndRow()
	return nil
}

func (r *sleepy) Close() error { return nil }

var errEnd = errors.New("the end")

// TestWaits: what a pass waits for is told by name, and a wait that nobody asks for is not.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := dataset.NewStream(-1, 1, 0, false, func() (dataset.Reader, error) { return new(sleepy), nil })
		var w dataset.Waits
		for _, ctx := range []context.Context{t.Context(), w.Context(t.Context())} {
			for _, err := range src.Blocks(ctx) {
				if err != nil && !errors.Is(err, errEnd) {
					t.Fatal(err)
				}
			}
		}
		names, times := w.Of()
		if len(names) != 1 || names[0] != "reading" || times[0] != 3*time.Second {
			t.Errorf("waited for %v, %v", names, times)
		}
	})
}
