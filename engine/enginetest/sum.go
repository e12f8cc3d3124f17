package enginetest

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

const eps = 0x1p-52

// A sum adds products x·y with about twice the precision of float64. The field abs is the sum of their magnitudes.
type sum struct{ s, c, abs float64 }

func (a *sum) add(x, y float64) {
	p, low := twofold.Product(x, y)
	s, lost := twofold.Sum(a.s, p)
	a.s, a.c, a.abs = s, a.c+low+lost, a.abs+math.Abs(p)
}

func (a *sum) value() float64 { return a.s + a.c }

// checkSum checks that the computed sum got differs from the reference sum want by at most
// (bound + engine.Roundings)·eps times the sum of the magnitudes of the terms.
func checkSum(t *testing.T, what string, got float64, want sum, bound float64) {
	allowed := (bound + engine.Roundings) * eps * want.abs
	if off := math.Abs(got - want.value()); !(off <= allowed) {
		t.Helper() // not at the start, because Helper is slow
		t.Fatalf("%s: %v, want %v, off by %g of the allowed %g", what, got, want.value(), off, allowed)
	}
}

// scaled returns the sum alpha·a + beta·c.
func (a sum) scaled(alpha, beta, c float64) sum {
	b := sum{c: alpha * a.c}
	b.add(alpha, a.s)
	b.add(beta, c)
	b.abs = math.Abs(alpha)*a.abs + math.Abs(beta*c)
	return b
}
