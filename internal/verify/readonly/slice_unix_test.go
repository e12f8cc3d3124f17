//go:build unix

package readonly

import (
	"runtime/debug"
	"testing"
)

// TestSlice: it can be read, and a write is a fault.
func TestSlice(t *testing.T) {
	x := Slice(t, []float64{1, 2, 3})
	if x[0]+x[1]+x[2] != 6 || Slice(t, []int{}) != nil {
		t.Errorf("holds %v", x)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if !faults(func() { x[1] = 5 }) {
		t.Error("it can be written")
	}
}

func faults(f func()) (fault bool) {
	defer func() { fault = recover() != nil }()
	f()
	return false
}
