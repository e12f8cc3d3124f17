package prepare_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset/prepare"
)

// TestLexicon: several goroutines get the same code for the same text, and the codes are 0 to n − 1. A lookup of a
// known text allocates nothing. Equal numbers have the code of their text.
func TestLexicon(t *testing.T) {
	var l prepare.Lexicon
	var wait sync.WaitGroup
	codes := make([][]float64, 4)
	for g := range codes {
		codes[g] = make([]float64, 1000)
		wait.Go(func() {
			for round := range 3 {
				for k := range 1000 {
					i := (k*7 + g*131) % 1000
					code, ok := l.Code(fmt.Appendf(nil, "level %d", i))
					if !ok || round > 0 && code != codes[g][i] {
						t.Errorf("text %d has the code %v, had %v", i, code, codes[g][i])
					}
					codes[g][i] = code
				}
			}
		})
	}
	wait.Wait()
	seen := map[float64]bool{}
	for i, code := range codes[0] {
		seen[code] = true
		if code != codes[1][i] || code < 0 || code >= 1000 {
			t.Errorf("text %d has the codes %v and %v", i, code, codes[1][i])
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d codes of 1000 texts", len(seen))
	}
	text := []byte("level 7")
	if n := testing.AllocsPerRun(100, func() {
		if _, ok := l.Code(text); !ok {
			t.Error("no code")
		}
	}); n > 0 {
		t.Errorf("%v allocations for a text that is known", n)
	}
	a, _ := l.Number(0)
	b, _ := l.CodeOf("0")
	if c, _ := l.Number(math.Copysign(0, -1)); a != b || c != b {
		t.Errorf("zeros have the codes %v, %v and %v", a, b, c)
	}
}
