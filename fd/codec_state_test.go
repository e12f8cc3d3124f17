package fd

import (
	"math"
	"reflect"
	"testing"

	"github.com/fdridge/fdridge/engine"
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
	r.allocate()
	for _, s := range []*Sketch{s, r} { // what is no state
		s.ws = workspace{}
		clear(s.norm2[s.kept:])
		clear(s.buf[s.rows*s.ld:])
	}
	if !reflect.DeepEqual(r, s) {
		t.Errorf("read %+v, written %+v", r, s)
	}
}

// TestSparseState: every field of a sketch with sparse rows survives.
func TestSparseState(t *testing.T) {
	s, err := New(Config{Dim: 24, Size: 2, ShrinkRows: 3, SparseRows: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 14 {
		x := engine.CSR{
			Rows:   1,
			Cols:   24,
			RowPtr: []int{0, 2},
			ColIdx: []int32{int32(i), int32(i + 3)},
			Val:    []float64{math.Sin(float64(i)), 2},
		}
		if err := s.AppendSparse(&x); err != nil {
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
	if s.sparse.Rows == 0 || s.kept == 0 || s.eta == 0 {
		t.Fatalf("too simple a sketch: %+v", s)
	}
	r.allocate()
	for _, s := range []*Sketch{s, r} { // what is no state
		s.ws, s.sparse.work = workspace{}, engine.SparseWork{}
		clear(s.norm2[s.kept:])
		clear(s.buf[s.rows*s.ld:])
	}
	if !reflect.DeepEqual(r, s) {
		t.Errorf("read %+v, written %+v", r, s)
	}
}
