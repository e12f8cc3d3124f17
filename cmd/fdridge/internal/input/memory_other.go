//go:build !linux

package input

func copyFromParent([]byte, int64) int { return 0 }
