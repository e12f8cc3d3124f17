package twofold_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/twofold"
)

func exactly(v float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(v) }

func value(n twofold.Number) *big.Float {
	return exactly(0).Add(exactly(n.Hi), exactly(n.Lo))
}

// holds checks that n is within its bound of want, and that the bound is of the size of
// twice the digits of what went in.
func holds(t *testing.T, what string, n twofold.Number, want *big.Float, most float64) {
	t.Helper()
	off := exactly(0).Sub(value(n), want)
	if bound := exactly(n.Err); off.Abs(off).Cmp(bound) > 0 {
		t.Fatalf("%s: off by %.3g, its bound is %.3g", what, off, n.Err)
	}
	if !(n.Err <= most) {
		t.Fatalf("%s: its bound is %.3g, more than %.3g", what, n.Err, most)
	}
	if !(math.Abs(n.Lo) <= 0x1p-53*math.Abs(n.Hi)) {
		t.Fatalf("%s: %g and %g beside", what, n.Hi, n.Lo)
	}
}

// TestNumber does random sums, products and quotients on numbers that are off by less
// than they say, against exact ones.
func TestNumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func() (twofold.Number, *big.Float) {
		hi := rng.NormFloat64() * math.Exp2(float64(rng.IntN(300)-150))
		hi, lo := twofold.Sum(hi, hi*0x1p-53*rng.Float64())
		n := twofold.Number{Hi: hi, Lo: lo}
		exact := value(n)
		if rng.IntN(2) == 0 {
			n.Err = math.Abs(hi) * 0x1p-100
			exact.Add(exact, exactly(n.Err*(2*rng.Float64()-1)))
		}
		return n, exact
	}
	for range 20000 {
		a, x := draw()
		b, y := draw()
		if rng.IntN(4) == 0 { // of about the same size
			b.Hi, b.Lo, b.Err = -a.Hi*(1+0x1p-50), 0, 0
			y = exactly(b.Hi)
		}
		size := math.Abs(a.Hi) + math.Abs(b.Hi)
		holds(t, "sum", a.Plus(b), exactly(0).Add(x, y), 0x1p-98*size)
		holds(t, "difference", a.Minus(b), exactly(0).Sub(x, y), 0x1p-98*size)
		holds(t, "product", a.Times(b), exactly(0).Mul(x, y), 0x1p-97*math.Abs(a.Hi*b.Hi))
		holds(t, "quotient", a.Over(b), exactly(0).Quo(x, y), 0x1p-97*math.Abs(a.Hi/b.Hi))
		v, off := a.Round()
		if d := exactly(0).Sub(exactly(v), x); d.Abs(d).Cmp(exactly(off)) > 0 {
			t.Fatalf("%v rounds to %v and is off by more than %g", a, v, off)
		}
	}
}
