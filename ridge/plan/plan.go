package plan

import (
	"math"

	"github.com/fdridge/fdridge/ridge"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Config holds the options of [New]. If a field is zero, New uses the default that the comment on the field states.
type Config struct {
	Rows     int64     // n, the number of rows to plan for; default the number of rows of the summary
	Gammas   []float64 // γ to solve for together; default the mean eigenvalue of AᵀA, scaled to n rows
	Sizes    []int     // sketch sizes m to consider; default the powers of two from 16 below d
	Tol      float64   // relative error to reach; default 1e-8
	MaxBytes uint64    // available memory in bytes; default 8 GiB
	Lanes    int       // number of sketches that run in parallel; default the choice of [engine.Tuning.LanesFor]
	// Entries is the mean number of stored entries of a sparse row. The caller must give it, because the summary
	// does not contain it. 0 means dense rows.
	Entries float64

	// The following rates describe the machine. [engine.Measure] measures them.
	FlopRate float64 // floating-point operations per second in matrix products; default 5e10
	// ReadRate is the speed of reading rows, from the source or from memory, in bytes per second. Each number in a
	// dense row counts as 8 bytes. Each stored entry of a sparse row counts as 12 bytes. The default is 1e10.
	ReadRate  float64
	FreshRate float64 // bytes per second of memory that is written for the first time; default 2e9

	// BaseBytes and BaseSeconds are the memory and time of everything that New does not predict: the program, the
	// blocks of rows that are being read, and earlier steps. New adds them to the memory and time of every option.
	BaseBytes   uint64
	BaseSeconds float64
}

// An Option is one way to solve the problem.
type Option struct {
	Method ridge.Method `json:"method"`
	Size   int          `json:"size"` // m; 0 for a direct method
	// WorstShrinkage is the largest possible shrinkage η of a sketch of this size, in exact arithmetic. It bounds
	// ‖AᵀA − BᵀB‖₂ for the sketch B of all n planned rows A. It is 0 for a sketch that stores AᵀA itself.
	WorstShrinkage float64 `json:"worst_shrinkage"`
	// Shrinkage is the expected shrinkage of a sketch of this size, for all n planned rows. It is at most
	// WorstShrinkage.
	Shrinkage float64 `json:"shrinkage"`
	// Contraction is the expected relative error of the one-pass fit for each penalty γ. It is η/(2γ+η) plus
	// round-off, where η is the field Shrinkage.
	Contraction []float64 `json:"contraction"`
	Passes      []int     `json:"passes"`  // expected number of passes for each γ; 0: may not converge
	Bytes       uint64    `json:"bytes"`   // memory in bytes, including BaseBytes
	Seconds     float64   `json:"seconds"` // time in seconds, including BaseSeconds
	// Reaches is true if this option is expected to reach Config.Tol within Config.MaxBytes of memory. If
	// Config.Tol is below [ridge.LeastTol], Reaches is false.
	Reaches bool `json:"reaches"`
	ByName  bool `json:"-"` // the method runs only if the caller names it, so this option is never Best
}

// A Plan lists the ways to solve a problem.
type Plan struct {
	Rows      int64     `json:"n"`
	Gammas    []float64 `json:"gammas"`
	Options   []Option  `json:"options"`
	Best      int       `json:"best"` // index of the option to run, see [New]; -1 if none reaches Tol
	Soonest   int       `json:"-"`    // index of the fastest option that reaches Tol; -1 if none does
	IsDefault bool      `json:"-"`    // Best runs if the caller names no method; if false, Best is Soonest
	Exact     bool      `json:"-"`    // without a named method, Exact or DualCG runs if memory suffices
}

// New predicts the cost of solving for n rows by each method, with sketches of several sizes. sum is a summary of all
// rows or of a sample.
//
// All numbers are estimates. They follow from the singular values σᵢ of the sketch in sum. Let A_k be the best
// approximation of the summarized rows A of rank k. Then ‖A − A_k‖²_F ≤ ‖A‖²_F − Σ_{i≤k}σᵢ². In
// exact arithmetic, the shrinkage of a sketch of size m is
//
//	η ≤ min_{k≤m} (‖A‖²_F − Σ_{i≤k}σᵢ²)/(m+1−k).
//
// This bound is the largest possible η. A sketch that keeps AᵀA itself has η = 0. The expected values depend on
// these assumptions:
//
//   - The eigenvalues of AᵀA are σᵢ² + η with the η of the given sketch. The rest of the trace ‖A‖²_F is
//     spread evenly over the other directions.
//   - At every size, η is the same fraction of its bound for these eigenvalues.
//   - The eigenvalues are proportional to n. This is wrong if sum has only the first rows of a sorted file.
//
// The number of passes follows from η and from an estimate of the smallest nonzero eigenvalue of AᵀA, see
// [PredictedPasses]. It is at most d+2 for CG, and two thirds of this for Galerkin. The numbers of passes are accurate
// to a factor of about two. If all eigenvalues are similar and the sketch is small, they may be up to three times too
// large.
//
// The time is the sum of the times for matrix products at FlopRate, for reading at ReadRate and for writing new memory
// at FreshRate, plus BaseSeconds. It is accurate to a factor of about two if the rates are right.
//
// Plan.Best predicts the choice of fdridge.Fit for these rows and γ, with MaxBytes − BaseBytes of memory, see
// [Choose]:
//
//  1. Exact or DualCG, if Choose chooses it and it reaches Tol.
//  2. Otherwise the fastest sketch size with the iteration that Choose chooses for that size.
//  3. If none of these reaches Tol within MaxBytes, Best equals Soonest. fdridge.Fit runs this option only if the
//     caller names its method.
//
// Soonest may be faster than Best, because Fit must choose before its first pass. To run an option, set Size in the
// options of Fit and, unless it is Best, Method.
//
// Errors are [ridge.ErrEmpty], *[ridge.GammaError], and [ridge.ErrShape] for a size or a number of rows that is not
// positive.
func New(sum *ridge.Summary, cfg Config) (*Plan, error) {
	o, err := newForecast(sum)
	if err != nil {
		return nil, err
	}
	if err := cfg.complete(o); err != nil {
		return nil, err
	}
	if o.sparse && cfg.Entries > 0 {
		o.entries = math.Min(cfg.Entries, float64(o.d))
	}
	p := &Plan{Rows: cfg.Rows, Gammas: cfg.Gammas, Best: -1}
	p.Options = append(p.Options, o.exactOption(cfg))
	for _, m := range cfg.Sizes {
		perRow, err := o.sketchCost(cfg.Rows, min(m, o.d), cfg.Lanes)
		if err != nil {
			return nil, err
		}
		p.Options = append(p.Options, o.oneShotOption(cfg, min(m, o.d), perRow))
		for i := range iterations {
			option := o.iterationOption(cfg, min(m, o.d), perRow, &iterations[i])
			p.Options = append(p.Options, option)
		}
	}
	p.choose(cfg, o)
	return p, nil
}

// complete fills in the defaults and validates the fields.
func (c *Config) complete(o *forecast) error {
	if c.Rows == 0 {
		c.Rows = o.rows
	}
	if c.Rows < 0 {
		return rows.Unfit("%d rows", c.Rows)
	}
	if c.Lanes < 0 || c.Lanes > ridge.MaxLanes {
		return errtext.BadInput("ridge: Lanes is %d, must be positive and at most %d", c.Lanes, ridge.MaxLanes)
	}
	if c.Gammas == nil {
		c.Gammas = []float64{o.mean * float64(c.Rows) / float64(o.rows)}
	}
	for _, g := range c.Gammas {
		if err := ridge.OneShot.Takes(g); err != nil {
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
			return rows.Unfit("a sketch of %d rows", m)
		}
	}
	if c.Tol == 0 {
		c.Tol = ridge.DefaultTol
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = ridge.DefaultMaxBytes
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
		return errtext.BadInput("ridge: Entries is %v, must not be negative", c.Entries)
	}
	if !(c.Tol > 0) ||
		!(c.BaseSeconds >= 0) ||
		!(c.FlopRate > 0) ||
		!(c.ReadRate > 0) ||
		!(c.FreshRate > 0) {
		return errtext.BadInput(
			"ridge: a plan with Tol = %v, %v flops, %v bytes read and %v of memory a second, and %v s before; they "+
				"must be positive",
			c.Tol,
			c.FlopRate,
			c.ReadRate,
			c.FreshRate,
			c.BaseSeconds,
		)
	}
	return nil
}

// choose sets the fields Best, Soonest, IsDefault and Exact. If [Choose] returns DualCG, choose stores DualCG as
// the method of the direct option, Options[0].
func (p *Plan) choose(cfg Config, o *forecast) {
	sparse := o.countsEntries()
	room := cfg.MaxBytes - cfg.BaseBytes
	run := func(size int, maxBytes uint64) ridge.Method {
		return Choose(Problem{
			Rows:     p.Rows,
			Dim:      o.d,
			Targets:  o.t,
			Gammas:   p.Gammas,
			Size:     size,
			MaxBytes: maxBytes,
			Sparse:   sparse,
		}).Method
	}
	direct := run(DefaultSize, room)
	p.Exact = run(DefaultSize, ridge.DefaultMaxBytes).IsDirect()
	if direct == ridge.DualCG {
		p.Options[0].Method = direct
		sparse = p.Options[0].Reaches // otherwise Fit iterates
	}
	p.Soonest = p.soonest(func(c Option) bool { return !c.ByName })
	if p.Soonest < 0 {
		return
	}
	p.Best = 0
	if !direct.IsDirect() || !p.Options[0].Reaches {
		p.Best = p.soonest(func(c Option) bool {
			return !c.Method.IsDirect() &&
				c.Method == run(c.Size, room)
		})
	}
	p.IsDefault = p.Best >= 0
	if !p.IsDefault {
		p.Best = p.Soonest
	}
}

// soonest returns the index of the fastest option whose field Reaches is true and that accept accepts. If there is
// none, it returns −1.
func (p *Plan) soonest(accept func(Option) bool) int {
	best := -1
	for i, o := range p.Options {
		if o.Reaches &&
			accept(o) &&
			(best < 0 || o.Seconds < p.Options[best].Seconds) {
			best = i
		}
	}
	return best
}

func (o *forecast) exactOption(cfg Config) Option {
	k := len(cfg.Gammas)
	p := Option{
		Method:      ridge.Exact,
		Contraction: make([]float64, k),
		Passes:      make([]int, k),
		Reaches:     true,
	}
	for i := range p.Passes {
		p.Passes[i] = 1
	}
	p.setCost(cfg, o.exactCost(cfg.Rows, k, float64(cfg.MaxBytes)-float64(cfg.BaseBytes)))
	return p
}

func (p *Option) setCost(cfg Config, total cost) {
	p.Bytes = cfg.BaseBytes + uint64(math.Min(total.memory, math.MaxInt64))
	p.Seconds = cfg.BaseSeconds +
		total.flops/cfg.FlopRate +
		total.read/cfg.ReadRate +
		total.memory/cfg.FreshRate
	p.Reaches = p.Reaches && p.Bytes <= cfg.MaxBytes && cfg.Tol >= ridge.LeastTol
}

// newOption returns an option for a sketch of m rows. Passes, memory and time are not yet set.
func (o *forecast) newOption(cfg Config, m int, method ridge.Method) Option {
	p := Option{
		Method:         method,
		Size:           m,
		Reaches:        true,
		WorstShrinkage: o.eta.worst(m) * o.rowRatio(cfg),
		Shrinkage:      o.eta.estimate(m) * o.rowRatio(cfg),
	}
	rho := p.Shrinkage / 2
	round := o.roundOff * o.rowRatio(cfg)
	for _, gamma := range cfg.Gammas {
		p.Contraction = append(p.Contraction, (rho+round)/(gamma+rho))
	}
	return p
}

// rowRatio returns the planned number of rows divided by the number of rows in the summary.
func (o *forecast) rowRatio(cfg Config) float64 {
	return float64(cfg.Rows) / float64(o.rows)
}

// oneShotOption returns the option of a one-pass solution with a sketch of m rows.
func (o *forecast) oneShotOption(cfg Config, m int, perRow cost) Option {
	p := o.newOption(cfg, m, ridge.OneShot)
	for _, q := range p.Contraction {
		p.Passes = append(p.Passes, 1)
		p.Reaches = p.Reaches && q <= cfg.Tol
	}
	p.setCost(cfg, o.summaryCost(cfg, m, perRow))
	return p
}

// iterationOption returns the option of an iteration with a sketch of m rows.
func (o *forecast) iterationOption(cfg Config, m int, perRow cost, it *iteration) Option {
	p := o.newOption(cfg, m, it.method)
	p.ByName = it.byName
	rho := p.Shrinkage / 2
	round := o.roundOff * o.rowRatio(cfg)
	most := 0
	for i, gamma := range cfg.Gammas {
		least := gamma + o.floorOf(cfg.Rows) // estimate of the smallest eigenvalue of H
		passes := passesWithin(
			(least-round)/(gamma+rho),
			1+p.Contraction[i],
			cfg.Tol,
			it.rate,
		)
		if it.ends {
			passes = min(passes, o.d+1)
		}
		passes = int(math.Ceil(it.share * float64(passes)))
		most = max(most, passes)
		if passes > 0 {
			passes++ // the pass of the sketch
		} else {
			p.Reaches = false
		}
		p.Passes = append(p.Passes, passes)
	}
	iterations := it.cost(o, cfg.Rows, m, len(cfg.Gammas)*o.t, most)
	p.setCost(cfg, o.summaryCost(cfg, m, perRow).plus(iterations))
	return p
}

// summaryCost returns the cost of computing a sketch of m rows and the one-pass solution.
func (o *forecast) summaryCost(cfg Config, m int, perRow cost) cost {
	reading := perRow.times(float64(cfg.Rows))
	return reading.plus(o.fitCost(m, len(cfg.Gammas)*o.t))
}
