// Package hugepage allocates large arrays on large pages, where the system has
// them for the asking (Linux with transparent huge pages set to madvise or
// always). Rows that lie far apart then don't wear out the processor's page
// tables: a product with rows of 128 KiB is a third faster.
package hugepage

// size is that of a huge page on amd64, and on arm64 with small pages of 4 KiB.
const size = 2 << 20

// Floats is make([]float64, n), on huge pages if that is several of them.
func Floats(n int) []float64 {
	x := make([]float64, n)
	if n >= 2*size/8 {
		advise(x)
	}
	return x
}
