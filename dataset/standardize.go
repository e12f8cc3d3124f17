package dataset

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Scaling holds the means and standard deviations of columns, as computed by [Standardize]. It can be saved with a
// model as JSON.
type Scaling struct {
	Mean  []float64 `json:"mean"`
	Scale []float64 `json:"scale"` // standard deviations; 1 for a constant column
}

// Standardize makes one pass over src. It returns src with its columns shifted and scaled to mean 0 and standard
// deviation 1, and this scaling. A row of weight w counts w times. Standard deviations divide by the total weight n,
// not by n − 1, as in scikit-learn's StandardScaler. If any row is sparse, columns are scaled but not shifted, and
// the means in the scaling are zero.
//
// A column with a standard deviation of at most 10·2⁻⁵²·|mean| counts as constant and gets the scale 1. If a
// variance overflows, the error is an *[InputError] that names the column.
func Standardize(ctx context.Context, src Source) (Source, *Scaling, error) {
	return StandardizeShare(ctx, src, Share{Size: 1}, func(context.Context, []float64) error {
		return nil
	})
}

// StandardizeShare is [Standardize] for rows that are divided into shares. The argument src is one share. Every
// share must call StandardizeShare, and all get the same scaling. The argument allreduce must replace x by its sum
// over all shares, with the same bits on each share, as Allreduce of a dist.Transport does. It is called five
// times. The lengths of x are then 1, share.Size, d, d and d, where d is the number of features.
func StandardizeShare(
	ctx context.Context,
	src Source,
	share Share,
	allreduce func(ctx context.Context, x []float64) error,
) (Source, *Scaling, error) {
	if err := checkSources(src); err != nil {
		return nil, nil, err
	}
	_, d, _ := src.Dims()
	m := newMoments(d)
	sparse := []float64{0} // number of shares with sparse rows
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if b.Sparse != nil {
			sparse[0] = 1
		}
		m.add(b)
	}
	if err := allreduce(ctx, sparse); err != nil {
		return nil, nil, err
	}
	if err := m.pool(ctx, share, allreduce); err != nil {
		return nil, nil, err
	}
	if m.n == 0 {
		return nil, nil, newSourceError("cannot standardise: there are no rows with positive weight")
	}
	s, err := m.scaling()
	if err != nil {
		return nil, nil, err
	}
	if sparse[0] > 0 {
		clear(s.Mean)
	}
	out, err := s.Apply(src)
	return out, s, err
}

// scaling computes means and standard deviations from pooled moments.
func (m *moments) scaling() (*Scaling, error) {
	out := &Scaling{Mean: m.mean, Scale: make([]float64, len(m.mean))}
	for j, mean := range m.mean {
		variance := m.m2[j] / m.n
		if !vec.IsFinite(variance) || !vec.IsFinite(mean) {
			return nil, &InputError{
				File:      "standardisation",
				Msg:       fmt.Sprintf("the variance of feature %d exceeds the range of float64", j+1),
				NonFinite: true,
			}
		}
		out.Scale[j] = math.Sqrt(variance)
		if !(out.Scale[j] > 10*0x1p-52*math.Abs(mean)) {
			out.Scale[j] = 1
		}
	}
	return out, nil
}

// scaledUnits bounds the number of roundings that affect an entry of a scaled column. There are up to four: the
// root of a penalty, its product with a standard deviation, the difference from a mean, and the quotient.
const scaledUnits = 4

// Rounding returns a bound for each column on the relative error of a scaled entry, in unit round-offs (2⁻⁵³). The
// bounds are for [ridge.ExactOptions.Rounding] and fdridge.Options.Rounding. The error is the difference from the
// exact value (x − mean)/scale. If the scale is the product of a deviation and the root of a penalty, the bound
// also holds for the exact product. If s changes no column, Rounding returns nil.
func (s *Scaling) Rounding() []float64 {
	if s == nil {
		return nil
	}
	out := make([]float64, len(s.Scale))
	changes := false
	for j, scale := range s.Scale {
		out[j] = scaledUnits
		changes = changes || scale != 1 || s.Mean[j] != 0
	}
	if !changes {
		return nil
	}
	return out
}

// PenaltyRounding returns the bounds of [Scaling.Rounding] for the scaling [Penalty](p), which divides column j by
// the root of p[j]. The bound is 0 if p[j] is 1 or a power of four below 1, because the division is then exact.
// Otherwise it is 2. If p is nil, or all its elements are 1, PenaltyRounding returns nil.
func PenaltyRounding(p []float64) []float64 {
	var out []float64
	for j, v := range p {
		if v == 1 {
			continue
		}
		if out == nil {
			out = make([]float64, len(p))
		}
		root := math.Sqrt(v)
		fraction, _ := math.Frexp(root)
		if fraction != 0.5 || root*root != v || root > 1 { // a division by more than 1 may underflow
			out[j] = 2
		}
	}
	return out
}

// Apply returns src with each entry x of a column replaced by (x − mean)/scale, where mean and scale belong to the
// column. Sparse rows stay sparse if all means are zero, otherwise they become dense. If s and src have different
// numbers of columns, the error is [ErrShape]. If a result overflows, the pass over the rows ends with an
// *[InputError].
func (s *Scaling) Apply(src Source) (Source, error) {
	if s == nil {
		return nil, newSourceError("the scaling is nil")
	}
	if err := checkSources(src); err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	if len(s.Mean) != d || len(s.Scale) != d {
		return nil, newDimensionError(
			"the scaling has %d means and %d scales, the rows have %d columns",
			len(s.Mean),
			len(s.Scale),
			d,
		)
	}
	centred := false
	for j, mean := range s.Mean {
		scale := s.Scale[j]
		if !vec.IsFinite(mean) || !vec.IsFinite(scale) || !(scale > 0) {
			return nil, errtext.BadInput(
				"dataset: feature %d cannot be scaled by mean %v and scale %v",
				j+1,
				mean,
				scale,
			)
		}
		centred = centred || mean != 0
	}
	rows := 0
	if centred { // dense rows need smaller blocks than sparse rows
		var err error
		rows, err = denseRows(d)
		if err != nil {
			return nil, err
		}
	}
	apply := func(b Block, out *Buffer) (finite bool, err error) {
		switch {
		case b.Sparse == nil:
			s.scale(b, out)
		case centred:
			s.fill(b, out)
		default:
			s.divide(b, out)
		}
		return false, nil // a quotient may overflow
	}
	return &transformed{
		src:   src,
		name:  "standardised rows",
		d:     d,
		rows:  rows,
		split: true,
		start: func() applier { return apply },
		transformColumns: func(features Source) Source {
			return scaledColumns{features, s}
		},
	}, nil
}

// scale standardises dense rows.
func (s *Scaling) scale(b Block, out *Buffer) {
	d := len(s.Mean)
	for i := range b.N {
		for j, x := range b.X[i*d : (i+1)*d] {
			out.X = append(out.X, (x-s.Mean[j])/s.Scale[j])
		}
	}
}

// fill standardises the sparse rows of b and appends them to out as dense rows.
func (s *Scaling) fill(b Block, out *Buffer) {
	out.Sparse = false
	for i := range b.N {
		at := len(out.X)
		for j, m := range s.Mean {
			out.X = append(out.X, -m/s.Scale[j])
		}
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			out.X[at+int(j)] = (val[k] - s.Mean[j]) / s.Scale[j]
		}
	}
}

// divide scales sparse rows without centring.
func (s *Scaling) divide(b Block, out *Buffer) {
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			out.CSR.ColIdx = append(out.CSR.ColIdx, j)
			out.CSR.Val = append(out.CSR.Val, val[k]/s.Scale[j])
		}
		out.CSR.RowPtr = append(out.CSR.RowPtr, len(out.CSR.Val))
	}
}
