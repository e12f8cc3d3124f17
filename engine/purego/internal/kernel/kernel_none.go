//go:build noasm || !amd64

package kernel

func native() []*Kernel { return nil }
