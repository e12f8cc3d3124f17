package dataset

import "testing"

// TestUnknownNumbersEnd: of numbers that were not learnt no more are kept than there can be levels. Those
// that were learnt are kept and found all the same.
func TestUnknownNumbersEnd(t *testing.T) {
	e := &Encoding{Inputs: 1, Categories: []Category{{Column: 0, Levels: []string{"-1", "-2"}}}}
	c := newEncoder(e, nil, EncodeOptions{IgnoreUnknown: true, Tally: new(Tally)}, false)
	c.byNum[0] = make(map[float64]int, mostLevels+2)
	for i := range mostLevels {
		c.byNum[0][float64(i)] = unmet // as level keeps them
	}
	for _, x := range []float64{-3, 0.5, mostLevels, mostLevels + 1} {
		if got := c.level(0, x); got >= 0 {
			t.Errorf("%v has level %d", x, got)
		}
	}
	for i, x := range []float64{-1, -2, -1} {
		if got, want := c.level(0, x), i%2; got != want {
			t.Errorf("%v has level %d, want %d", x, got, want)
		}
	}
	if n := len(c.byNum[0]); n != mostLevels+2 {
		t.Errorf("%d numbers are kept", n)
	}
}
