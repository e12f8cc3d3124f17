package dataset_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestLexicon: codes are those of the order of the texts, of several goroutines at a time one for each
// text, and asking again takes no memory.
func TestLexicon(t *testing.T) {
	var l dataset.Lexicon
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
		if seen[code] = true; code != codes[1][i] || code < 0 || code >= 1000 {
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

// TestHoldout: rows are held out by the documented hash of their number, and each row is in one of
// the two parts.
func TestHoldout(t *testing.T) {
	// By Python: of 0 to 19 those with ((z ^ z >> 31) >> 11) * 2**-53 < 0.2.
	h := dataset.Holdout{Share: 0.2}
	var held []int64
	for i := range int64(20) {
		if h.Held(i) {
			held = append(held, i)
		}
	}
	if want := []int64{2, 4, 6}; !slices.Equal(held, want) {
		t.Errorf("held out are %v, want %v", held, want)
	}
	const n = 5000
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	src := gappy(t, 1, x, nil)
	fitted, out, err := h.Split(src)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := encoded(t, fitted)
	b, _ := encoded(t, out)
	na, _, _ := fitted.Dims()
	nb, _, _ := out.Dims()
	if na != int64(len(a)) || nb != int64(len(b)) || !(math.Abs(float64(nb)/n-0.2) < 0.02) {
		t.Errorf("%d and %d rows, %d and %d are said to be", len(a), len(b), na, nb)
	}
	for _, v := range b {
		if !h.Held(int64(v)) {
			t.Errorf("row %v is held out", v)
		}
	}
	all := append(slices.Clone(a), b...)
	if slices.Sort(all); !slices.Equal(all, x) {
		t.Error("the two parts are not all rows")
	}
	part, err := dataset.Rows(src, 1000, 2000)
	if err != nil {
		t.Fatal(err)
	}
	_, out, err = dataset.Holdout{Share: 0.2, First: 1000}.Split(part)
	if err != nil {
		t.Fatal(err)
	}
	inPart, _ := encoded(t, out)
	if want := slices.DeleteFunc(slices.Clone(b), func(v float64) bool { return v < 1000 || v >= 2000 }); !slices.Equal(inPart, want) {
		t.Error("of some rows others are held out than of all")
	}
	for _, bad := range []float64{-0.1, 1, 2, math.NaN(), math.Inf(1)} {
		if _, _, err := (dataset.Holdout{Share: bad}).Split(src); !errors.Is(err, dataset.ErrInput) {
			t.Errorf("a share of %v: %v", bad, err)
		}
	}
}
