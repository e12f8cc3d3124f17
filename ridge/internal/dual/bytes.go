package dual

import "math"

// To measure the residual of one target takes up to measureNumbers·(n + d) numbers. Targets are measured in blocks
// that take at most blockBytes.
const (
	measureNumbers = 24
	blockBytes     = 1 << 29
)

// TargetBlock returns the number of targets that are measured together.
func TargetBlock(n, d int) int {
	return max(1, blockBytes/8/measureNumbers/(n+d))
}

// Bytes returns the memory of a dual fit, without the rows. squares is the number of n×n matrices that the fit keeps.
// If it is 0, conjugate gradients solve the systems.
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
