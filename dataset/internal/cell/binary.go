package cell

import (
	"encoding/binary"
	"math/big"
	"strconv"
)

// A Decimal converts an integer v to the number v/10^scale, rounded to the nearest float64. If this number exceeds
// the range of float64, the result is infinite.
type Decimal struct {
	scale int
	power float64 // 10^scale, or 0 if float64 does not represent 10^scale
}

// MaxDecimalBytes is the largest number of bytes of a decimal.
const MaxDecimalBytes = 64

// powersOfTen lists the powers of ten that are exact in float64.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// NewDecimal returns a Decimal for the given scale. The scale may be negative.
func NewDecimal(scale int32) Decimal {
	d := Decimal{scale: int(scale)}
	if 0 <= scale && int(scale) < len(powersOfTen) {
		d.power = powersOfTen[scale]
	}
	return d
}

// maxExactInteger is 2⁵³: float64 represents all integers up to ±2⁵³.
const maxExactInteger = 1 << 53

// Int converts the integer v. If a float64 can represent v and 10^scale exactly, Int divides them, which rounds
// only once. Otherwise it parses the decimal as text.
func (d Decimal) Int(v int64) float64 {
	if d.power != 0 && -maxExactInteger <= v && v <= maxExactInteger {
		return float64(v) / d.power
	}
	var digits [24]byte
	return d.parse(strconv.AppendInt(digits[:0], v, 10))
}

// Big converts the integer b, a big-endian two's complement of any length. ok is false if the integer has no bytes, or
// needs more than MaxDecimalBytes.
func (d Decimal) Big(b []byte) (v float64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	sign := byte(int8(b[0]) >> 7)
	for len(b) > 1 &&
		b[0] == sign &&
		(b[1]^sign)&0x80 == 0 {
		b = b[1:]
	}
	if len(b) > MaxDecimalBytes {
		return 0, false
	}
	if len(b) <= 8 {
		var word [8]byte
		for i := range word[:8-len(b)] {
			word[i] = sign
		}
		copy(word[8-len(b):], b)
		return d.Int(int64(binary.BigEndian.Uint64(word[:]))), true
	}
	n := new(big.Int).SetBytes(b)
	if sign != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return d.parse(n.Append(make([]byte, 0, 3*MaxDecimalBytes), 10)), true
}

// Little converts the integer b, a little-endian two's complement of 4 to MaxDecimalBytes bytes.
func (d Decimal) Little(b []byte) float64 {
	switch {
	case len(b) == 4:
		return d.Int(int64(int32(binary.LittleEndian.Uint32(b))))
	case len(b) == 8 ||
		len(b) == 16 && int64(binary.LittleEndian.Uint64(b[8:])) == int64(binary.LittleEndian.Uint64(b))>>63:
		return d.Int(int64(binary.LittleEndian.Uint64(b)))
	}
	var reversed [MaxDecimalBytes]byte
	for i, v := range b {
		reversed[len(b)-1-i] = v
	}
	v, _ := d.Big(reversed[:len(b)])
	return v
}

// parse returns the number digits·10^−scale.
func (d Decimal) parse(digits []byte) float64 {
	text := strconv.AppendInt(append(digits, 'e'), -int64(d.scale), 10)
	v, _ := strconv.ParseFloat(string(text), 64) // an error means that v is infinite
	return v
}
