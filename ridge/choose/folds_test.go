package choose_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestFoldsChange: what changes before the second pass of a cross-validation is noticed.
func TestFoldsChange(t *testing.T) {
	p := testkit.Hard(false, false)
	cv := choose.CrossValidation{Folds: 3, Gammas: []float64{5}, Exact: true}
	for name, change := range map[string]func(b *dataset.Block){
		"a target":  func(b *dataset.Block) { b.Y[0] += 300 },
		"a weight":  func(b *dataset.Block) { b.W = slices.Repeat([]float64{1}, b.N); b.W[1] = 1.001 },
		"rows lack": func(b *dataset.Block) { b.N--; b.X, b.Y = b.X[:12*b.N], b.Y[:b.N] },
	} {
		src := testkit.Changing{Table: p, From: 2, Change: func(b *dataset.Block) {
			if b.First == 100 {
				change(b)
			}
		}, Passes: new(int)}
		_, err := choose.CrossValidate(t.Context(), src, ridge.SummaryConfig{Size: 12}, cv)
		if !errors.Is(err, ridge.ErrShape) || *src.Passes != 2 {
			t.Errorf("%s, after %d passes: %v", name, *src.Passes, err)
		}
	}
}
