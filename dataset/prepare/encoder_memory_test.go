package prepare

import "testing"

// TestUnknownNumbersEnd: of numbers that were not learnt no more are kept than there can be levels. Those
// that were learnt are kept and found all the same.
func TestUnknownNumbersEnd(t *testing.T) {
	e := &Encoding{Inputs: 1, Categories: []Category{{Column: 0, Levels: []string{"-1", "-2"}}}}
	c := newEncoder(e, nil, EncodeOptions{IgnoreUnknown: true, Tally: new(Tally)}, false)
	if c.most != maxLevels {
		t.Errorf("%d numbers are kept, of %d levels", c.most, maxLevels)
	}
	c.most = 5
	for i := range 20 {
		if got := c.level(0, float64(i)+0.5); got >= 0 {
			t.Errorf("%v has level %d", float64(i)+0.5, got)
		}
	}
	for i, x := range []float64{-1, -2, -1} {
		if got, want := c.level(0, x), i%2; got != want {
			t.Errorf("%v has level %d, want %d", x, got, want)
		}
	}
	if n := len(c.columns[0].byNumber); n != 5+2 {
		t.Errorf("%d numbers are kept", n)
	}
}
