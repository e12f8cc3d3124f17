package window

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// FadingConfig says how a [Fading] forgets. Summary and one of HalfLife and HalfLifeRows are required.
type FadingConfig struct {
	Summary      ridge.SummaryConfig
	HalfLife     time.Duration // h: a row of weight w counts w·2^(−age/h)
	HalfLifeRows int64         // or h in rows: its age is how many rows came after it
}

// halfLife is h, in nanoseconds or in rows.
func (c FadingConfig) halfLife() int64 { return max(int64(c.HalfLife), c.HalfLifeRows) }

// byRows says that rows are counted in place of time.
func (c FadingConfig) byRows() bool { return c.HalfLifeRows > 0 }

// A Fading is a summary of all rows of a stream, in which a row counts half as much after each half-life:
// as of time t, one of weight w that came at t₀ has the weight w·2^(−(t−t₀)/h). It takes the memory of one
// [ridge.Summary]. Time is the caller's, as in a [Window]; with [FadingConfig.HalfLifeRows] rows are counted in its place,
// and no notice is taken of times.
//
// Within a half-life new rows are given more weight instead of the old ones less, and then all are halved by
// [ridge.Summary.Decay]. So a stream is forgotten at next to no cost, however often its time moves, and each weight is off by
// a relative 2⁻⁴⁹ at most, however old it is. Certificates are about the weights so rounded, and are otherwise
// those of Decay. Rows whose weights would come to less than 2⁻⁹⁰⁰ together are dropped for good when the next
// rows come; [Span] says so.
//
// One goroutine may write at a time; any number may read while none writes.
type Fading struct {
	cfg      FadingConfig
	clock    // of the number of the last row, where rows are counted
	sum      *accum.Accumulator
	unit     int64 // when a row of weight 1 has weight 1 in sum, at most a half-life before the last row; noTime where there are none
	appended int64 // rows, ever
	from, to int64 // when the first and the last row of sum came

	notes

	weights []float64  // of the rows of a block
	view    engine.CSR // of some of them
}

// NewFading makes an empty one. The errors are those of [ridge.NewSummary], and of half-lives of which not one is positive and the other 0.
func NewFading(cfg FadingConfig) (*Fading, error) {
	if cfg.HalfLife < 0 || cfg.HalfLifeRows < 0 || (cfg.HalfLife > 0) == (cfg.HalfLifeRows > 0) {
		return nil, badinput.Errorf("ridge: of HalfLife and HalfLifeRows, %v and %d, one must be positive and the other 0", cfg.HalfLife, cfg.HalfLifeRows)
	}
	sum, err := accum.New(accum.Config(cfg.Summary))
	if err != nil {
		return nil, err
	}
	cfg.Summary = ridge.SummaryConfig(sum.Config())
	return &Fading{cfg: cfg, sum: sum, clock: clock{noTime}, unit: noTime, from: noTime, to: noTime}, nil
}

// errUnmadeFading reports the zero value, or nil.
var errUnmadeFading = badinput.Errorf("ridge: a fading summary that was made by neither NewFading nor Read")

// Config returns the configuration in force.
func (f *Fading) Config() FadingConfig { return f.cfg }

// Settings returns the part of the configuration that every [Stream] has.
func (f *Fading) Settings() Settings {
	return Settings{f.cfg.Summary, Policy{HalfLife: f.cfg.HalfLife, HalfLifeRows: f.cfg.HalfLifeRows}}
}

// Rows is how many rows were appended, those that were dropped included.
func (f *Fading) Rows() int64 { return f.appended }

// Now is the time that it is, the last that was told; zero where none was.
func (f *Fading) Now() time.Time { return f.shown(f.now) }

// shown is a time as it is told to others, to whom the number of a row is none.
func (f *Fading) shown(nanos int64) time.Time {
	if f.cfg.byRows() {
		return time.Time{}
	}
	return timeOf(nanos)
}

// Advance makes it time t. A time before one that was told is a *[TimeError]. If rows are counted, f takes no
// notice of times.
func (f *Fading) Advance(t time.Time) error {
	switch {
	case f.cfg.halfLife() == 0:
		return errUnmadeFading
	case f.cfg.byRows():
		return nil
	}
	now, err := f.next(t, -1)
	if err == nil {
		f.now = now
	}
	return err
}

// Append adds the rows of a block, at the time that it is. If the half-life is a time, one must have been told.
func (f *Fading) Append(b dataset.Block) error {
	if f.cfg.byRows() {
		return f.append(b, rowTimes{one: f.appended, step: 1})
	}
	return f.append(b, rowTimes{one: f.now})
}

// AppendAt is [Fading.AppendTimes] for rows that are all of time t.
func (f *Fading) AppendAt(t time.Time, b dataset.Block) error {
	if f.cfg.byRows() {
		return f.Append(b)
	}
	return appendAt(f, t, b)
}

// AppendTimes adds the rows of a block, row i being of times[i], and so makes it the time of the
// last. Errors are as of [Window.AppendTimes], and no weight may be above 2⁴⁹⁹.
func (f *Fading) AppendTimes(times []time.Time, b dataset.Block) error {
	if f.cfg.byRows() {
		return f.Append(b)
	}
	return appendTimes(f, times, b)
}

// append adds the rows of a block, of times that are known not to be before those of others.
func (f *Fading) append(b dataset.Block, times rowTimes) error {
	if err := f.check(b, times); err != nil {
		return err
	}
	d, t := f.cfg.Summary.Dim, f.cfg.Summary.Targets
	part := b
	f.weights = vec.Grow(f.weights, b.N)
	part.W = f.weights[:b.N]
	for lo, hi := 0, 0; lo < b.N; lo = hi {
		if err := f.settle(times.at(lo)); err != nil {
			return err
		}
		for hi < b.N {
			halvings, rest := f.ages(times.at(hi))
			if halvings > 0 {
				break
			}
			part.W[hi] = b.Weight(hi) * math.Exp2(rest)
			hi++
		}
		if err := f.sum.Append(0, part.Cut(lo, hi, d, t, &f.view)); err != nil {
			return err
		}
		f.now = times.at(hi - 1)
		f.to = f.now
		f.appended += int64(hi - lo)
	}
	return nil
}

// check refuses a block of which any row could not be added. Weights count twice, as they do at the end of
// a half-life.
func (f *Fading) check(b dataset.Block, times rowTimes) error {
	if f.cfg.halfLife() == 0 {
		return errUnmadeFading
	}
	d, t := f.cfg.Summary.Dim, f.cfg.Summary.Targets
	if _, err := rows.CheckBlock(b, d, t, 0, 0); err != nil {
		return err
	}
	if b.N > 0 && times.at(0) == noTime {
		return badinput.Errorf("ridge: rows of no time for a half-life of %v: tell the time by AppendAt or Advance", f.cfg.HalfLife)
	}
	var these accum.Extent
	all := f.sum.Extent()
	for i := range b.N {
		these.Add(b, i, d, t)
		with := all
		with.Merge(accum.Extent{Squares: 2 * these.Squares, Weight: 2 * these.Weight, Far: these.Far})
		if b.Weight(i) > rows.MaxWeight/2 || !with.InRange(f.cfg.Summary.Intercept) {
			return &fd.RangeError{Row: i}
		}
	}
	return nil
}

// ages says how many half-lives have passed since the unit's time, and what share of another.
func (f *Fading) ages(at int64) (halvings uint64, rest float64) {
	passed, h := uint64(at)-uint64(f.unit), uint64(f.cfg.halfLife())
	return passed / h, float64(passed%h) / float64(h)
}

// fades says what the weights of the sum are to be multiplied by for them to be as of a time, and that
// they would then come to next to nothing.
func (f *Fading) fades(at int64) (beta float64, nothing bool) {
	halvings, rest := f.ages(at)
	beta = math.Ldexp(math.Exp2(-rest), -int(min(halvings, 1<<12)))
	weight := f.sum.Weight()
	return beta, beta == 0 || weight > 0 && !(beta*weight >= accum.LeastWeight)
}

// settle makes the sum ready for rows of a time: it halves the weights for each half-life that has passed, or
// begins a new sum where they would come to next to nothing.
func (f *Fading) settle(at int64) error {
	if f.sum.Rows() > 0 {
		halvings, _ := f.ages(at)
		if halvings == 0 {
			return nil
		}
		unit := f.unit + int64(halvings)*f.cfg.halfLife()
		half := math.Ldexp(1, -int(min(halvings, 1<<12)))
		if w := f.sum.Weight(); half > 0 && (w == 0 || half*w >= accum.LeastWeight) {
			f.unit = unit
			return f.sum.Decay(half)
		}
		sum, err := accum.New(accum.Config(f.cfg.Summary))
		if err != nil {
			return err
		}
		f.sum = sum
	}
	f.unit, f.from = at, at
	return nil
}

// Span says which rows a summary would cover that were read now, all down to the smallest weights: of
// those that were appended all but the ones that were dropped.
func (f *Fading) Span() Span {
	s := Span{First: f.appended}
	if f.sum == nil || f.sum.Rows() == 0 {
		return s
	}
	if _, nothing := f.fades(f.now); nothing {
		return s
	}
	s.Rows = f.sum.Rows()
	s.First -= s.Rows
	s.From, s.To = f.shown(f.from), f.shown(f.to)
	return s
}

// Copies returns the number of lanes that are merged at a time, if there are several, and 1 for the summary
// that is read.
func (f *Fading) Copies() int {
	if f.cfg.Summary.Lanes <= 1 {
		return 1
	}
	return 1 + mergedLanes(f.cfg.Summary)
}

// Summary is a summary of its own of the rows as they count now, and says which these are. f isn't
// changed. It takes the time of copying a sketch. Where there are no rows, or they have come to weigh next to nothing,
// it is [ridge.ErrEmpty].
func (f *Fading) Summary() (*ridge.Summary, Span, error) {
	span := f.Span()
	switch {
	case f.cfg.halfLife() == 0:
		return nil, span, errUnmadeFading
	case span.Rows == 0:
		return nil, span, fmt.Errorf("%w that have not faded, after %d that were appended", ridge.ErrEmpty, f.appended)
	}
	cfg := f.cfg.Summary
	cfg.Lanes = 1
	s, err := accum.New(accum.Config(cfg))
	if err != nil {
		return nil, span, err
	}
	if err := merge(s, f.sum); err != nil {
		return nil, span, err
	}
	if beta, _ := f.fades(f.now); beta < 1 {
		if err := s.Decay(beta); err != nil {
			return nil, span, err
		}
	}
	return ridge.SummaryOf(s, slices.Clone(f.meta)), span, nil
}
