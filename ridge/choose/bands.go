package choose

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
)

// A Band is a group of columns that have a penalty in common.
type Band struct {
	Name    string  `json:"name"`    // for people
	Columns []int   `json:"columns"` // counted from 0, in any order
	Penalty float64 `json:"penalty"` // p: γ·p·Σ xⱼ² over the columns, > 0; 0: to be chosen, by [Bands]
}

// Penalties are those of d columns: that of their band, 1 for columns that are in none and for
// bands whose penalty is to be chosen. A column that is in no row, or in two bands, a band
// without columns and a penalty that is negative or not finite are an [ridge.ErrInput].
func Penalties(d int, bands []Band) ([]float64, error) {
	out, in := make([]float64, d), make([]int, d) // in: the band, from 1
	for j := range out {
		out[j] = 1
	}
	for i, b := range bands {
		switch {
		case len(b.Columns) == 0:
			return nil, badinput.Errorf("ridge: %s has no columns", b.name(i))
		case !(b.Penalty >= 0) || math.IsInf(b.Penalty, 0):
			return nil, badinput.Errorf("ridge: the penalty of %s is %v, must be positive", b.name(i), b.Penalty)
		}
		for _, j := range b.Columns {
			switch {
			case j < 0 || j >= d:
				return nil, badinput.Errorf("ridge: %s has column %d, there are %d", b.name(i), j+1, d)
			case in[j] == i+1:
				return nil, badinput.Errorf("ridge: %s has column %d twice", b.name(i), j+1)
			case in[j] != 0:
				return nil, badinput.Errorf("ridge: column %d is in %s and in %s", j+1, bands[in[j]-1].name(in[j]-1), b.name(i))
			}
			in[j] = i + 1
			if b.Penalty != 0 {
				out[j] = b.Penalty
			}
		}
	}
	return out, nil
}

// name is that of band i.
func (b *Band) name(i int) string {
	if b.Name == "" {
		return fmt.Sprintf("band %d", i+1)
	}
	return fmt.Sprintf("band %q", b.Name)
}
