package fd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/fd"
)

// TestColumnNorms: the bounds on the norms of columns hold even if the sketch has lost most of a column, or all of it.
// They are at most 2 % larger than √(‖aⱼ‖² + the FD bound), where aⱼ is the column.
func TestColumnNorms(t *testing.T) {
	const n, d = 60, 8
	rng := rand.New(rand.NewPCG(31, 6))
	s, err := fd.New(fd.Config{Dim: d, Size: 2, Store: fd.StoreRows})
	if err != nil {
		t.Fatal(err)
	}
	var norm2 [d]float64
	for range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64() * math.Exp2(-float64(j)/2)
			norm2[j] += row[j] * row[j]
		}
		if err := s.AppendRow(row); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Spectrum()
	if err != nil {
		t.Fatal(err)
	}
	for j, got := range p.ColumnNorms() {
		if want := math.Sqrt(norm2[j]); !(got >= want) || !(got <= 1.02*math.Sqrt(norm2[j]+p.Bound.FD())) {
			t.Errorf("column %d has the norm %g, bound %g, η %g", j, want, got, p.Bound.FD())
		}
	}
}
