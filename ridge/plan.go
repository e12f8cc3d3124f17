package ridge

import (
	"fmt"
	"math"
	"sort"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Rates are what a machine does in a second, as [engine.Measure] finds them.
type Rates struct {
	Flops float64 // floating-point operations in matrix products
	Bytes float64 // bytes of rows, as float64, that a pass gets: of memory, or of the reader if that is less
}

// PlanConfig says what to plan for; its zero value is the documented default.
type PlanConfig struct {
	Rows     int64     // n of the data to be fitted; 0: as many as the summary has seen
	Gammas   []float64 // solved for together, at n rows; default the mean eigenvalue of K
	Sizes    []int     // m to consider; default the powers of two from 16 below d
	Tol      float64   // relative error wanted; default 1e-8
	MaxBytes uint64    // memory there is; default 8 GiB
	Rates    Rates     // default 50 GFLOP/s and 10 GB/s
	Base     Base      // default nothing
}

// A Base is what every method takes besides its own: the program, the reader's
// blocks, and what is to be done before.
type Base struct {
	Bytes   uint64
	Seconds float64
}

// A PlanOption is one way to solve.
type PlanOption struct {
	Method string `json:"method"` // "exact", "one-shot", "cg", "chebyshev" or "newton"
	Size   int    `json:"size"`   // m; 0 for exact
	// ShrinkageBound is proved for the rows that the summary has seen, η is at most
	// that for any sketch of them of this size; times n over their number for n rows,
	// it is as good as they are a sample.
	ShrinkageBound float64   `json:"shrinkage_bound"`
	Shrinkage      float64   `json:"shrinkage"`   // η as it is expected: an estimate
	Contraction    []float64 `json:"contraction"` // ρ/(γ+ρ) with that, for each γ: the relative error of the one-shot fit at most
	Passes         []int     `json:"passes"`      // reads of the data with that, for each γ; 0: need not converge
	Bytes          uint64    `json:"bytes"`       // memory, the Base's included
	Seconds        float64   `json:"seconds"`     // by the Rates, the Base's included
	Reaches        bool      `json:"reaches"`     // Tol, within MaxBytes
}

// A Plan lists the ways to solve.
type Plan struct {
	Rows    int64        `json:"n"`
	Gammas  []float64    `json:"gammas"`
	Options []PlanOption `json:"options"`
	Best    int          `json:"best"`   // index of the option that reaches Tol soonest, -1 where none does
	Reason  string       `json:"reason"` // in words
}

// Plan predicts, from a summary of all rows, or as a pilot of a sample of them, what it
// takes to solve for n rows by each method with sketches of other
// sizes.
//
// What is proved and what is not: with σ the sketch's singular values, the rows seen
// have ‖A − A_k‖²_F ≤ ‖A‖²_F − Σ_{i≤k}σᵢ², so that a sketch of them of any size m has
//
//	η ≤ min_{k≤m} (‖A‖²_F − Σ_{i≤k}σᵢ²)/(m+1−k).
//
// Everything else is an estimate: the spectrum of K is taken to be σᵢ² + η, with what
// is left of the trace spread evenly over the other directions; η for another size to
// be the same fraction of its bound on that spectrum as it is for the size at hand;
// and n rows to have n over the number seen times the spectrum, which the first rows
// of a sorted file do not have. Passes are the worst that η allows, see
// [Summary.PredictedPasses], and no more than d+2 of CG, which often takes half of
// them. Times count matrix products and the bytes read, at Rates, after Base.Seconds;
// they are good to a factor of about two where Rates are those of the machine and of
// the reader.
//
// Errors: [ErrEmpty]; *[GammaError]; [ErrShape] for a size or a number of rows that
// is not positive.
func (s *Summary) Plan(cfg PlanConfig) (*Plan, error) {
	o, err := s.outlook()
	if err != nil {
		return nil, err
	}
	if err := cfg.complete(o); err != nil {
		return nil, err
	}
	p := &Plan{Rows: cfg.Rows, Gammas: cfg.Gammas, Best: -1}
	p.Options = append(p.Options, o.exact(cfg))
	for _, m := range cfg.Sizes {
		for _, method := range []string{oneShot, CG.String(), Chebyshev.String(), Newton.String()} {
			option, err := o.option(cfg, min(m, o.d), method)
			if err != nil {
				return nil, err
			}
			p.Options = append(p.Options, option)
		}
	}
	p.choose(cfg)
	return p, nil
}

// complete fills in the defaults.
func (c *PlanConfig) complete(o *outlook) error {
	if c.Rows == 0 {
		c.Rows = o.rows
	}
	if c.Rows < 0 {
		return fmt.Errorf("%w: %d rows", errShape, c.Rows)
	}
	if c.Gammas == nil {
		c.Gammas = []float64{o.mean * float64(c.Rows) / float64(o.rows)}
	}
	for _, g := range c.Gammas {
		if err := checkGamma(g, "plan"); err != nil {
			return err
		}
	}
	if c.Sizes == nil {
		for m := 16; m < o.d; m *= 2 {
			c.Sizes = append(c.Sizes, m)
		}
	}
	for _, m := range c.Sizes {
		if m < 1 {
			return fmt.Errorf("%w: a sketch of %d rows", errShape, m)
		}
	}
	if c.Tol == 0 {
		c.Tol = 1e-8
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 8 << 30
	}
	if c.Rates.Flops == 0 {
		c.Rates.Flops = 5e10
	}
	if c.Rates.Bytes == 0 {
		c.Rates.Bytes = 1e10
	}
	if !(c.Tol > 0) || !(c.Base.Seconds >= 0) || !(c.Rates.Flops > 0) || !(c.Rates.Bytes > 0) {
		return fmt.Errorf("ridge: a plan with Tol = %v, rates %+v and %v s before, must be positive", c.Tol, c.Rates, c.Base.Seconds)
	}
	return nil
}

// choose takes the option that reaches the tolerance in the least time.
func (p *Plan) choose(cfg PlanConfig) {
	for i, o := range p.Options {
		if o.Reaches && (p.Best < 0 || o.Seconds < p.Options[p.Best].Seconds) {
			p.Best = i
		}
	}
	if p.Best < 0 {
		p.Reason = fmt.Sprintf("nothing reaches a relative error of %g within %.3g MiB", cfg.Tol, float64(cfg.MaxBytes)/(1<<20))
		return
	}
	best := p.Options[p.Best]
	p.Reason = best.describe() + " reaches the tolerance soonest"
	next := -1
	for i, o := range p.Options {
		if o.Reaches && (o.Method == "exact") != (best.Method == "exact") && (next < 0 || o.Seconds < p.Options[next].Seconds) {
			next = i
		}
	}
	switch {
	case next >= 0:
		p.Reason += "; " + p.Options[next].describe() + " is next"
	case best.Method != "exact":
		p.Reason += fmt.Sprintf("; exact takes %.3g MiB", float64(p.Options[0].Bytes)/(1<<20))
	}
}

func (o PlanOption) describe() string {
	name := o.Method
	if o.Size > 0 {
		name += fmt.Sprintf(" with m = %d", o.Size)
	}
	most := 0
	for _, n := range o.Passes {
		most = max(most, n)
	}
	return fmt.Sprintf("%s (about %.2g s, %d passes, %.3g MiB)", name, o.Seconds, most, float64(o.Bytes)/(1<<20))
}

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

// exact is the direct solution: nd² flops and d³/3 for each γ.
func (o *outlook) exact(cfg PlanConfig) PlanOption {
	n, d, k := float64(cfg.Rows), float64(o.d), len(cfg.Gammas)
	p := PlanOption{Method: "exact", Bytes: cfg.Base.Bytes + direct.Bytes(o.d, o.t), Contraction: make([]float64, k), Passes: make([]int, k)}
	for i := range p.Passes {
		p.Passes[i] = 1
	}
	p.Seconds = cfg.Base.Seconds + (n*d*d+float64(k)*d*d*d/3)/cfg.Rates.Flops + 8*n*d/cfg.Rates.Bytes
	p.Reaches = p.Bytes <= cfg.MaxBytes
	return p
}

// eigenFlops is the cost of a symmetric eigenproblem of order n over n³, in flops of
// a matrix product: measured, it is slower than its count of operations.
const eigenFlops = 7

// option is a sketch of m rows and what follows it.
func (o *outlook) option(cfg PlanConfig, m int, method string) (PlanOption, error) {
	grown := float64(cfg.Rows) / float64(o.rows)
	p := PlanOption{Method: method, Size: m, ShrinkageBound: o.bound(m) * grown, Shrinkage: o.estimate(m) * grown, Reaches: true}
	rho, round := p.Shrinkage/2, o.roundOff*grown
	most := 0
	for _, gamma := range cfg.Gammas {
		q, passes := (rho+round)/(gamma+rho), 1
		if method == oneShot {
			p.Reaches = p.Reaches && q <= cfg.Tol
		} else if passes = passesWithin((gamma-round)/(gamma+rho), 1+q, cfg.Tol, method == Newton.String()); passes > 0 {
			if method == CG.String() {
				passes = min(passes, o.d+1) // it ends after d steps, but for round-off
			}
			passes++ // the sketch's own
		} else {
			p.Reaches = false
		}
		p.Contraction, p.Passes = append(p.Contraction, q), append(p.Passes, passes)
		most = max(most, passes-1)
	}
	sketch, err := o.sketchCost(m)
	if err != nil {
		return p, err
	}
	q := len(cfg.Gammas) * o.t
	total := sketch.times(float64(cfg.Rows)).plus(o.fitCost(m, q))
	if method != oneShot {
		total = total.plus(o.passCost(cfg.Rows, m, q).times(float64(most))).holding(13 * 8 * float64(q) * float64(o.d))
	}
	p.Bytes = cfg.Base.Bytes + uint64(total.memory)
	p.Seconds = cfg.Base.Seconds + total.flops/cfg.Rates.Flops + total.read/cfg.Rates.Bytes
	p.Reaches = p.Reaches && p.Bytes <= cfg.MaxBytes
	return p, nil
}

const oneShot = "one-shot"

// passesWithin is how many gradients shrink the error in the norm of H by tol where
// the spectrum of Ĥ⁻¹H is in [lo, hi]: by Newton's rate, or by that of CG and
// Chebyshev. 0 says that they need not.
func passesWithin(lo, hi, tol float64, newton bool) int {
	if !(lo > 0) {
		return 0
	}
	kappa := math.Sqrt(hi / lo)
	rate, factor := (kappa-1)/(kappa+1), 2.0
	if newton {
		rate, factor = math.Max(1-lo, hi-1), 1
	}
	switch {
	case rate >= 1:
		return 0
	case rate <= 0:
		return 1
	}
	return 1 + max(0, int(math.Ceil(math.Log(tol/factor)/math.Log(rate))))
}

// A cost is what some step takes.
type cost struct{ flops, read, memory float64 }

func (c cost) times(f float64) cost { return cost{f * c.flops, f * c.read, c.memory} }

func (c cost) plus(o cost) cost { return cost{c.flops + o.flops, c.read + o.read, c.memory + o.memory} }

func (c cost) holding(bytes float64) cost { return c.plus(cost{memory: bytes}) }

// sketchCost is that of a row: of p rows the products 2mp + p² of BBᵀ and 2m(m+p) of
// the rebuilt B, times d, the eigenproblem of order m+p, and c.
func (o *outlook) sketchCost(size int) (cost, error) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return cost{}, err
	}
	be, live := o.s.be, size+tuning.ShrinkRows(size)
	m, d, t := float64(size), float64(o.d), float64(o.t)
	p := float64(live) - m
	k := m + p
	work := float64(max(be.SymEigWork(live, size), be.LeftMulWork(size, o.d, live)))
	return cost{
		flops:  ((2*m*p+p*p+2*m*k)*d+eigenFlops*k*k*k)/p + 2*t*d,
		read:   8 * d,
		memory: 8 * (k*d + k*k + m*k + work + 3*t*d + float64(rows.RowsPerStage(o.d))*(d+t)),
	}, nil
}

// fitCost is that of decomposing the sketch once and fitting q systems to it.
func (o *outlook) fitCost(size, q int) cost {
	m, d := float64(size), float64(o.d)
	return cost{flops: 4*m*m*d + 4*float64(q)*m*d, memory: 8 * (m*d + 2*float64(q)*d)}
}

// passCost is that of a gradient of q systems and the application of Ĥ⁻¹ to them.
func (o *outlook) passCost(count int64, size, q int) cost {
	n, m, d := float64(count), float64(size), float64(o.d)
	return cost{flops: (4*n + 10*m) * d * float64(q), read: 8 * n * d}
}
