//go:build !openblas

package main

func dsyevd(int, []float64) []func() rival { return nil }

func twoGemv(int, int, int) []func() rival { return nil }
