package neumaier_test

import (
	"testing"

	"github.com/fdridge/fdridge/internal/neumaier"
)

// A plain sum of these loses every one of the small terms.
func TestSumKeepsSmallTerms(t *testing.T) {
	var a, b neumaier.Sum
	a.Add(1) // before the large one
	a.Add(0x1p60)
	for range 1000 {
		a.Add(1)
		b.Add(1)
	}
	a.Merge(b)
	a.Add(-0x1p60)
	if got := a.Value(); got != 2001 {
		t.Errorf("sum is %v, want 2001", got)
	}
	a.Scale(0.5)
	if got := a.Value(); got != 1000.5 {
		t.Errorf("half the sum is %v, want 1000.5", got)
	}
}
