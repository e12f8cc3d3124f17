package ridgetest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/ridge"
)

// Near fails the test if two solutions a and b differ too much for some target. The Euclidean norm of the
// difference of the coefficients may be at most tol times the norm of a's coefficients. The intercepts may differ
// by at most tol times the sum of this norm and the magnitude of a's intercept.
func Near(t rapid.TB, what string, a, b *ridge.Solution, tol float64) {
	t.Helper()
	k, _ := a.Dims()
	for j := range k {
		x, y := a.Targets[j].Coef, b.Targets[j].Coef
		if off := distance(x, y); !(off <= tol*norm(x)) {
			t.Errorf("%s: target %d: coefficients differ by %g of %g, allowed %g of it", what, j, off, norm(x), tol)
		}
		if !(math.Abs(a.Targets[j].Intercept-b.Targets[j].Intercept) <= tol*(math.Abs(a.Targets[j].Intercept)+norm(x))) {
			t.Errorf("%s: target %d: intercepts %g and %g", what, j, a.Targets[j].Intercept, b.Targets[j].Intercept)
		}
	}
}

// Bitwise fails the test unless each coefficient of b has the same bits as coefFactor times this coefficient of a.
// In the same way, each intercept of b must be interceptFactor times the intercept of a.
func Bitwise(t rapid.TB, what string, a, b *ridge.Solution, coefFactor, interceptFactor float64) {
	t.Helper()
	k, _ := a.Dims()
	for j := range k {
		for i, v := range a.Targets[j].Coef {
			if w := b.Targets[j].Coef[i]; math.Float64bits(coefFactor*v) != math.Float64bits(w) {
				t.Fatalf("%s: coefficient (%d, %d) is %x, want %x", what, j, i, w, coefFactor*v)
			}
		}
		if v, w := interceptFactor*a.Targets[j].Intercept, b.Targets[j].Intercept; math.Float64bits(v) !=
			math.Float64bits(w) {
			t.Fatalf("%s: intercept %d is %x, want %x", what, j, w, v)
		}
	}
}

func norm(x []float64) float64 { return distance(x, make([]float64, len(x))) }

func distance(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s = math.Hypot(s, x[i]-y[i])
	}
	return s
}
