package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// SizeFor estimates the smallest sketch size such that the one-pass fit at γ ([ridge.Summary.Fit]) has a relative
// error of at most relErr. The error of a fit from a sketch with the shrinkage η is at most ρ/(γ+ρ), so SizeFor
// looks for
//
//	ρ/(γ+ρ) ≤ relErr,   ρ = η/2.
//
// worst is the smallest size if η is the largest possible in exact arithmetic, and likely is the smallest size for
// the expected η, see [New]. The estimate is for a fit of the r rows of the summary. To estimate a fit of n similar
// rows, pass γ·r/n instead of γ.
//
// Both sizes are at most the number d of features. They are also at most the smallest size at which a sketch keeps
// AᵀA itself ([fd.Storage]), because such a sketch does not shrink.
//
// Both sizes are only estimates, because they assume the round-off of the given sketch. The certificate of the later
// fit is proved. relErr must be larger than the effect of round-off at this γ, including the round-off of AᵀY.
func SizeFor(sum *ridge.Summary, relErr, gamma float64) (worst, likely int, err error) {
	if err := ridge.OneShot.Takes(gamma); err != nil {
		return 0, 0, err
	}
	o, err := newForecast(sum)
	if err != nil {
		return 0, 0, err
	}
	lost := o.known.LostCross(gamma)
	if !(relErr > o.roundOff/gamma+lost) {
		return 0, 0, fmt.Errorf(
			"ridge: a relative error of %g is below round-off, %g at gamma = %g",
			relErr,
			o.roundOff/gamma+lost,
			gamma,
		)
	}
	relErr -= lost // the round-off of AᵀY
	least := func(eta func(m int) float64) int {
		return 1 + sort.Search(o.d-1, func(i int) bool {
			rho := eta(i+1) / 2
			return (rho+o.roundOff)/(gamma+rho) <= relErr
		})
	}
	return least(o.eta.worst), least(o.eta.estimate), nil
}

// A forecast predicts costs and bounds of sketches from a summary.
type forecast struct {
	known    *certify.Known
	cfg      ridge.SummaryConfig
	be       engine.Backend
	d, t     int
	rows     int64
	sparse   bool    // some rows are sparse
	entries  float64 // mean number of entries of a row; d if unknown
	mean     float64 // mean eigenvalue of K
	roundOff float64 // bound on the round-off in ‖K − BᵀB‖, for K = AᵀA and the sketch B
	eta      etaForecast
}

// An etaForecast predicts the shrinkage η of sketches, a bound on their error. It predicts η from the eigenvalues
// λ₁ ≥ λ₂ ≥ … of AᵀA, for the rows A.
type etaForecast struct {
	d         int
	keepsGram func(m int) bool // whether a sketch of size m keeps AᵀA itself
	total     float64          // ‖A‖²_F
	lowest    []float64        // lower bounds on λ₁ + … + λ_k for k = 0 … r, the rank of the given sketch
	likely    []float64        // expected values of λ₁ + … + λ_k, for k = 0 … d
	share     float64          // η of the given sketch, divided by the bound that least(likely) returns for its size
	floor     float64          // expected smallest nonzero eigenvalue
	// noisy is true if the given sketch does not contain the smallest eigenvalues. The field floor is then
	// extrapolated.
	noisy bool
}

func newForecast(sum *ridge.Summary) (*forecast, error) {
	k, err := accum.KnownOf(sum, "plan", 1)
	if err != nil {
		return nil, err
	}
	cfg := sum.Config()
	o := &forecast{
		known:    k,
		cfg:      cfg,
		be:       cfg.Backend,
		d:        cfg.Dim,
		t:        cfg.Targets,
		rows:     k.Rows,
		sparse:   k.Reading.Sparse,
		entries:  float64(cfg.Dim),
		mean:     sum.MeanEigenvalue(),
		roundOff: k.Bound().RoundOff,
		eta:      newEtaForecast(k, cfg.Size),
	}
	o.eta.keepsGram = o.keepsScatter
	return o, nil
}

// newEtaForecast returns a forecast that is based on the sketch of m rows in k.
func newEtaForecast(k *certify.Known, m int) etaForecast {
	b := k.Bound()
	sigma2 := k.Sketch.Sigma2
	s := etaForecast{
		d:      k.Sketch.Dim,
		total:  b.Frobenius2,
		lowest: []float64{0},
		likely: []float64{0},
		share:  1,
	}
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
		least := sigma2[r-1] + b.Shrinkage
		s.floor = lastEigenvalue(least, s.total-s.likely[r], r, k.Rank())
	}
	if likely := s.least(s.likely, min(m, s.d)); likely > 0 && b.Shrinkage > 0 {
		s.share = math.Min(1, b.Shrinkage/likely)
	}
	return s
}

// lastEigenvalue estimates the smallest nonzero eigenvalue of a matrix with the given rank. lambda is the r-th
// largest eigenvalue, and tail is the sum of all smaller eigenvalues. The result is the geometric mean of two
// estimates. One assumes that the smaller eigenvalues follow a power law, the other that they are all equal.
func lastEigenvalue(lambda, tail float64, r, rank int) float64 {
	if rank <= r || !(tail > 0) {
		return math.Max(0, lambda)
	}
	sum := func(power float64) float64 {
		all := 0.0
		for i := r + 1; i <= rank; i++ {
			all += math.Pow(float64(i)/float64(r), -power)
		}
		return lambda * all
	}
	low, high := 0.0, 64.0
	for range 40 {
		if mid := (low + high) / 2; sum(mid) > tail {
			low = mid
		} else {
			high = mid
		}
	}
	last := lambda * math.Pow(float64(rank)/float64(r), -high)
	return math.Sqrt(last * tail / float64(rank-r))
}

// floorOf estimates the smallest nonzero eigenvalue of AᵀA for n rows A of d features. It scales o.eta.floor, the
// estimate for the rows of the given sketch. If o.eta.floor was extrapolated, it also multiplies by 1 − √q with q =
// min(n,d)/max(n,d).
//
// The reason is noise: n×d entries of variance v have eigenvalues of AᵀA down to (1 − √q)²·v·max(n,d) (V.
// Marchenko, L. Pastur, Math. USSR-Sbornik 1, 1967). An extrapolated estimate is the geometric mean of two
// estimates. Only the estimate for equal eigenvalues needs the factor (1 − √q)², so floorOf multiplies by its
// square root.
func (o *forecast) floorOf(n int64) float64 {
	floor := o.eta.floor * float64(n) / float64(o.rows)
	if o.eta.noisy {
		rows, d := float64(n), float64(o.d)
		floor *= 1 - math.Sqrt(math.Min(rows, d)/math.Max(rows, d))
	}
	return floor
}

// least returns the minimum of (‖A‖²_F − sums[k])/(m+1−k) over k ≤ m, for the rows A. sums[k] must be a
// lower bound on the sum of the k largest eigenvalues of AᵀA. Then the result bounds the shrinkage of a sketch of m
// rows.
func (s *etaForecast) least(sums []float64, m int) float64 {
	best := math.Inf(1)
	for k := 0; k < len(sums) && k <= m; k++ {
		best = math.Min(best, math.Max(0, s.total-sums[k])/float64(m+1-k))
	}
	return best
}

// worst returns an upper bound on the shrinkage η of a sketch of m rows in exact arithmetic. For a sketch B of the
// rows A, the shrinkage is a bound ‖AᵀA − BᵀB‖₂ ≤ η that the sketch computes.
func (s *etaForecast) worst(m int) float64 {
	if m >= s.d || s.keepsGram(m) {
		return 0
	}
	return s.least(s.lowest, m)
}

// estimate returns the expected shrinkage of a sketch of m rows. The shrinkage is defined at [etaForecast.worst].
func (s *etaForecast) estimate(m int) float64 {
	if m >= s.d || s.keepsGram(m) {
		return 0
	}
	return math.Min(s.share*s.least(s.likely, m), s.worst(m))
}
