package hugepage

import "testing"

// TestFloats: whatever the size, the array is there, of its length, all zero, and
// can be written from end to end.
func TestFloats(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 2*size/8 - 1, 2 * size / 8, 3*size/8 + 1, 10*size/8 + 12345} {
		x := Floats(n)
		if len(x) != n {
			t.Fatalf("%d of %d", len(x), n)
		}
		for i, v := range x {
			if v != 0 {
				t.Fatalf("element %d of %d is %v", i, n, v)
			}
			x[i] = float64(i)
		}
		for i, v := range x {
			if v != float64(i) {
				t.Fatalf("element %d of %d reads %v", i, n, v)
			}
		}
	}
}
