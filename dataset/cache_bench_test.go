package dataset_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
)

// BenchmarkCache: bytes a second of the rows of a .npy file, read from it and from the cache of
// them.
func BenchmarkCache(b *testing.B) {
	for _, d := range []int{100, 1000, 4096} {
		n := (64 << 20) / 8 / d
		var head bytes.Buffer
		dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", n, d+1)
		fmt.Fprintf(&head, "\x93NUMPY\x01\x00%c\x00%-117s\n", 118, dict)
		name := filepath.Join(b.TempDir(), "x.npy")
		if err := os.WriteFile(name, append(head.Bytes(), bytes.Repeat([]byte{0x3f}, 8*n*(d+1))...), 0o600); err != nil {
			b.Fatal(err)
		}
		src, err := npy.Open(name, npy.Options{Targets: []string{"last"}})
		if err != nil {
			b.Fatal(err)
		}
		cache, err := dataset.Cached(src, dataset.CacheOptions{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		pass := func(src dataset.Source) {
			for _, err := range src.Blocks(context.Background()) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		pass(cache) // writes it
		for what, src := range map[string]dataset.Source{"npy": src, "cache": cache} {
			b.Run(fmt.Sprintf("d=%d/%s", d, what), func(b *testing.B) {
				b.SetBytes(int64(8 * n * (d + 1)))
				b.ReportAllocs()
				for b.Loop() {
					pass(src)
				}
			})
		}
		if err := cache.Err(); err != nil {
			b.Fatal(err)
		}
		if err := cache.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
