package plan

import (
	"math"

	"github.com/fdridge/fdridge/ridge"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Config says what to plan for; its zero value is the documented default.
type Config struct {
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

// An Option is one way to solve.
type Option struct {
	Method ridge.Method `json:"method"`
	Size   int          `json:"size"` // m; 0 for exact
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
	Rows     int64     `json:"n"`
	Gammas   []float64 `json:"gammas"`
	Options  []Option  `json:"options"`
	Best     int       `json:"best"` // index of the option that is to be run, see [New]; -1 where none reaches Tol
	Soonest  int       `json:"-"`    // index of the option that is predicted to reach Tol soonest; -1 if none does
	ByItself bool      `json:"-"`    // Best is what runs if no method is named; otherwise it is the soonest
	Exact    bool      `json:"-"`    // Exact is what runs in enough memory if no method is named
}

// New predicts, from a summary of all rows, or as a pilot of a sample of them, what it
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
// spectrum and its trace let it be expected, by a power law and by noise: of CG no more than d+2, of Galerkin two thirds of CG's. They
// are good to a factor of about two, up to three times too many where all eigenvalues are much the same and the sketch at hand is small. Times count matrix products, the bytes read and
// the memory that is taken, at FlopRate, ReadRate and FreshRate, after BaseSeconds; they are good to a factor of about two where these are
// those of the machine and of the reader.
//
// The best option is what fdridge.Fit runs by itself for these rows and γ where its own MaxBytes
// is what that here leaves beside BaseBytes, see [Choose]: exact where it chooses that,
// else, of the sizes considered, the soonest of the iterations that it chooses for a sketch
// of that size. Where none of these reaches Tol within MaxBytes it is the soonest of the
// others but those of ByName; it is to be asked for by its name. As Fit, before the first
// pass, has to guess spectrum and machine, another option may be sooner: Reason then names it. To run an option give Fit its Size and, where it is not the
// best, its Method.
//
// Errors: [ErrEmpty]; *[GammaError]; [ErrShape] for a size or a number of rows that
// is not positive.
func New(sum *ridge.Summary, cfg Config) (*Plan, error) {
	o, err := newOutlook(sum)
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
func (c *Config) complete(o *outlook) error {
	if c.Rows == 0 {
		c.Rows = o.rows
	}
	if c.Rows < 0 {
		return rows.Unfit("%d rows", c.Rows)
	}
	if c.Lanes < 0 || c.Lanes > ridge.MaxLanes {
		return badinput.Errorf("ridge: Lanes is %d, must be positive and at most %d", c.Lanes, ridge.MaxLanes)
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
		return badinput.Errorf("ridge: Entries is %v, must not be negative", c.Entries)
	}
	if !(c.Tol > 0) || !(c.BaseSeconds >= 0) || !(c.FlopRate > 0) || !(c.ReadRate > 0) || !(c.FreshRate > 0) {
		return badinput.Errorf("ridge: a plan with Tol = %v, %v flops, %v bytes read and %v of memory a second, and %v s before; they must be positive", c.Tol, c.FlopRate, c.ReadRate, c.FreshRate, c.BaseSeconds)
	}
	return nil
}

// choose marks the option that runs by itself, and the soonest.
func (p *Plan) choose(cfg Config, o *outlook) {
	p.Soonest = p.soonest(func(c Option) bool { return !c.ByName })
	if p.Soonest < 0 {
		return
	}
	p.Exact = Choose(Problem{Rows: p.Rows, Dim: o.d, Targets: o.t, Gammas: p.Gammas, Size: DefaultSize, MaxBytes: ridge.DefaultMaxBytes}).Method == ridge.Exact
	p.Best = p.byItself(cfg, o)
	if p.ByItself = p.Best >= 0; !p.ByItself {
		p.Best = p.Soonest
	}
}

// byItself returns the option that fdridge.Fit runs by itself, of those that reach the tolerance: -1 for
// none. Some option does, so that MaxBytes is more than BaseBytes.
func (p *Plan) byItself(cfg Config, o *outlook) int {
	run := func(size int) ridge.Method {
		return Choose(Problem{Rows: p.Rows, Dim: o.d, Targets: o.t, Gammas: p.Gammas, Size: size, MaxBytes: cfg.MaxBytes - cfg.BaseBytes}).Method
	}
	if run(DefaultSize) == ridge.Exact && p.Options[0].Reaches {
		return 0
	}
	return p.soonest(func(c Option) bool { return c.Method != ridge.Exact && c.Method == run(c.Size) })
}

// soonest is the option that reaches the tolerance in the least time of those that may
// be taken, -1 for none.
func (p *Plan) soonest(may func(Option) bool) int {
	best := -1
	for i, o := range p.Options {
		if o.Reaches && may(o) && (best < 0 || o.Seconds < p.Options[best].Seconds) {
			best = i
		}
	}
	return best
}

// exact is the direct solution.
func (o *outlook) exact(cfg Config) Option {
	k := len(cfg.Gammas)
	p := Option{Method: ridge.Exact, Contraction: make([]float64, k), Passes: make([]int, k), Reaches: true}
	for i := range p.Passes {
		p.Passes[i] = 1
	}
	p.take(cfg, o.exactCost(cfg.Rows, k, float64(cfg.MaxBytes)-float64(cfg.BaseBytes)))
	return p
}

// take sets what the option takes in all.
func (p *Option) take(cfg Config, total cost) {
	p.Bytes = cfg.BaseBytes + uint64(math.Min(total.memory, math.MaxInt64))
	p.Seconds = cfg.BaseSeconds + total.flops/cfg.FlopRate + total.read/cfg.ReadRate + total.memory/cfg.FreshRate
	p.Reaches = p.Reaches && p.Bytes <= cfg.MaxBytes && cfg.Tol >= ridge.LeastTol
}

// sketched is what all options with a sketch of m rows have in common.
func (o *outlook) sketched(cfg Config, m int, method ridge.Method) Option {
	p := Option{
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
func (o *outlook) grown(cfg Config) float64 { return float64(cfg.Rows) / float64(o.rows) }

// oneShot is the one-shot solution by a sketch of m rows, which costs so much a row.
func (o *outlook) oneShot(cfg Config, m int, sketch cost) Option {
	p := o.sketched(cfg, m, ridge.OneShot)
	for _, q := range p.Contraction {
		p.Passes = append(p.Passes, 1)
		p.Reaches = p.Reaches && q <= cfg.Tol
	}
	p.take(cfg, o.summaryCost(cfg, m, sketch))
	return p
}

// refined is an iteration that begins with such a sketch.
func (o *outlook) refined(cfg Config, m int, sketch cost, it *iteration) Option {
	p := o.sketched(cfg, m, it.method)
	p.ByName = it.byName
	rho, round := p.Shrinkage/2, o.roundOff*o.grown(cfg)
	most := 0
	for i, gamma := range cfg.Gammas {
		least := gamma + o.floorOf(cfg.Rows) // the least eigenvalue of H
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
func (o *outlook) summaryCost(cfg Config, m int, sketch cost) cost {
	return sketch.times(float64(cfg.Rows)).plus(o.fitCost(m, len(cfg.Gammas)*o.t))
}
