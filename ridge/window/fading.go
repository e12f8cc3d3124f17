package window

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// FadingConfig holds the options of [NewFading]. Summary is required, and either HalfLife or HalfLifeRows.
type FadingConfig struct {
	Summary      ridge.SummaryConfig
	HalfLife     time.Duration // h: after a time t, a row of weight w has weight w·2^(−t/h)
	HalfLifeRows int64         // h as a number of rows; t is then the number of rows appended after a row
}

// halfLife returns h, in nanoseconds or in rows.
func (c FadingConfig) halfLife() int64 {
	return max(int64(c.HalfLife), c.HalfLifeRows)
}

// countsRows reports whether the half-life is a number of rows.
func (c FadingConfig) countsRows() bool { return c.HalfLifeRows > 0 }

// A Fading is a summary of all rows of a stream in which the weight of each row halves after each half-life h. At
// time t, a row of weight w that arrived at time t₀ has the weight
//
//	w·2^(−(t−t₀)/h).
//
// A Fading takes the memory of one [ridge.Summary]. The caller sets the time, as in a [Window]. With
// [FadingConfig.HalfLifeRows], rows are counted instead, and times are ignored.
//
// Within a half-life, old rows are not touched. New rows get larger weights instead, so that the ratios are right.
// After a half-life, [ridge.Summary.Decay] halves all weights. Fading therefore costs almost nothing. The weights are
// rounded: their relative error is at most 2⁻⁴⁹ at any age. Certificates are for the rounded weights; see
// [ridge.Summary.Decay].
//
// If the total weight falls below 2⁻⁹⁰⁰, all rows are dropped when the next rows arrive. [Fading.Span]
// returns the rows that remain.
//
// One goroutine may write at a time; any number may read while none writes.
type Fading struct {
	cfg   FadingConfig
	clock // the current time; if rows are counted, the number of the last row
	sum   *accum.Accumulator
	// unit is the time at which the rows have the weights that they have in sum. It is less than a half-life before
	// the last row. If there are no rows, it is noTime.
	unit     int64
	appended int64 // number of rows appended
	from, to int64 // times of the first and the last row in sum

	notes

	weights []float64  // weights of the rows of a block
	view    engine.CSR // sparse rows of a part of a block
}

// NewFading returns an empty Fading. Either cfg.HalfLife or cfg.HalfLifeRows must be positive, and the other must
// be 0. Otherwise the error is [ridge.ErrInput]. Other errors are the errors of [ridge.NewSummary].
func NewFading(cfg FadingConfig) (*Fading, error) {
	if cfg.HalfLife < 0 ||
		cfg.HalfLifeRows < 0 ||
		(cfg.HalfLife > 0) == (cfg.HalfLifeRows > 0) {
		return nil, errtext.BadInput(
			"ridge: of HalfLife and HalfLifeRows, %v and %d, one must be positive and the other 0",
			cfg.HalfLife,
			cfg.HalfLifeRows,
		)
	}
	sum, err := accum.New(accum.Config(cfg.Summary))
	if err != nil {
		return nil, err
	}
	cfg.Summary = ridge.SummaryConfig(sum.Config())
	return &Fading{
		cfg:   cfg,
		sum:   sum,
		clock: clock{noTime},
		unit:  noTime,
		from:  noTime,
		to:    noTime,
	}, nil
}

// errUnmadeFading is the error of methods that are called on the zero value of Fading.
var errUnmadeFading = errtext.BadInput("ridge: the fading summary was not made by NewFading or Read")

// Config returns the configuration with all defaults filled in.
func (f *Fading) Config() FadingConfig { return f.cfg }

// Settings returns the part of the configuration that every [Stream] has.
func (f *Fading) Settings() Settings {
	return Settings{f.cfg.Summary, Policy{HalfLife: f.cfg.HalfLife, HalfLifeRows: f.cfg.HalfLifeRows}}
}

// Rows returns the number of rows appended. It includes rows that were dropped because their weight became
// negligible.
func (f *Fading) Rows() int64 { return f.appended }

// Now returns the time that was set last. If no time was set, or if the half-life is a number of rows, it returns
// the zero time.
func (f *Fading) Now() time.Time { return f.publicTime(f.now) }

// publicTime converts nanoseconds to a time. If the half-life is a number of rows, it returns the zero time.
func (f *Fading) publicTime(nanos int64) time.Time {
	if f.cfg.countsRows() {
		return time.Time{}
	}
	return timeOf(nanos)
}

// Advance sets the time to t. If the half-life is a number of rows, it does nothing. The error is a *[TimeError] if
// t is earlier than the current time.
func (f *Fading) Advance(t time.Time) error {
	switch {
	case f.cfg.halfLife() == 0:
		return errUnmadeFading
	case f.cfg.countsRows():
		return nil
	}
	now, err := f.next(t, -1)
	if err == nil {
		f.now = now
	}
	return err
}

// Append adds the rows of a block with the current time. The caller must have set a time before, unless the
// half-life is a number of rows.
func (f *Fading) Append(b dataset.Block) error {
	if f.cfg.countsRows() {
		return f.append(b, rowTimes{first: f.appended, step: 1})
	}
	return f.append(b, rowTimes{first: f.now})
}

// AppendAt adds the rows of a block, all with the time t. It is otherwise like [Fading.AppendTimes].
func (f *Fading) AppendAt(t time.Time, b dataset.Block) error {
	if f.cfg.countsRows() {
		return f.Append(b)
	}
	return appendAt(f, t, b)
}

// AppendTimes adds the rows of a block with the given times, one for each row. It sets the current time to the time
// of the last row. If the half-life is a number of rows, times is ignored. Errors are the errors of
// [Window.AppendTimes]. A weight above 2⁴⁹⁹ is also an error.
func (f *Fading) AppendTimes(times []time.Time, b dataset.Block) error {
	if f.cfg.countsRows() {
		return f.Append(b)
	}
	return appendTimes(f, times, b)
}

// append checks the rows of a block and adds them. It returns an error if the rows have no time. The caller has
// checked that the times do not decrease.
func (f *Fading) append(b dataset.Block, times rowTimes) error {
	if err := f.check(b, times); err != nil {
		return err
	}
	d, t := f.cfg.Summary.Dim, f.cfg.Summary.Targets
	part := b
	f.weights = vec.Grow(f.weights, b.N)
	part.W = f.weights[:b.N]
	for lo, hi := 0, 0; lo < b.N; lo = hi {
		if err := f.rebase(times.at(lo)); err != nil {
			return err
		}
		for hi < b.N {
			halvings, rest := f.elapsed(times.at(hi))
			if halvings > 0 {
				break
			}
			part.W[hi] = b.Weight(hi) * math.Exp2(rest)
			hi++
		}
		cut := part.Cut(lo, hi, d, t, &f.view)
		if err := f.sum.Append(0, cut); err != nil {
			return err
		}
		f.now = times.at(hi - 1)
		f.to = f.now
		f.appended += int64(hi - lo)
	}
	return nil
}

// check returns an error if a row of the block is invalid. Because append multiplies weights by less than 2, check
// requires that twice the weights are in range.
func (f *Fading) check(b dataset.Block, times rowTimes) error {
	if f.cfg.halfLife() == 0 {
		return errUnmadeFading
	}
	d, t := f.cfg.Summary.Dim, f.cfg.Summary.Targets
	if _, err := rows.CheckBlock(b, d, t, 0, 0); err != nil {
		return err
	}
	if b.N > 0 && times.at(0) == noTime {
		return errtext.BadInput(
			"ridge: rows without a time for a half-life of %v: set the time by AppendAt or Advance",
			f.cfg.HalfLife,
		)
	}
	var these accum.Extent
	all := f.sum.Extent()
	for i := range b.N {
		these.Add(b, i, d, t)
		with := all
		with.Merge(accum.Extent{
			Squares: 2 * these.Squares,
			Weight:  2 * these.Weight,
			Far:     these.Far,
		})
		if b.Weight(i) > rows.MaxWeight/2 || !with.InRange(f.cfg.Summary.Intercept) {
			return &fd.RangeError{Row: i}
		}
	}
	return nil
}

// elapsed returns the half-lives from f.unit to t.
func (f *Fading) elapsed(t int64) (halvings uint64, rest float64) {
	passed := uint64(t) - uint64(f.unit)
	h := uint64(f.cfg.halfLife())
	return passed / h, float64(passed%h) / float64(h)
}

// decayTo returns beta, the factor by which the weights in f.sum have to be multiplied to get the weights at time
// t. If the total weight is then too small to be kept, negligible is true.
func (f *Fading) decayTo(t int64) (beta float64, negligible bool) {
	halvings, rest := f.elapsed(t)
	beta = math.Ldexp(math.Exp2(-rest), -int(min(halvings, 1<<12)))
	weight := f.sum.Weight()
	return beta, beta == 0 || weight > 0 && !(beta*weight >= accum.LeastWeight)
}

// rebase moves f.unit, the time at which the weights in f.sum are right, forward by the number of whole half-lives
// until t. It halves the weights once for each of these half-lives. If the total weight becomes negligible, rebase
// drops all rows.
func (f *Fading) rebase(t int64) error {
	if f.sum.Rows() > 0 {
		halvings, _ := f.elapsed(t)
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
	f.unit, f.from = t, t
	return nil
}

// Span returns a description of the rows that a summary would contain now.
func (f *Fading) Span() Span {
	s := Span{First: f.appended}
	if f.sum == nil || f.sum.Rows() == 0 {
		return s
	}
	if _, negligible := f.decayTo(f.now); negligible {
		return s
	}
	s.Rows = f.sum.Rows()
	s.First -= s.Rows
	s.From = f.publicTime(f.from)
	s.To = f.publicTime(f.to)
	return s
}

// Copies returns the number of sketches that Summary allocates: the sketch of the result, and the sketches that are
// needed to merge parallel sketches.
func (f *Fading) Copies() int {
	if f.cfg.Summary.Lanes <= 1 {
		return 1
	}
	return 1 + mergedLanes(f.cfg.Summary)
}

// Summary returns a new summary of the rows with their current weights, and the [Span] of these rows. It works on a
// copy, so that f is unchanged. The error is [ridge.ErrEmpty] if there are no rows or if their total weight is
// negligible.
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
	if beta, _ := f.decayTo(f.now); beta < 1 {
		if err := s.Decay(beta); err != nil {
			return nil, span, err
		}
	}
	return summaryOf(s, slices.Clone(f.meta)), span, nil
}
