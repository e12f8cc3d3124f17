package purego

import "math"

// share is where part i of parts begins when n is divided evenly, or, for a
// triangle, into equal areas; in multiples of unit.
func share(n, i, parts, unit int, triangle bool) int {
	if i == parts {
		return n
	}
	f := float64(i) / float64(parts)
	if triangle {
		f = math.Sqrt(f)
	}
	return min(n, roundUp(int(f*float64(n)), unit))
}
