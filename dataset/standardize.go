package dataset

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
)

// A Scaling is what standardisation learnt from the data: plain data, to be kept
// with a model.
type Scaling struct {
	Mean  []float64 `json:"mean"`
	Scale []float64 `json:"scale"` // standard deviations, 1 for a constant column
}

// Standardize makes one pass over src for the means and standard deviations
// (those of the population, as scikit-learn's StandardScaler) of its columns, and
// returns src scaled by them. A row of weight w counts w times. Centring would fill sparse
// rows: where any row is sparse the means are left at zero and the columns only scaled,
// still by their true standard deviation. An intercept takes up the difference.
//
// A column whose spread is within round-off of its mean (10·2⁻⁵²·|mean|) is
// constant and keeps its scale. A variance beyond the range of float64 is a
// *[InputError] that names the column.
func Standardize(ctx context.Context, src Source) (Source, *Scaling, error) {
	ctx = background.IfNil(ctx)
	return StandardizeShare(ctx, src, Share{Size: 1}, func(context.Context, []float64) error { return nil })
}

// StandardizeShare is [Standardize] by the rows of all shares; src has those of one.
// allreduce overwrites x with its sum over all shares, the same bits on each, as a
// dist.Transport does. Every share makes this call, which calls allreduce five times: with
// one number, with one for each share, and three times with one for each column.
func StandardizeShare(ctx context.Context, src Source, share Share, allreduce func(ctx context.Context, x []float64) error) (Source, *Scaling, error) {
	ctx = background.IfNil(ctx)
	if err := noSource(src); err != nil {
		return nil, nil, err
	}
	_, d, _ := src.Dims()
	m := newMoments(d)
	sparse := []float64{0} // shares with sparse rows
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
		return nil, nil, unfit("no rows, or none with weight, to standardise by")
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

// scaling returns the means and the standard deviations of pooled moments.
func (m *moments) scaling() (*Scaling, error) {
	out := &Scaling{Mean: m.mean, Scale: make([]float64, len(m.mean))}
	for j, mean := range m.mean {
		variance := m.m2[j] / m.n
		if !isFinite(variance) || !isFinite(mean) {
			return nil, &InputError{File: "standardisation", Msg: fmt.Sprintf("the variance of feature %d exceeds the range of float64", j+1), NonFinite: true}
		}
		out.Scale[j] = math.Sqrt(variance)
		if !(out.Scale[j] > 10*0x1p-52*math.Abs(mean)) {
			out.Scale[j] = 1
		}
	}
	return out, nil
}

// Apply returns src with (x − mean)/scale for each entry x. Sparse rows stay
// sparse where every mean is zero. A scaling of another number of columns is
// [ErrShape]; an entry that overflows is a *[InputError] in the pass.
func (s *Scaling) Apply(src Source) (Source, error) {
	if s == nil {
		return nil, unfit("no scaling to apply")
	}
	if err := noSource(src); err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	if len(s.Mean) != d || len(s.Scale) != d {
		return nil, mismatched("a scaling of %d means and %d scales for %d columns", len(s.Mean), len(s.Scale), d)
	}
	centred := false
	for j, mean := range s.Mean {
		if scale := s.Scale[j]; !isFinite(mean) || !isFinite(scale) || !(scale > 0) {
			return nil, badinput.Errorf("dataset: the scaling of feature %d by mean %v and scale %v is not possible", j+1, mean, scale)
		}
		centred = centred || mean != 0
	}
	rows := 0
	if centred { // sparse blocks have more rows than would be good once filled
		var err error
		if rows, err = denseRows(d); err != nil {
			return nil, err
		}
	}
	apply := func(b Block, out *Buffer) (finite bool) {
		switch {
		case b.Sparse == nil:
			s.scale(b, out)
		case centred:
			s.fill(b, out)
		default:
			s.divide(b, out)
		}
		return false // a quotient may overflow
	}
	return &transformed{src: src, name: "standardised rows", d: d, rows: rows, start: func() (applier, func()) {
		return faultless(apply), func() {}
	}, turned: func(features Source) Source { return scaledColumns{features, s} }}, nil
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

// fill writes sparse rows out and standardises them.
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

// divide scales sparse rows that are not to be centred.
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
