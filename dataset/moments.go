package dataset

import (
	"context"
	"runtime"

	"github.com/fdridge/fdridge/internal/parallel"
)

// moments accumulates the total weight n, the mean and m2 = Σw(x − mean)² of each column. x are the stored entries
// and w the weights of their rows. Two groups a and b of entries are combined by
//
//	δ = mean_b − mean_a,  n = n_a + n_b
//	mean = mean_a + δ·n_b/n,  m2 = m2_a + m2_b + δ²·n_a·n_b/n
//
// (T. Chan, G. Golub, R. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979).
// A dense block is one group. Each sparse entry is a group, which gives Welford's recurrence. Entries that are not
// stored are added at the end as one group of zeros. For a constant column, mean is exactly the constant and m2 is 0.
type moments struct {
	n               float64 // total weight of the rows
	count, mean, m2 []float64

	// rows is the number of rows of positive weight. stored[j] is the number of such rows with a stored entry in
	// column j. If stored[j] < rows, the other rows have a zero in column j. Sums of weights cannot show this, because
	// their round-off differs.
	rows   int64
	stored []int64

	// centre, sum and square are the workspace of addDense. centre has a value near the mean of each column. sum
	// and square have sums of the differences from centre and of their squares.
	centre, sum, square []float64
}

func newMoments(d int) *moments {
	v := func() []float64 { return make([]float64, d) }
	return &moments{
		count:  v(),
		mean:   v(),
		m2:     v(),
		stored: make([]int64, d),
		centre: v(),
		sum:    v(),
		square: v(),
	}
}

func (m *moments) add(b Block) {
	total := 0.0
	rows := int64(0)
	for i := range b.N {
		w := b.Weight(i)
		total += w
		if w > 0 {
			rows++
		}
	}
	m.n += total
	m.rows += rows
	switch {
	case total == 0:
	case b.Sparse == nil:
		m.addDense(b, total)
		for j := range m.stored {
			m.stored[j] += rows
		}
	default:
		for i := range b.N {
			w := b.Weight(i)
			idx, val := b.Sparse.Row(i)
			for k, j := range idx {
				if w > 0 {
					m.join(int(j), w, val[k], 0)
					m.stored[j]++
				}
			}
		}
	}
}

// addDense adds a dense block, whose rows have the total weight n > 0. It sums differences from the first row of
// positive weight, so that the mean of a constant column is exact. The sums of squares are corrected for round-off.
func (m *moments) addDense(b Block, n float64) {
	d := len(m.mean)
	lead := 0
	for !(b.Weight(lead) > 0) {
		lead++
	}
	copy(m.centre, b.X[lead*d:(lead+1)*d])
	const leastColumns = 16 // two cache lines
	width := max(leastColumns, (d+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	_ = parallel.Do((d+width-1)/width, b.N*d, func(i int) error {
		m.addColumns(b, n, i*width, min((i+1)*width, d))
		return nil
	})
}

// addColumns is addDense for columns lo to hi−1.
func (m *moments) addColumns(b Block, n float64, lo, hi int) {
	d := len(m.mean)
	centre := m.centre[lo:hi]
	sum := m.sum[lo:hi]
	square := m.square[lo:hi]
	clear(sum)
	for i := range b.N {
		w := b.Weight(i)
		if w == 0 { // its squares may be infinite
			continue
		}
		for j, x := range b.X[i*d+lo : i*d+hi] {
			sum[j] += w * (x - centre[j])
		}
	}
	for j, s := range sum {
		centre[j] += s / n
	}
	clear(sum)
	clear(square)
	for i := range b.N {
		w := b.Weight(i)
		if w == 0 {
			continue
		}
		for j, x := range b.X[i*d+lo : i*d+hi] {
			x -= centre[j]
			sum[j] += w * x
			square[j] += w * (x * x)
		}
	}
	for j, s := range sum {
		m.join(lo+j, n, centre[j]+s/n, max(square[j]-s/n*s, 0))
	}
}

// join adds a group of entries to column j. The group has total weight n, the given mean, and the weighted sum m2
// of squared deviations from the mean.
func (m *moments) join(j int, n, mean, m2 float64) {
	if m.count[j] == 0 { // mean² may be infinite
		m.count[j] = n
		m.mean[j] = mean
		m.m2[j] = m2
		return
	}
	total := m.count[j] + n
	delta := mean - m.mean[j]
	m.mean[j] += delta * (n / total)
	m.m2[j] += m2 + delta*delta*(m.count[j]/total)*n
	m.count[j] = total
}

// complete adds the entries that are not stored to each column, as one group of zeros.
func (m *moments) complete() {
	for j, weight := range m.count {
		if m.stored[j] < m.rows && weight < m.n {
			m.join(j, m.n-weight, 0, 0)
		}
	}
}

// pool completes the moments and combines them over all shares, so that every share has the same result. allreduce
// replaces numbers by their sums over the shares. In a share, n is the total weight, mean the mean of a column, and
// m2 the weighted sum of squared deviations from mean. pool calls allreduce for these numbers, in this order:
//
//	n of each share,
//	pivot, the mean of the first share with n > 0 (other shares add zero),
//	n(mean − pivot),
//	m2 + n(mean − joint mean)².
//
// The joint mean is the mean over all shares. In a constant column the pivot, the means and the joint mean are all
// exactly the constant.
func (m *moments) pool(
	ctx context.Context,
	s Share,
	allreduce func(context.Context, []float64) error,
) error {
	m.complete()
	weights := make([]float64, s.Size)
	weights[s.Rank] = m.n
	if err := allreduce(ctx, weights); err != nil {
		return err
	}
	total, firstShare := 0.0, -1
	for rank, w := range weights {
		total += w
		if firstShare < 0 && w > 0 {
			firstShare = rank
		}
	}
	if firstShare < 0 {
		return nil
	}
	d := len(m.mean)
	pivot, off := make([]float64, d), make([]float64, d)
	if s.Rank == firstShare {
		copy(pivot, m.mean)
	}
	if err := allreduce(ctx, pivot); err != nil {
		return err
	}
	for j, mean := range m.mean {
		off[j] = m.n * (mean - pivot[j])
	}
	if err := allreduce(ctx, off); err != nil {
		return err
	}
	for j, mean := range m.mean {
		pivot[j] += off[j] / total
		m.m2[j] += m.n * (mean - pivot[j]) * (mean - pivot[j])
		m.count[j] = total
	}
	m.mean, m.n = pivot, total
	return allreduce(ctx, m.m2)
}
