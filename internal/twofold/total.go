package twofold

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Total is a running sum of float64 numbers with the compensation of A. Neumaier (ZAMM 54, 1974). For any number
// of terms, the error is a few eps times the sum of the absolute values of the terms. The zero value is the sum 0.
// Unlike a [Number], a Total contains no bound on its error.
type Total struct{ sum, low float64 }

// Add adds x.
func (a *Total) Add(x float64) {
	t := a.sum + x
	if math.Abs(a.sum) >= math.Abs(x) {
		a.low += (a.sum - t) + x
	} else {
		a.low += (x - t) + a.sum
	}
	a.sum = t
}

// TotalOf returns the sum of x.
func TotalOf(x []float64) (a Total) {
	for _, v := range x {
		a.Add(v)
	}
	return a
}

// AddTo adds each x[i] to sums[i].
func AddTo(sums []Total, x []float64) {
	sums = sums[:len(x)]
	for i, v := range x {
		sums[i].plus(v)
	}
}

// AddScaled adds f·val[k] to sums[idx[k]] for each k.
func AddScaled(sums []Total, f float64, idx []int32, val []float64) {
	val = val[:len(idx)]
	for k, j := range idx {
		sums[j].plus(float64(f * val[k]))
	}
}

// plus adds v to s, with the same correction as Add but without branches. The algorithm is by D. Knuth.
func (s *Total) plus(v float64) {
	t := s.sum + v
	rounded := t - s.sum // the part of v that was added to s.sum
	s.low += (s.sum - (t - rounded)) + (v - rounded)
	s.sum = t
}

// Merge adds the sum b.
func (a *Total) Merge(b Total) {
	a.Add(b.sum)
	a.low += b.low
}

// Scale multiplies the sum by f.
func (a *Total) Scale(f float64) {
	a.sum *= f
	a.low *= f
}

// Parts returns the uncorrected sum and its correction. [TotalFromParts] makes a Total of them.
func (a Total) Parts() (sum, low float64) { return a.sum, a.low }

// TotalFromParts is the inverse of Parts.
func TotalFromParts(sum, low float64) Total { return Total{sum, low} }

// MarshalBinary returns the two parts, little-endian.
func (a Total) MarshalBinary() ([]byte, error) {
	out := binary.LittleEndian.AppendUint64(nil, math.Float64bits(a.sum))
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(a.low)), nil
}

// UnmarshalBinary reads the output of MarshalBinary.
func (a *Total) UnmarshalBinary(b []byte) error {
	if len(b) != 16 {
		return fmt.Errorf("a sum has 16 bytes, not %d", len(b))
	}
	a.sum = math.Float64frombits(binary.LittleEndian.Uint64(b))
	a.low = math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	return nil
}

// Value returns the corrected sum, rounded to float64.
func (a *Total) Value() float64 { return a.sum + a.low }
