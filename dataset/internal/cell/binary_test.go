package cell_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset/internal/cell"
)

// quotient returns v/10^scale, rounded to the nearest float64 by exact arithmetic.
func quotient(v *big.Int, scale int32) float64 {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	exact := new(big.Rat).SetInt(v)
	if scale < 0 {
		exact.Mul(exact, new(big.Rat).SetInt(power))
	} else {
		exact.Quo(exact, new(big.Rat).SetInt(power))
	}
	f, _ := exact.Float64()
	return f
}

// complement returns the two's complement of v in size bytes, big-endian.
func complement(v *big.Int, size int) []byte {
	all := new(big.Int).Lsh(big.NewInt(1), uint(8*size))
	return new(big.Int).Mod(v, all).FillBytes(make([]byte, size))
}

// TestDecimal compares decimals of 1 to 32 bytes with exact arithmetic.
func TestDecimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	scales := []int32{0, 1, 2, 9, 18, 22, 23, 38, 76, 300, 400, -1, -5, -200, math.MaxInt16, -math.MaxInt16}
	for range 4000 {
		size := 1 + r.IntN(32)
		v := new(big.Int)
		for range 1 + r.IntN(size) {
			v.Lsh(v, 8).Or(v, big.NewInt(int64(r.IntN(256))))
		}
		v.Rsh(v, 1+uint(r.IntN(8)))
		if r.IntN(2) == 0 {
			v.Neg(v)
		}
		scale := scales[r.IntN(len(scales))]
		checkDecimal(t, v, size, scale)
	}
	for _, v := range []int64{0, 1, -1, 127, -128, 128, 1<<53 + 1, -1<<53 - 1, math.MaxInt64, math.MinInt64} {
		checkDecimal(t, big.NewInt(v), 9, 3)
	}
}

func checkDecimal(t *testing.T, v *big.Int, size int, scale int32) {
	t.Helper()
	d := cell.NewDecimal(scale)
	b := complement(v, size)
	want := quotient(v, scale)
	if got, ok := d.Big(b); !ok || got != want {
		t.Errorf("%v in %d bytes, scale %d: %v, want %v", v, size, scale, got, want)
	}
	if v.IsInt64() && d.Int(v.Int64()) != want {
		t.Errorf("%v, scale %d: %v, want %v", v, scale, d.Int(v.Int64()), want)
	}
	for _, width := range []int{4, 8, 16, 32} {
		if v.BitLen() >= 8*width {
			continue
		}
		b := complement(v, width)
		slices.Reverse(b)
		if got := d.Little(b); got != want {
			t.Errorf("%v in %d little-endian bytes, scale %d: %v, want %v", v, width, scale, got, want)
		}
	}
}

// TestDecimalBytes: an integer has at least one byte. Only significant bytes count towards the limit.
func TestDecimalBytes(t *testing.T) {
	d := cell.NewDecimal(0)
	long := make([]byte, 1000)
	for name, c := range map[string]struct {
		b    []byte
		want float64
		ok   bool
	}{
		"none":     {nil, 0, false},
		"zeros":    {long, 0, true},
		"sign":     {append(slices.Clone(long), 0x80), 128, true},
		"too long": {append([]byte{1}, long...), 0, false},
		"all ones": {slices.Repeat([]byte{0xff}, 1000), -1, true},
		"largest": {
			append([]byte{0x40}, make([]byte, cell.MaxDecimalBytes-1)...),
			math.Ldexp(1, 8*cell.MaxDecimalBytes-2),
			true,
		},
		"one too big": {append([]byte{0, 0x80}, make([]byte, cell.MaxDecimalBytes-1)...), 0, false},
	} {
		if got, ok := d.Big(c.b); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}

// TestHalf compares all float16 with the formula of IEEE 754.
func TestHalf(t *testing.T) {
	for bits := range 1 << 16 {
		exponent, mantissa := bits>>10&31, float64(bits&1023)
		want := mantissa / (1 << 24)
		switch {
		case exponent == 31 && mantissa > 0:
			want = math.NaN()
		case exponent == 31:
			want = math.Inf(1)
		case exponent > 0:
			want = (1 + mantissa/1024) * math.Pow(2, float64(exponent-15))
		}
		if bits>>15 == 1 {
			want = -want
		}
		got := cell.Half(uint16(bits))
		if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
			t.Fatalf("%04x: %v, want %v", bits, got, want)
		}
	}
}
