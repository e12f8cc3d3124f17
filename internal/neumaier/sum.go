// Package neumaier adds float64 with A. Neumaier's correction (ZAMM 54, 1974):
// the error of a sum is a few units in the last place of the sum of absolute
// values, whatever the number of terms.
package neumaier

import "math"

// Sum is a running sum; its zero value is 0.
type Sum struct{ sum, low float64 }

// Add adds x.
func (a *Sum) Add(x float64) {
	t := a.sum + x
	if math.Abs(a.sum) >= math.Abs(x) {
		a.low += (a.sum - t) + x
	} else {
		a.low += (x - t) + a.sum
	}
	a.sum = t
}

// AddTo adds each x to the sum in its place: Add for many.
func AddTo(sums []Sum, x []float64) {
	sums = sums[:len(x)]
	for i, v := range x {
		sums[i].plus(v)
	}
}

// AddScaled adds f·val[k] to sums[idx[k]] for each k.
func AddScaled(sums []Sum, f float64, idx []int32, val []float64) {
	val = val[:len(idx)]
	for k, j := range idx {
		sums[j].plus(float64(f * val[k]))
	}
}

// plus is Add by D. Knuth's sum without branches, whose correction is the same number.
func (s *Sum) plus(v float64) {
	t := s.sum + v
	rounded := t - s.sum // what v came to
	s.low += (s.sum - (t - rounded)) + (v - rounded)
	s.sum = t
}

// Merge adds another sum.
func (a *Sum) Merge(b Sum) {
	a.Add(b.sum)
	a.low += b.low
}

// Scale multiplies the sum by f.
func (a *Sum) Scale(f float64) {
	a.sum *= f
	a.low *= f
}

// Parts returns the sum and its correction, of which FromParts makes the same Sum.
func (a Sum) Parts() (sum, low float64) { return a.sum, a.low }

// FromParts is the inverse of Parts.
func FromParts(sum, low float64) Sum { return Sum{sum, low} }

// Value is the sum, rounded once.
func (a *Sum) Value() float64 { return a.sum + a.low }
