package eigen

import "math"

// normalise multiplies the lower triangle of A by the power of two 2⁻ᵉˣᵖ that
// brings its largest magnitude into [½, 1). No square taken later overflows, and
// one that underflows belongs to a quantity below 1e-140 of ‖A‖.
// A zero matrix stays. It reports false when an entry read is NaN or infinite.
func normalise(n int, a []float64, lda int) (exp int, ok bool) {
	var bits uint64 // of the largest magnitude: they order like numbers, NaN last
	for i := range n {
		for _, x := range a[i*lda : i*lda+i+1] {
			bits = max(bits, math.Float64bits(x)&^(1<<63))
		}
	}
	top := math.Float64frombits(bits)
	if !(top <= math.MaxFloat64) {
		return 0, false
	}
	_, exp = math.Frexp(top)
	if exp != 0 {
		for i := range n {
			scale(a[i*lda:i*lda+i+1], -exp)
		}
	}
	return exp, true
}

// rescale multiplies w by 2ᵉˣᵖ and reports whether all stayed finite.
func rescale(w []float64, exp int) bool {
	scale(w, exp)
	for _, x := range w {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// scale multiplies x by 2ᵉˣᵖ. The factor may itself be out of range, 2¹⁰⁷³ for
// a matrix of denormals, so it is applied in two halves.
func scale(x []float64, exp int) {
	f := math.Ldexp(1, exp/2)
	g := math.Ldexp(1, exp-exp/2)
	for i := range x {
		x[i] = x[i] * f * g
	}
}
