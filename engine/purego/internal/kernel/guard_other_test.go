//go:build !linux

package kernel

import "testing"

// guardsWatched: only looking at them afterwards tells whether guards were
// written to; what is read from them is NaN.
const guardsWatched = true

func newArea(_ testing.TB, n int) area {
	const guard = 64
	a := area{make([]float64, guard+n+guard), guard, guard + n}
	fill(a.mem)
	return a
}
