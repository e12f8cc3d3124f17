package live_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/fdridge/fdridge/live"
)

// TestHeals: a run that goes on from the file before, as the last is damaged, makes the file whole again though no
// row comes, and once.
func TestHeals(t *testing.T) {
	for _, f := range kinds {
		s := newTester(t, f)
		for _, b := range blocks(rand.New(rand.NewPCG(20, 9)), 2) {
			src := make(feed, 1)
			src <- b
			close(src)
			check(t, s.do(t, t.Context(), src))
		}
		check(t, os.WriteFile(s.name, []byte("no sketch"), 0o600))
		s.run.File = must(live.Open(s.name))(t)
		before, damage, err := s.run.File.Load(nil)
		if err != nil || damage == nil {
			t.Fatalf("%v: %v, %v", f, damage, err)
		}
		s.run.Sketch, s.run.Every = before, time.Hour // so that the file is only written at the end of the rows
		for wrote := range 2 {
			none := make(feed)
			close(none)
			check(t, s.run.Do(t.Context(), none))
			i := s.told[len(s.told)-1]
			if i.Rows != before.Rows() || (i.Written > 0) != (wrote == 0 || f.Duration+f.HalfLife > 0) {
				t.Errorf("%v: %+v", f, i)
			}
			if !bytes.Equal(message(t, s.read(t)), message(t, before)) {
				t.Errorf("%v: the file is another", f)
			}
		}
		check(t, s.run.File.Close())
	}
}
