package fd_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// TestZeroValues: a sketch that was not made refuses all but to be read. The test of package zerovalues
// calls all methods of zero values.
func TestZeroValues(t *testing.T) {
	made, err := fd.New(fd.Config{Dim: 2, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	none := new(fd.Sketch)
	for what, err := range map[string]error{
		"no numbers as a row": none.AppendRow(nil), "no row": none.AppendRows(0, nil, 0), "two rows of nothing": none.AppendRows(2, nil, 0),
		"no rows that are made": none.AppendFunc(0, nil), "no columns": none.Append(new(mat.Dense)), "none that are sparse": none.AppendSparse(new(engine.CSR)),
		"another like it": none.Merge(new(fd.Sketch)), "a decay": none.Decay(0.5),
	} {
		if !errors.Is(err, fd.ErrShape) {
			t.Errorf("a sketch of no dimension takes %s: %v", what, err)
		}
	}
	if none.BinarySize() != 0 {
		t.Errorf("the zero Sketch, which cannot be written, is %d bytes", none.BinarySize())
	}
	// A nil backend is the default one, as everywhere.
	one := &fd.Spectrum{Dim: 1, Sigma2: []float64{4}, V: []float64{1}}
	if p, err := one.Scaled([]float64{2}, nil); err != nil || p.Sigma2[0] != 1 {
		t.Errorf("half of 2 is %+v: %v", p, err)
	}
	// Reading makes it one like any other.
	text, err := made.MarshalBinary()
	if err := errors.Join(err, none.UnmarshalBinary(text), none.AppendRow([]float64{1, 2})); err != nil ||
		none.Rows() != 1 {
		t.Errorf("a zero Sketch reads one of %d rows: %v", none.Rows(), err)
	}
}
