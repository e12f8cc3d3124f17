package ridge_test

import (
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestZeroValues: a zero Summary is empty, and reads a written Summary. The test of package zerovalues calls
// all methods of zero values.
func TestZeroValues(t *testing.T) {
	src := testkit.Table{X: [][]float64{{1, 2}, {3, 5}, {4, 4}}, Y: [][]float64{{1}, {2}, {3}}}
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 2})
	if size := new(ridge.Summary).BinarySize(); size != 0 {
		t.Errorf("the zero Summary, which cannot be written, is %d bytes", size)
	}
	// Those that read make it one like any other.
	read := new(ridge.Summary)
	if err := read.UnmarshalBinary(testkit.Marshal(t, sum)); err != nil || read.Rows() != sum.Rows() {
		t.Errorf("a zero Summary reads %d rows of %d: %v", read.Rows(), sum.Rows(), err)
	}
	none := new(ridge.Summary)
	if none.Sketch() != nil || none.Rows() != 0 || none.Config() != (ridge.SummaryConfig{}) {
		t.Errorf("the zero Summary has %d rows and the configuration %+v", none.Rows(), none.Config())
	}
}
