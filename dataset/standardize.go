package dataset

import (
	"context"
	"fmt"
	"math"
)

// A Scaling is what standardisation learnt from the data: plain data, to be kept
// with a model.
type Scaling struct {
	Mean  []float64 `json:"mean"`
	Scale []float64 `json:"scale"` // standard deviations, 1 for a constant column
}

// Standardize makes one pass over src for the means and standard deviations
// (those of the population, as scikit-learn's StandardScaler) of its columns, and
// returns src scaled by them. Centring would fill sparse rows: where any came
// sparse the means are left at zero and the columns only scaled; an intercept
// takes up the difference.
func Standardize(ctx context.Context, src Source) (Source, *Scaling, error) {
	_, d, _ := src.Dims()
	m := newMoments(d)
	sparse := false
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		sparse = sparse || b.Sparse != nil
		m.add(b)
	}
	if m.n == 0 {
		return nil, nil, fmt.Errorf("%w: no rows to standardise by", ErrShape)
	}
	s := m.scaling()
	if sparse {
		clear(s.Mean)
	}
	out, err := s.Apply(src)
	return out, s, err
}

// Apply returns src with (x − mean)/scale for each entry x. Sparse rows stay
// sparse where every mean is zero.
func (s *Scaling) Apply(src Source) (Source, error) {
	_, d, _ := src.Dims()
	if len(s.Mean) != d || len(s.Scale) != d {
		return nil, fmt.Errorf("%w: a scaling of %d columns for %d", ErrShape, len(s.Mean), d)
	}
	centred := false
	for _, m := range s.Mean {
		centred = centred || m != 0
	}
	return &transformed{src: src, d: d, apply: func(b Block, out *Buffer) {
		switch {
		case b.Sparse == nil:
			for i, x := range b.X[:b.N*d] {
				out.X = append(out.X, (x-s.Mean[i%d])/s.Scale[i%d])
			}
		case centred:
			out.Sparse = false
			s.fill(b, out)
		default:
			s.divide(b, out)
		}
	}}, nil
}

// fill writes sparse rows out and scales them.
func (s *Scaling) fill(b Block, out *Buffer) {
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

// moments accumulates count, mean and Σ(x − mean)² of each column, block by
// block (T. Chan, G. Golub, R. LeVeque, "Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances", 1979).
type moments struct {
	n        float64
	mean, m2 []float64
	bm, bs   []float64 // of the block at hand
	stored   []float64 // entries of each column stored in it
}

func newMoments(d int) *moments {
	return &moments{mean: make([]float64, d), m2: make([]float64, d), bm: make([]float64, d), bs: make([]float64, d), stored: make([]float64, d)}
}

func (m *moments) add(b Block) {
	if b.N == 0 {
		return
	}
	d, n := len(m.mean), float64(b.N)
	clear(m.bm)
	clear(m.bs)
	m.each(b, func(j int, x float64) { m.bm[j] += x / n })
	if b.Sparse == nil { // once more: what round-off left of a constant column's mean
		m.each(b, func(j int, x float64) { m.bs[j] += x - m.bm[j] })
		for j := range d {
			m.bm[j] += m.bs[j] / n
		}
		clear(m.bs)
	}
	clear(m.stored)
	m.each(b, func(j int, x float64) {
		m.bs[j] += (x - m.bm[j]) * (x - m.bm[j])
		m.stored[j]++
	})
	for j, k := range m.stored { // what isn't stored is zero, (0 − mean)² each
		m.bs[j] += (n - k) * m.bm[j] * m.bm[j]
	}
	total := m.n + n
	for j := range d {
		delta := m.bm[j] - m.mean[j]
		m.m2[j] += m.bs[j] + delta*delta*(m.n/total)*n
		m.mean[j] += delta * (n / total)
	}
	m.n = total
}

// each calls f for every stored entry.
func (m *moments) each(b Block, f func(j int, x float64)) {
	d := len(m.mean)
	if b.Sparse == nil {
		for i, x := range b.X[:b.N*d] {
			f(i%d, x)
		}
		return
	}
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			f(int(j), val[k])
		}
	}
}

func (m *moments) scaling() *Scaling {
	s := &Scaling{Mean: m.mean, Scale: make([]float64, len(m.mean))}
	for j, v := range m.m2 {
		sd := math.Sqrt(v / m.n)
		// What round-off leaves of a constant column is not a spread.
		if !(sd > 10*0x1p-52*math.Abs(m.mean[j])) || math.IsInf(sd, 0) {
			sd = 1
		}
		s.Scale[j] = sd
	}
	return s
}
