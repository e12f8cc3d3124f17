package choose

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/errtext"
)

// A Band is a group of columns with a common penalty.
type Band struct {
	Name    string `json:"name"`    // for messages
	Columns []int  `json:"columns"` // column numbers from 0, in any order
	// Penalty is the factor p in the penalty γ·p·Σ xⱼ² on the coefficients xⱼ of these columns. If it is 0,
	// [Bands] chooses it.
	Penalty float64 `json:"penalty"`
}

// Penalties returns the penalty of each of d columns: factor[j] times the Penalty of the band of column j. A nil
// factor means 1 for each column. A band whose Penalty is 0 counts as a band of penalty 1. A column in no band has
// penalty 1, too.
//
// The error is [ridge.ErrInput] in these cases:
//
//   - A column number is out of range or given twice.
//   - A band has no columns.
//   - A penalty is negative or not finite, or a product of penalties overflows or underflows.
//   - The length of factor is not d.
func Penalties(d int, factor []float64, bands []Band) ([]float64, error) {
	if factor != nil && len(factor) != d {
		return nil, errtext.BadInput("ridge: %d penalties for %d columns", len(factor), d)
	}
	out, in := make([]float64, d), make([]int, d) // in[j] is the band of column j, counted from 1
	for j := range out {
		out[j] = 1
	}
	for i, b := range bands {
		switch {
		case len(b.Columns) == 0:
			return nil, errtext.BadInput("ridge: %s has no columns", b.name(i))
		case !(b.Penalty >= 0) || math.IsInf(b.Penalty, 0):
			return nil, errtext.BadInput("ridge: the penalty of %s is %v, must be positive", b.name(i), b.Penalty)
		}
		for _, j := range b.Columns {
			switch {
			case j < 0 || j >= d:
				return nil, errtext.BadInput("ridge: %s has column %d, there are %d", b.name(i), j+1, d)
			case in[j] == i+1:
				return nil, errtext.BadInput("ridge: %s has column %d twice", b.name(i), j+1)
			case in[j] != 0:
				return nil, errtext.BadInput(
					"ridge: column %d is in %s and in %s",
					j+1,
					bands[in[j]-1].name(in[j]-1),
					b.name(i),
				)
			}
			in[j] = i + 1
			if b.Penalty != 0 {
				out[j] = b.Penalty
			}
		}
	}
	for j, v := range factor {
		out[j] *= v
		if !(out[j] > 0 || v == 0) || math.IsInf(out[j], 0) {
			return nil, errtext.BadInput("ridge: the penalty of column %d is %v, must be positive", j+1, out[j])
		}
	}
	return out, nil
}

// name returns the name of band i for messages.
func (b *Band) name(i int) string {
	if b.Name == "" {
		return fmt.Sprintf("band %d", i+1)
	}
	return fmt.Sprintf("band %q", b.Name)
}
