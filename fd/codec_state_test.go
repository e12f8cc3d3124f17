package fd

import (
	"math"
	"reflect"
	"testing"
)

// TestCodecState: every field of a sketch survives, those too that show only later.
func TestCodecState(t *testing.T) {
	s, err := New(Config{Dim: 3, Size: 2, ShrinkRows: 2, Shrink: SVD})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		x := float64(i)
		if err := s.AppendRow([]float64{math.Sin(x), math.Cos(x) / 3, math.Sqrt(x)}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	r := new(Sketch)
	if err := r.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if _, low := s.frob.Parts(); low == 0 || s.eta == 0 || s.kept == s.rows {
		t.Fatalf("too simple a sketch: %+v", s)
	}
	r.reserve()
	for _, s := range []*Sketch{s, r} { // what is no state
		s.ws = workspace{}
		clear(s.norm2[s.kept:])
		clear(s.buf[s.rows*s.ld:])
	}
	if !reflect.DeepEqual(r, s) {
		t.Errorf("read %+v, written %+v", r, s)
	}
}
