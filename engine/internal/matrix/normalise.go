package matrix

import "math"

// Normalise multiplies A by a power of two, 2⁻ᵉˣᵖ, so that the largest magnitude is in [½, 1). Then no square
// overflows, and only entries below 1e-140·‖A‖ have squares that underflow. A zero matrix is not changed. If lower
// is true, Normalise reads and changes only the lower triangle. It returns false if an entry is NaN or infinite.
func Normalise(a Matrix, lower bool) (exp int, ok bool) {
	row := func(i int) []float64 {
		if lower {
			return a.Row(i)[:i+1]
		}
		return a.Row(i)
	}
	var bits uint64 // bits of the largest magnitude; the order of bits is the order of numbers, with NaN last
	for i := range a.Rows {
		for _, x := range row(i) {
			bits = max(bits, math.Float64bits(x)&^(1<<63))
		}
	}
	top := math.Float64frombits(bits)
	if !(top <= math.MaxFloat64) {
		return 0, false
	}
	_, exp = math.Frexp(top)
	if exp != 0 {
		for i := range a.Rows {
			Scale(row(i), -exp)
		}
	}
	return exp, true
}

// Rescale multiplies w by 2 to the power exp and reports whether all elements are finite.
func Rescale(w []float64, exp int) bool {
	Scale(w, exp)
	for _, x := range w {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// Scale multiplies x by 2 to the power exp. It multiplies by two factors, because the power itself may overflow. An
// example is 2¹⁰⁷³ for a matrix of denormal numbers.
func Scale(x []float64, exp int) {
	f := math.Ldexp(1, exp/2)
	g := math.Ldexp(1, exp-exp/2)
	for i := range x {
		x[i] = x[i] * f * g
	}
}
