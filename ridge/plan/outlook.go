package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// SizeFor estimates the least sketch size m whose one-shot fit at γ has a relative
// error of at most relErr for the rows seen, by ρ/(γ+ρ) ≤ relErr. For worst, η is the largest
// that is possible in exact arithmetic; for expected, what it is expected to be; see
// [New]. Neither is proved: both count the round-off of the sketch at hand, and that of
// a sketch of m rows, or of rows in other blocks, may be more. The certificate of the fit tells.
// For n rows like those seen, of which there are r, ask for γ·r/n.
//
// m is d at most, where nothing is shrunk, and the least at which AᵀA itself is kept
// ([fd.Storage]). relErr must be above what round-off leaves to
// certify at this γ. That includes the round-off of AᵀY, beside which the weights may be small.
func SizeFor(sum *ridge.Summary, relErr, gamma float64) (worst, expected int, err error) {
	if err := ridge.OneShot.Takes(gamma); err != nil {
		return 0, 0, err
	}
	o, err := newOutlook(sum)
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
	return least(o.eta.worst), least(o.eta.estimate), nil
}

// An outlook is what a summary says of sketches of other sizes.
type outlook struct {
	known    *certify.Known
	cfg      ridge.SummaryConfig
	be       engine.Backend
	d, t     int
	rows     int64
	sparse   bool    // some rows came sparse
	entries  float64 // of a row, d where that is not known
	mean     float64 // eigenvalue of K
	roundOff float64 // of the bound on ‖K − BᵀB‖
	eta      etaForecast
}

// An etaForecast is what a sketch tells of η for sketches of other sizes, by way of the
// eigenvalues λ₁ ≥ λ₂ ≥ … of K.
type etaForecast struct {
	d      int
	whole  func(m int) bool // a sketch of size m keeps AᵀA itself
	total  float64          // ‖A‖²_F
	lowest []float64        // lower bounds on λ₁ + … + λ_k, for k = 0 … r
	likely []float64        // λ₁ + … + λ_k as expected, for k = 0 … d
	share  float64          // η of the sketch at hand relative to what likely makes of its bound
	floor  float64          // the least eigenvalue that isn't zero, as expected
	noisy  bool             // that is not seen: at best it is what noise makes of so many rows, see floorOf
}

func newOutlook(sum *ridge.Summary) (*outlook, error) {
	k, err := sum.Known("plan", 1)
	if err != nil {
		return nil, err
	}
	cfg := sum.Config()
	o := &outlook{
		known: k, cfg: cfg, be: cfg.Backend, d: cfg.Dim, t: cfg.Targets, rows: k.Rows, sparse: k.Reading.Sparse, entries: float64(cfg.Dim),
		mean: sum.MeanEigenvalue(), roundOff: k.Bound().RoundOff, eta: newEtaForecast(k, cfg.Size),
	}
	o.eta.whole = o.keepsScatter
	return o, nil
}

// newEtaForecast is that of a sketch of size m.
func newEtaForecast(k *certify.Known, m int) etaForecast {
	b, sigma2 := k.Bound(), k.Sketch.Sigma2
	s := etaForecast{d: k.Sketch.Dim, total: b.Frobenius2, lowest: []float64{0}, likely: []float64{0}, share: 1}
	for i, v := range sigma2 {
		s.lowest = append(s.lowest, s.lowest[i]+math.Max(0, v-b.RoundOff))
		s.likely = append(s.likely, math.Min(s.total, s.likely[i]+v+b.Shrinkage))
	}
	r := len(sigma2)
	if unseen := k.Rank() - r; unseen > 0 {
		level := (s.total - s.likely[r]) / float64(unseen)
		for i := range unseen {
			s.likely = append(s.likely, s.likely[r]+float64(i+1)*level)
		}
	}
	if r > 0 {
		s.noisy = k.Rank() > r
		s.floor = fallen(sigma2[r-1]+b.Shrinkage, s.total-s.likely[r], r, k.Rank())
	}
	if likely := s.least(s.likely, min(m, s.d)); likely > 0 && b.Shrinkage > 0 {
		s.share = math.Min(1, b.Shrinkage/likely)
	}
	return s
}

// fallen is what the eigenvalues λ_r = last, λ_{r+1}, …, λ_rank fall to, where those behind λ_r sum to
// rest: the geometric mean of what it is if they fall as a power of their index and if they are all
// the same, which noise makes of the last ones.
func fallen(last, rest float64, r, rank int) float64 {
	if rank <= r || !(rest > 0) {
		return math.Max(0, last)
	}
	sum := func(power float64) float64 {
		all := 0.0
		for i := r + 1; i <= rank; i++ {
			all += math.Pow(float64(i)/float64(r), -power)
		}
		return last * all
	}
	low, high := 0.0, 64.0
	for range 40 {
		if mid := (low + high) / 2; sum(mid) > rest {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Sqrt(last * math.Pow(float64(rank)/float64(r), -high) * rest / float64(rank-r))
}

// floorOf is the least eigenvalue that isn't zero of n such rows. The last eigenvalues of noise, n×d of
// variance v, are not all the same: with q = min(n,d)/max(n,d) they go down to (1 − √q)² of
// v·max(n,d) (V. Marchenko, L. Pastur, Math. USSR-Sbornik 1, 1967), which is next to nothing where
// there are about as many rows as features. What fallen has the mean of is taken as such.
func (o *outlook) floorOf(n int64) float64 {
	floor := o.eta.floor * float64(n) / float64(o.rows)
	if o.eta.noisy {
		rows, d := float64(n), float64(o.d)
		floor *= 1 - math.Sqrt(math.Min(rows, d)/math.Max(rows, d))
	}
	return floor
}

// least is min_{k≤m} (‖A‖²_F − Σ_{i≤k}λᵢ)/(m+1−k), given the sums of the largest λᵢ.
func (s *etaForecast) least(sums []float64, m int) float64 {
	best := math.Inf(1)
	for k := 0; k < len(sums) && k <= m; k++ {
		best = math.Min(best, math.Max(0, s.total-sums[k])/float64(m+1-k))
	}
	return best
}

// worst is the largest η at size m, for the rows seen, but for round-off.
func (s *etaForecast) worst(m int) float64 {
	if m >= s.d || s.whole(m) {
		return 0
	}
	return s.least(s.lowest, m)
}

// estimate is what η is expected to be at size m.
func (s *etaForecast) estimate(m int) float64 {
	if m >= s.d || s.whole(m) {
		return 0
	}
	return math.Min(s.share*s.least(s.likely, m), s.worst(m))
}
