package accum

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// TestCodecState: every field of an accumulator survives, those too that show only later.
func TestCodecState(t *testing.T) {
	for kind := range 8 {
		intercept, weighted, sparse := kind&1 != 0, kind&2 != 0, kind&4 != 0
		s, err := New(Config{Dim: 3, Targets: 2, Size: 2, ShrinkRows: 2, Intercept: intercept})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			x := float64(i)
			b := dataset.Block{
				N: 1,
				X: []float64{math.Sin(x), math.Cos(x) / 3, math.Sqrt(x)},
				Y: []float64{x / 7, math.Exp(-x)},
			}
			if weighted {
				b.W = []float64{math.Sqrt(x)}
			}
			if sparse {
				b.Sparse, b.X = &engine.CSR{
					Rows:   1,
					Cols:   3,
					RowPtr: []int{0, 3},
					ColIdx: []int32{0, 1, 2},
					Val:    b.X,
				}, nil
			}
			if err := s.Append(0, b); err != nil {
				t.Fatal(err)
			}
		}
		if weighted {
			if err := s.Decay(0.3); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if _, err := s.Write(&b, []byte{1}); err != nil {
			t.Fatal(err)
		}
		m := wire.NewReader(&b)
		r, meta := Decode(m, nil)
		if m.Err() != nil || !bytes.Equal(meta, []byte{1}) {
			t.Fatal(m.Err(), meta)
		}
		for _, s := range []*Accumulator{s, r} { // what is no state, or has its own test
			l := s.lanes[0]
			l.Sketch = nil
			l.Stage = rows.ResumeStage(3, 2, intercept, l.Stage.State)
			l.sums.h, l.sums.share, l.sums.targets, l.sums.times = nil, nil, nil, nil
		}
		if !reflect.DeepEqual(r, s) {
			t.Errorf("read %+v of %+v, written %+v of %+v", r, r.lanes[0], s, s.lanes[0])
		}
	}
}
