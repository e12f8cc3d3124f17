package sparsework

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/randsketch"
)

// TestRandsketchSparseWork: a pass over sparse rows takes the time of their entries.
func TestRandsketchSparseWork(t *testing.T) {
	for _, kind := range []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT} {
		t.Run(kind.String(), func(t *testing.T) {
			Hold(t, func(t *testing.T, src dataset.Source) func() int {
				s, err := randsketch.New(randsketch.Config{Kind: kind, Rows: 2, Dim: Dim, Sparsity: 1})
				if err != nil {
					t.Fatal(err)
				}
				return func() int {
					if err := s.AppendSource(t.Context(), src); err != nil {
						t.Fatal(err)
					}
					return 1
				}
			})
		})
	}
	t.Run("Nystrom", func(t *testing.T) {
		Hold(t, func(t *testing.T, src dataset.Source) func() int {
			a, err := randsketch.NewNystrom(randsketch.NystromConfig{Rank: 1, Dim: Dim})
			if err != nil {
				t.Fatal(err)
			}
			return func() int {
				if err := a.AppendSource(t.Context(), src); err != nil {
					t.Fatal(err)
				}
				return 1
			}
		})
	})
}
