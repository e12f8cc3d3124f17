package ridge

import (
	"fmt"
	"math"
	"sort"

	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// SizeFor returns the least sketch size m whose one-shot fit at γ has a relative
// error of at most relErr for the rows seen, by ρ/(γ+ρ) ≤ relErr:
// proved by the bound on η, and estimated by what η is expected to be; see
// [Summary.Plan]. For n rows like those seen, of which there are r, ask for γ·r/n.
//
// It is d at most, where nothing is shrunk. relErr must be above what round-off leaves to
// certify at this γ, that of AᵀY included, beside which the weights may be small: what it
// is for rows that come as these did, in such blocks and in such an order.
func (s *Summary) SizeFor(relErr, gamma float64) (proved, estimated int, err error) {
	if err := checkGamma(gamma, "one-shot"); err != nil {
		return 0, 0, err
	}
	o, err := s.outlook()
	if err != nil {
		return 0, 0, err
	}
	lost := o.known.LostCross(gamma)
	if !(relErr > o.roundOff/gamma+lost) {
		return 0, 0, fmt.Errorf("ridge: a relative error of %g is below round-off, %g at gamma = %g", relErr, o.roundOff/gamma+lost, gamma)
	}
	relErr -= lost
	least := func(eta func(m int) float64) int {
		return 1 + sort.Search(o.d-1, func(i int) bool {
			rho := eta(i+1) / 2
			return (rho+o.roundOff)/(gamma+rho) <= relErr
		})
	}
	return least(o.bound), least(o.estimate), nil
}

// An outlook is what a summary says of sketches of other sizes.
type outlook struct {
	s        *Summary
	known    *certify.Known
	d, t     int
	rows     int64
	mean     float64   // eigenvalue of K
	sigma2   []float64 // of the sketch
	eta      float64
	roundOff float64
	captured []float64 // bound on Σ_{i≤k} λᵢ from below, for k = 0 … r
	expected []float64 // Σ_{i≤k} λᵢ as expected, for k = 0 … d
	total    float64   // ‖A‖²_F
	fraction float64   // of its bound that η was
}

func (s *Summary) outlook() (*outlook, error) {
	k, err := s.known("plan", 1)
	if err != nil {
		return nil, err
	}
	b := k.Bound()
	o := &outlook{
		s: s, known: k, d: s.cfg.Dim, t: s.cfg.Targets, rows: k.Rows, mean: s.Grid(1)[0], sigma2: k.Sketch.Sigma2,
		eta: b.Shrinkage, roundOff: b.RoundOff, total: b.Frobenius2, fraction: 1,
	}
	o.captured, o.expected = []float64{0}, []float64{0}
	for i, v := range o.sigma2 {
		o.captured = append(o.captured, o.captured[i]+math.Max(0, v-b.RoundOff))
		o.expected = append(o.expected, math.Min(o.total, o.expected[i]+v+o.eta))
	}
	r := len(o.sigma2)
	if free := k.Rank() - r; free > 0 {
		level := (o.total - o.expected[r]) / float64(free)
		for i := range free {
			o.expected = append(o.expected, o.expected[r]+float64(i+1)*level)
		}
	}
	if likely := o.least(o.expected, min(s.cfg.Size, o.d)); likely > 0 && o.eta > 0 {
		o.fraction = math.Min(1, o.eta/likely)
	}
	return o, nil
}

// least is min_{k≤m} (‖A‖²_F − Σ_{i≤k}λᵢ)/(m+1−k).
func (o *outlook) least(sums []float64, m int) float64 {
	best := math.Inf(1)
	for k := 0; k < len(sums) && k <= m; k++ {
		best = math.Min(best, math.Max(0, o.total-sums[k])/float64(m+1-k))
	}
	return best
}

// bound is proved of η at size m, for the rows seen.
func (o *outlook) bound(m int) float64 {
	if m >= o.d {
		return 0
	}
	return o.least(o.captured, m)
}

// estimate is what η is expected to be at size m.
func (o *outlook) estimate(m int) float64 {
	if m >= o.d {
		return 0
	}
	return math.Min(o.fraction*o.least(o.expected, m), o.bound(m))
}
