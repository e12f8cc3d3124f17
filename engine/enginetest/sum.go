package enginetest

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

const eps = 0x1p-52

// sum adds products to about twice working precision, and their magnitudes.
type sum struct{ s, c, abs float64 }

func (a *sum) add(x, y float64) {
	p := x * y
	a.c += math.FMA(x, y, -p)
	t := a.s + p
	z := t - a.s
	a.c += (a.s - (t - z)) + (p - z)
	a.s = t
	a.abs += math.Abs(p)
}

func (a *sum) value() float64 { return a.s + a.c }

// within checks a computed sum against its reference and what is promised of it:
// |computed − exact| ≤ (bound + Roundings)·eps·Σ|products|.
func within(t *testing.T, what string, got float64, want sum, bound float64) {
	allowed := (bound + engine.Roundings) * eps * want.abs
	if off := math.Abs(got - want.value()); !(off <= allowed) {
		t.Helper() // here, for it takes longer than all the rest
		t.Fatalf("%s: %v, want %v, off by %g of the allowed %g", what, got, want.value(), off, allowed)
	}
}

// scaled is alpha·s + beta·c.
func (a sum) scaled(alpha, beta, c float64) sum {
	b := sum{abs: math.Abs(alpha) * a.abs}
	b.s, b.c = alpha*a.s, math.FMA(alpha, a.s, -alpha*a.s)+alpha*a.c
	if beta != 0 {
		p := beta * c
		b.abs += math.Abs(p)
		t := b.s + p
		z := t - b.s
		b.c += (b.s - (t - z)) + (p - z) + math.FMA(beta, c, -p)
		b.s = t
	}
	return b
}
