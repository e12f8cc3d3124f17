package dual

import "math"

// Measuring the residual of one target takes up to measureNumbers·(n + d) numbers, for n rows of d features.
// Targets are measured in blocks whose memory is at most blockBytes.
const (
	measureNumbers = 24
	blockBytes     = 1 << 29
)

// TargetBlock returns the number of targets that are measured together, for n rows of d features.
func TargetBlock(n, d int) int {
	return max(1, blockBytes/8/measureNumbers/(n+d))
}

// Bytes returns the memory in bytes of a dual fit of n rows with d features and t targets. The memory of the rows
// is not included. squares is the number of n×n matrices that the fit keeps. It is 0 if conjugate gradients solve
// the systems.
func Bytes(n int64, d, t, squares int) float64 {
	rows := float64(n)
	features := float64(d)
	count := int(min(max(n, 0), math.MaxInt32))
	block := measureNumbers * float64(TargetBlock(count, d)) * (features + rows)
	vectors := 8 * (float64(t)*(features+2*rows) +
		math.Min(float64(t)*(7*features+14*rows), block))
	if squares == 0 {
		return vectors + 8*(4*features+10*rows)
	}
	return vectors + 8*(float64(squares)*rows*rows+rows*float64(PanelColumns(count, d)))
}
