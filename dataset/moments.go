package dataset

import "context"

// moments accumulates count, mean and Σw(x − mean)² of the stored entries of each
// column, where a row of weight w counts w times. Groups a and b of entries join by
//
//	δ = mean_b − mean_a,  n = n_a + n_b
//	mean = mean_a + δ·n_b/n,  m2 = m2_a + m2_b + δ²·n_a·n_b/n
//
// (T. Chan, G. Golub, R. LeVeque, "Updating Formulae and a Pairwise Algorithm for
// Computing Sample Variances", 1979). Dense blocks join as a whole, sparse entries
// one by one, which is Welford's recurrence, and all that isn't stored joins at
// the end as one group of zeros. A constant column has exactly its constant for a
// mean and m2 = 0.
type moments struct {
	n               float64 // rows, by weight
	count, mean, m2 []float64

	// How many rows have weight, and for how many of them each column has stored an entry.
	// Whether all are stored cannot be told from n and count: these sums of weights are
	// rounded in different orders.
	rows   int64
	stored []int64

	// Of the dense block at hand, its sums about the centre: its first row, then its mean.
	centre, sum, square []float64
}

func newMoments(d int) *moments {
	v := func() []float64 { return make([]float64, d) }
	return &moments{count: v(), mean: v(), m2: v(), stored: make([]int64, d), centre: v(), sum: v(), square: v()}
}

func (m *moments) add(b Block) {
	total, rows := 0.0, int64(0)
	for i := range b.N {
		w := b.Weight(i)
		if total += w; w > 0 {
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

// addDense joins a dense block of weight n > 0 to each column. It takes the mean relative
// to the first row with weight, so that a constant column has no round-off, then the
// squares about this mean, less what the round-off of the mean has added to them.
func (m *moments) addDense(b Block, n float64) {
	d := len(m.mean)
	lead := 0
	for !(b.Weight(lead) > 0) {
		lead++
	}
	copy(m.centre, b.X[lead*d:(lead+1)*d])
	clear(m.sum)
	for i := range b.N {
		w := b.Weight(i)
		if w == 0 { // its squares may be infinite
			continue
		}
		for j, x := range b.X[i*d : (i+1)*d] {
			m.sum[j] += w * (x - m.centre[j])
		}
	}
	for j, s := range m.sum {
		m.centre[j] += s / n
	}
	clear(m.sum)
	clear(m.square)
	for i := range b.N {
		w := b.Weight(i)
		if w == 0 {
			continue
		}
		for j, x := range b.X[i*d : (i+1)*d] {
			x -= m.centre[j]
			m.sum[j] += w * x
			m.square[j] += w * (x * x)
		}
	}
	for j, s := range m.sum {
		m.join(j, n, m.centre[j]+s/n, max(m.square[j]-s/n*s, 0))
	}
}

// join adds a group of n entries with the given mean and squares to column j.
func (m *moments) join(j int, n, mean, m2 float64) {
	if m.count[j] == 0 { // the square of mean may be infinite
		m.count[j], m.mean[j], m.m2[j] = n, mean, m2
		return
	}
	total := m.count[j] + n
	delta := mean - m.mean[j]
	m.mean[j] += delta * (n / total)
	m.m2[j] += m2 + delta*delta*(m.count[j]/total)*n
	m.count[j] = total
}

// complete joins the zeros that were not stored.
func (m *moments) complete() {
	for j, weight := range m.count {
		if m.stored[j] < m.rows && weight < m.n {
			m.join(j, m.n-weight, 0, 0)
		}
	}
}

// pool completes the moments and makes them those of all shares. It adds up over the shares
//
//	their weights n,
//	pivot, the mean of the first share with weight, to which the others add zero,
//	n(mean − pivot),
//	m2 + n(mean − joint mean)².
//
// A constant column has its constant for pivot and for every mean, exactly, and so for the
// joint mean.
func (m *moments) pool(ctx context.Context, s Share, allreduce func(context.Context, []float64) error) error {
	m.complete()
	weights := make([]float64, s.Size)
	weights[s.Rank] = m.n
	if err := allreduce(ctx, weights); err != nil {
		return err
	}
	total, first := 0.0, -1
	for rank, w := range weights {
		if total += w; first < 0 && w > 0 {
			first = rank
		}
	}
	if first < 0 {
		return nil
	}
	d := len(m.mean)
	pivot, off := make([]float64, d), make([]float64, d)
	if s.Rank == first {
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
