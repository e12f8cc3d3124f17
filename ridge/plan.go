package ridge

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
)

// PlanConfig says what to plan for; its zero value is the documented default.
type PlanConfig struct {
	Rows     int64     // n of the data to be fitted; 0: as many as the summary has seen
	Gammas   []float64 // solved for together, at n rows; default the mean eigenvalue of K
	Sizes    []int     // m to consider; default the powers of two from 16 below d
	Tol      float64   // relative error wanted; default 1e-8
	MaxBytes uint64    // memory there is; default 8 GiB
	Lanes    int       // sketches that are fed side by side, see [SummaryConfig]; default what the dispatcher chooses for n rows
	// Entries is how many entries a sparse row has, in the mean, which a summary does not know. 0
	// counts time and memory as if they were dense.
	Entries float64

	// What the machine does in a second, as [engine.Measure] finds it.
	FlopRate  float64 // floating-point operations in matrix products; default 5e10
	ReadRate  float64 // bytes of rows, as float64, or 12 an entry of sparse ones, that a pass gets: of memory, or of the reader if that is less; default 1e10
	FreshRate float64 // bytes of memory that the system hands out and the method writes for the first time; default 2e9

	// What is added to the memory and the time of every method: the program, the reader's
	// blocks, and what is to be done before.
	BaseBytes   uint64
	BaseSeconds float64
}

// A PlanOption is one way to solve.
type PlanOption struct {
	Method string `json:"method"` // "exact", "one-shot", "cg", "galerkin", "chebyshev" or "newton"
	Size   int    `json:"size"`   // m; 0 for exact
	// WorstShrinkage is the largest η that a sketch of this size can have of the rows seen, with the
	// summary's Shrink and Store, in exact arithmetic. For n rows it is multiplied by n over the
	// number seen. It is an estimate: the round-off of that sketch is not in it, and rows that
	// come in other blocks are rounded otherwise. It is 0 for a sketch that keeps AᵀA itself.
	WorstShrinkage float64   `json:"worst_shrinkage"`
	Shrinkage      float64   `json:"shrinkage"`   // η as it is expected: an estimate
	Contraction    []float64 `json:"contraction"` // ρ/(γ+ρ) with that, for each γ: the relative error expected of the one-shot fit
	Passes         []int     `json:"passes"`      // reads of the data with that, for each γ; 0: need not converge
	Bytes          uint64    `json:"bytes"`       // memory, BaseBytes included
	Seconds        float64   `json:"seconds"`     // by the rates, BaseSeconds included
	Reaches        bool      `json:"reaches"`     // Tol, within MaxBytes; one below 2⁻⁵³, the rounding of weights, is not counted on
	ByName         bool      `json:"-"`           // it runs only if it is asked for by its name, and is never the best
}

// A Plan lists the ways to solve.
type Plan struct {
	Rows    int64        `json:"n"`
	Gammas  []float64    `json:"gammas"`
	Options []PlanOption `json:"options"`
	Best    int          `json:"best"`   // index of the option that is to be run, see [Summary.Plan]; -1 where none reaches Tol
	Reason  string       `json:"reason"` // in words; where another option is sooner, which
}

// Plan predicts, from a summary of all rows, or as a pilot of a sample of them, what it
// takes to solve for n rows by each method with sketches of other
// sizes.
//
// All numbers are estimates. With σ the sketch's singular values, the rows seen
// have ‖A − A_k‖²_F ≤ ‖A‖²_F − Σ_{i≤k}σᵢ², so that in exact arithmetic a sketch of them of any size
// m, other than one that keeps AᵀA itself and has η = 0, has
//
//	η ≤ min_{k≤m} (‖A‖²_F − Σ_{i≤k}σᵢ²)/(m+1−k),
//
// the worst case. For what is expected the spectrum of K is taken to be σᵢ² + η, with what
// is left of the trace spread evenly over the other directions; η for another size to
// be the same fraction of its bound on that spectrum as it is for the size at hand;
// and n rows to have n over the number seen times the spectrum, which the first rows
// of a sorted file do not have. Passes are those that η allows at worst, see
// [Summary.PredictedPasses], with the least eigenvalue of K that isn't zero as the
// spectrum and its trace let it be expected, by a power law and by noise: of CG no more than d+2, of Galerkin two thirds of CG's, of Chebyshev those that are proved. They
// are good to a factor of about two, up to three times too many where all eigenvalues are much the same and the sketch at hand is small. Times count matrix products, the bytes read and
// the memory that is taken, at FlopRate, ReadRate and FreshRate, after BaseSeconds; they are good to a factor of about two where these are
// those of the machine and of the reader.
//
// The best option is what [Fit] runs by itself for these rows and γ where its own MaxBytes
// is what that here leaves beside BaseBytes, see [ChooseMethod]: exact where it chooses that,
// else, of the sizes considered, the soonest of the iterations that it chooses for a sketch
// of that size. Where none of these reaches Tol within MaxBytes it is the soonest of the
// others but those of ByName; it is to be asked for by its name. As Fit, before the first
// pass, has to guess spectrum and machine, another option may be sooner: Reason then names it. To run an option give Fit its Size and, where it is not the
// best, its Method.
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
	o.entries = o.entriesOf(cfg)
	p := &Plan{Rows: cfg.Rows, Gammas: cfg.Gammas, Best: -1}
	p.Options = append(p.Options, o.exact(cfg))
	for _, m := range cfg.Sizes {
		sketch, err := o.sketchCost(cfg.Rows, min(m, o.d), cfg.Lanes)
		if err != nil {
			return nil, err
		}
		p.Options = append(p.Options, o.oneShot(cfg, min(m, o.d), sketch))
		for i := range iterations {
			p.Options = append(p.Options, o.refined(cfg, min(m, o.d), sketch, &iterations[i]))
		}
	}
	p.choose(cfg, o)
	return p, nil
}

// complete fills in the defaults.
func (c *PlanConfig) complete(o *outlook) error {
	if c.Rows == 0 {
		c.Rows = o.rows
	}
	if c.Rows < 0 {
		return unfit("%d rows", c.Rows)
	}
	if c.Lanes < 0 || c.Lanes > MaxLanes {
		return badinput.Errorf("ridge: Lanes is %d, must be positive and at most %d", c.Lanes, MaxLanes)
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
			return unfit("a sketch of %d rows", m)
		}
	}
	if c.Tol == 0 {
		c.Tol = defaultTol
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.FlopRate == 0 {
		c.FlopRate = 5e10
	}
	if c.ReadRate == 0 {
		c.ReadRate = 1e10
	}
	if c.FreshRate == 0 {
		c.FreshRate = 2e9
	}
	if !(c.Entries >= 0) {
		return badinput.Errorf("ridge: Entries is %v, must not be negative", c.Entries)
	}
	if !(c.Tol > 0) || !(c.BaseSeconds >= 0) || !(c.FlopRate > 0) || !(c.ReadRate > 0) || !(c.FreshRate > 0) {
		return badinput.Errorf("ridge: a plan with Tol = %v, %v flops, %v bytes read and %v of memory a second, and %v s before; they must be positive", c.Tol, c.FlopRate, c.ReadRate, c.FreshRate, c.BaseSeconds)
	}
	return nil
}

// choose marks the best option, and says why.
func (p *Plan) choose(cfg PlanConfig, o *outlook) {
	const soonest = " reaches the tolerance soonest"
	itself := " is what runs unless a method is named"
	if method, _ := ChooseMethod(p.Rows, o.d, o.t, Options{Gammas: p.Gammas}); method == exactName && !p.Options[0].Reaches {
		itself = " is what runs in so little memory unless a method is named"
	}
	first := p.soonest(func(c PlanOption) bool { return !c.ByName })
	if first < 0 {
		p.Reason = fmt.Sprintf("nothing reaches a relative error of %g within %.3g MiB", cfg.Tol, float64(cfg.MaxBytes)/(1<<20))
		return
	}
	p.Best = p.byItself(cfg, o)
	switch best := p.Best; {
	case best < 0:
		p.Best = first
		p.Reason = p.Options[first].describe() + soonest
	case p.Options[first].Seconds < p.Options[best].Seconds:
		p.Reason = p.Options[best].describe() + itself + "; " + p.Options[first].describe() + soonest
	default:
		p.Reason = p.Options[best].describe() + itself + ", and" + soonest
	}
	if !p.Options[0].Reaches {
		p.Reason += fmt.Sprintf("; exact takes %.3g MiB", float64(p.Options[0].Bytes)/(1<<20))
	}
}

// byItself is the option that [Fit] runs by itself, of those that reach the tolerance: -1 for
// none. Some option does, so that MaxBytes is more than BaseBytes.
func (p *Plan) byItself(cfg PlanConfig, o *outlook) int {
	run := func(size int) string {
		method, _ := ChooseMethod(p.Rows, o.d, o.t, Options{Gammas: p.Gammas, Size: size, MaxBytes: cfg.MaxBytes - cfg.BaseBytes})
		return method
	}
	if run(0) == exactName && p.Options[0].Reaches {
		return 0
	}
	return p.soonest(func(c PlanOption) bool { return c.Method != exactName && c.Method == run(c.Size) })
}

// soonest is the option that reaches the tolerance in the least time of those that may
// be taken, -1 for none.
func (p *Plan) soonest(may func(PlanOption) bool) int {
	best := -1
	for i, o := range p.Options {
		if o.Reaches && may(o) && (best < 0 || o.Seconds < p.Options[best].Seconds) {
			best = i
		}
	}
	return best
}

func (o PlanOption) describe() string {
	name := o.Method
	if o.Method == exactName && reduces(len(o.Passes)) {
		name += " by one reduction to tridiagonal form"
	}
	if o.Size > 0 {
		name += fmt.Sprintf(" with m = %d", o.Size)
	}
	most := 0
	for _, n := range o.Passes {
		most = max(most, n)
	}
	return fmt.Sprintf("%s (about %.2g s, %d passes, %.3g MiB)", name, o.Seconds, most, float64(o.Bytes)/(1<<20))
}

// exact is the direct solution.
func (o *outlook) exact(cfg PlanConfig) PlanOption {
	k := len(cfg.Gammas)
	p := PlanOption{Method: exactName, Contraction: make([]float64, k), Passes: make([]int, k), Reaches: true}
	for i := range p.Passes {
		p.Passes[i] = 1
	}
	p.take(cfg, o.exactCost(cfg.Rows, k, float64(cfg.MaxBytes)-float64(cfg.BaseBytes)))
	return p
}

// take sets what the option takes in all.
func (p *PlanOption) take(cfg PlanConfig, total cost) {
	p.Bytes = cfg.BaseBytes + uint64(math.Min(total.memory, math.MaxInt64))
	p.Seconds = cfg.BaseSeconds + total.flops/cfg.FlopRate + total.read/cfg.ReadRate + total.memory/cfg.FreshRate
	p.Reaches = p.Reaches && p.Bytes <= cfg.MaxBytes && cfg.Tol >= LeastTol
}

// sketched is what all options with a sketch of m rows have in common.
func (o *outlook) sketched(cfg PlanConfig, m int, method string) PlanOption {
	p := PlanOption{
		Method: method, Size: m, Reaches: true,
		WorstShrinkage: o.eta.worst(m) * o.grown(cfg), Shrinkage: o.eta.estimate(m) * o.grown(cfg),
	}
	rho, round := p.Shrinkage/2, o.roundOff*o.grown(cfg)
	for _, gamma := range cfg.Gammas {
		p.Contraction = append(p.Contraction, (rho+round)/(gamma+rho))
	}
	return p
}

// grown is how many times as many rows are planned for as were seen.
func (o *outlook) grown(cfg PlanConfig) float64 { return float64(cfg.Rows) / float64(o.rows) }

// oneShot is the one-shot solution by a sketch of m rows, which costs so much a row.
func (o *outlook) oneShot(cfg PlanConfig, m int, sketch cost) PlanOption {
	p := o.sketched(cfg, m, oneShotName)
	for _, q := range p.Contraction {
		p.Passes = append(p.Passes, 1)
		p.Reaches = p.Reaches && q <= cfg.Tol
	}
	p.take(cfg, o.summaryCost(cfg, m, sketch))
	return p
}

// refined is an iteration that begins with such a sketch.
func (o *outlook) refined(cfg PlanConfig, m int, sketch cost, it *iteration) PlanOption {
	p := o.sketched(cfg, m, it.name)
	p.ByName = it.byName
	rho, round := p.Shrinkage/2, o.roundOff*o.grown(cfg)
	most := 0
	for i, gamma := range cfg.Gammas {
		least := gamma // the least eigenvalue of H
		if !it.fixed {
			least += o.floorOf(cfg.Rows)
		}
		passes := passesWithin((least-round)/(gamma+rho), 1+p.Contraction[i], cfg.Tol, it.rate)
		if it.ends {
			passes = min(passes, o.d+1)
		}
		passes = int(math.Ceil(it.share * float64(passes)))
		most = max(most, passes)
		if passes > 0 {
			passes++ // the sketch's own
		} else {
			p.Reaches = false
		}
		p.Passes = append(p.Passes, passes)
	}
	p.take(cfg, o.summaryCost(cfg, m, sketch).plus(it.cost(o, cfg.Rows, m, len(cfg.Gammas)*o.t, most)))
	return p
}

// summaryCost is that of the sketch of all rows, and of what is fitted to it.
func (o *outlook) summaryCost(cfg PlanConfig, m int, sketch cost) cost {
	return sketch.times(float64(cfg.Rows)).plus(o.fitCost(m, len(cfg.Gammas)*o.t))
}

// A rate says that k steps shrink the error in the norm of H to at most factor·eachᵏ of itself.
type rate struct{ each, factor float64 }

// chebyshevRate is that of CG, of Chebyshev and of Galerkin while it has room.
func chebyshevRate(lo, hi float64) rate {
	kappa := math.Sqrt(hi / lo)
	return rate{(kappa - 1) / (kappa + 1), 2}
}

// newtonRate is that of Newton, which diverges where it is not below 1.
func newtonRate(lo, hi float64) rate { return rate{math.Max(1-lo, hi-1), 1} }

// passesWithin is how many gradients shrink the error in the norm of H by tol where the
// spectrum of Ĥ⁻¹H is in [lo, hi]. 0 says that they may never.
func passesWithin(lo, hi, tol float64, of func(lo, hi float64) rate) int {
	if !(lo > 0) {
		return 0
	}
	switch r := of(lo, hi); {
	case r.each >= 1:
		return 0
	case r.each <= 0:
		return 1
	default:
		return 1 + max(0, int(math.Ceil(math.Log(tol/r.factor)/math.Log(r.each))))
	}
}
