package sparsework

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestDatasetSparseWork: sparse rows that are standardised, and kept for later passes, stay sparse, and
// take the time of their entries.
func TestDatasetSparseWork(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, src dataset.Source) (dataset.Source, error){
		"standardised": func(t *testing.T, src dataset.Source) (dataset.Source, error) {
			out, _, err := dataset.Standardize(t.Context(), src)
			return out, err
		},
		"cached": func(t *testing.T, src dataset.Source) (dataset.Source, error) {
			c, err := dataset.Cached(src, dataset.CacheOptions{Dir: t.TempDir()})
			if err == nil {
				t.Cleanup(func() { c.Close() })
			}
			return c, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			Hold(t, func(t *testing.T, src dataset.Source) func() int {
				src, err := prepare(t, src)
				if err != nil {
					t.Fatal(err)
				}
				return func() int {
					for b, err := range src.Blocks(t.Context()) {
						if err != nil {
							t.Fatal(err)
						}
						if b.Sparse == nil {
							t.Fatal("rows were written out")
						}
					}
					return 1
				}
			})
		})
	}
}
