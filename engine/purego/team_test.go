package purego

import (
	"runtime"
	"testing"
)

// A waiting task has parts that wait for release.
type waiting struct{ started, release chan struct{} }

func (w waiting) doPart(int, *scratch) {
	w.started <- struct{}{}
	<-w.release
}

// TestFree: goroutines at work are not offered to a second task, and are free again at its end.
func TestFree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := free()
	for _, parts := range []int{1, 2} {
		w, ended := waiting{make(chan struct{}), make(chan struct{})}, make(chan struct{})
		if runtime.NumCPU() < parts {
			t.Skip("one core has no helpers")
		}
		go func() {
			new(team).run(w, parts)
			close(ended)
		}()
		for range parts {
			<-w.started
		}
		if got := free(); got != before-parts {
			t.Errorf("%d of %d goroutines are free beside %d parts", got, before, parts)
		}
		close(w.release)
		<-ended
		if got := free(); got != before {
			t.Errorf("%d of %d goroutines are free at the end", got, before)
		}
	}
}
