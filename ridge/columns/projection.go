package columns

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// MaxColumns is the largest number of columns without penalty.
const MaxColumns = 1000

// Options are the options of [NewProjection]. The zero value of a field means its default.
type Options struct {
	Intercept bool           // fit an intercept for each target, unpenalised
	Backend   engine.Backend // nil is engine.Default()
	MaxBytes  uint64         // memory limit in bytes; 0 means 8 GiB
	// bounds on the rounding errors of scaled features, as in [ridge.ExactOptions]; nil means exact features
	Rounding []float64
	Progress func(rows int64) // if not nil, called with the number of rows read so far
	// Gather is nil, unless several processes share the rows. It sends the message own of this process to all
	// processes. It returns the messages of all processes, in the same order on every process. All processes then
	// get the same Projection, for all rows.
	Gather func(ctx context.Context, own []byte) ([][]byte, error)
}

// A Projection removes the columns Z without penalty from rows [A Z Y], where A holds the other features and Y the
// targets. For a target b, let M = (ZᵀZ)⁻¹ZᵀA and N = (ZᵀZ)⁻¹Zᵀb. The ridge problem for the coefficients
// x of A and u of Z,
//
//	min ½‖Ax + Zu − b‖² + γ/2·‖x‖²
//
// has the same solution x* as the problem without Zu and with A − ZM and b − ZN instead of A and b. Then
// u* = N − Mx*. Features and targets are multiplied by the roots of the sample weights, and centred if there is an
// intercept.
//
// The computed M, N and A − ZM have rounding errors. [Projection.Restore] widens all bounds by their effect. The
// option Unpenalized of fdridge.Fit does all of this.
type Projection struct {
	columns []int // the columns of Z, ascending
	others  []int // the columns of A
	d, t    int   // numbers of features and targets of the source, with the columns of Z among the features
	opts    Options
	found   *certify.Projection
	shift   []float64 // means of the columns of [Z A Y]; zeros without an intercept
	coefs   []float64 // (ZᵀZ)⁻¹Zᵀ[A Y] as computed, q×(p+t), for q columns in Z and p in A
	r       []float64 // triangular factor of Z, q×q

	tss      []interval.Interval // ‖b‖² of each target before the projection, centred if there is an intercept
	computed []float64
}

// A DependentError reports a column without penalty that is a linear combination of other columns without penalty.
// The coefficient of such a column is not unique.
type DependentError struct {
	Column int // the column, counted from 0
	// On lists the columns of the linear combination. It is nil if they are unknown. It is also nil if there is an
	// intercept and a column is constant.
	On []int
}

func (e *DependentError) Error() string {
	return fmt.Sprintf(
		"columns: column %d without penalty is %s",
		e.Column+1,
		e.Reason(func(j int) string { return fmt.Sprint("column ", j+1) }),
	)
}

// Reason describes in words on what the column depends. The function name returns the name of a column for this
// text.
func (e *DependentError) Reason(name func(column int) string) string {
	if len(e.On) == 0 {
		return "constant, or too close to the other columns without penalty to prove anything: leave it out"
	}
	text := "a linear combination of "
	for i, j := range e.On {
		if i > 0 {
			text += ", "
		}
		if i == 8 {
			return text + fmt.Sprintf("and %d more: leave one of them out", len(e.On)-i)
		}
		text += name(j)
	}
	return text + ": leave one of them out"
}

// Is reports whether target is [ridge.ErrInput].
func (e *DependentError) Is(target error) bool {
	return target == ridge.ErrInput
}

// NewProjection makes a pass over src and returns the Projection that removes the given columns, counted from 0. It
// computes a QR factorization of these columns. With n rows, d features, t targets and q given columns, this takes
// O(q(d+t)) memory and O(nq(d+t)) time.
//
// Errors:
//
//   - [ridge.ErrInput], if a column is given twice or does not exist
//   - [ridge.ErrInput], if all columns or more than [MaxColumns] are given
//   - *[DependentError], *[ridge.SizeError] and the errors of [ridge.SolveExact]
func NewProjection(
	ctx context.Context,
	src dataset.Source,
	columns []int,
	opts Options,
) (*Projection, error) {
	if src == nil {
		return nil, rows.ErrNoSource
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = ridge.DefaultMaxBytes
	}
	var err error
	opts.Backend, err = engine.OrDefault(opts.Backend)
	if err != nil {
		return nil, err
	}
	_, d, t := src.Dims()
	p := &Projection{
		columns: slices.Sorted(slices.Values(columns)),
		d:       d,
		t:       t,
		opts:    opts,
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	for j := range d {
		if _, found := slices.BinarySearch(p.columns, j); !found {
			p.others = append(p.others, j)
		}
	}
	q := len(columns)
	w := d - len(columns) + t
	stage := rows.NewStage(q, w, opts.Intercept)
	stream := direct.NewStream(q, w, direct.NewTall(opts.Backend, q, w))
	if _, err := stream.Read(ctx, &projected{src: src, p: p}, stage, opts.Progress); err != nil {
		return nil, err
	}
	if opts.Gather != nil {
		var err error
		stream, stage, err = direct.JoinTall(
			ctx,
			opts.Backend,
			stream,
			stage,
			opts.Intercept,
			opts.Gather,
		)
		if err != nil {
			return nil, err
		}
	}
	weight := stage.Weight.Value()
	rank := stage.Rows
	if opts.Intercept {
		rank--
	}
	switch {
	case !(weight > 0):
		return nil, fmt.Errorf("%w with positive weight", ridge.ErrEmpty)
	case rank < int64(q):
		return nil, rows.Unfit("%d rows cannot determine the coefficients of %d columns without penalty", stage.Rows, q)
	}
	if opts.Rounding != nil && len(opts.Rounding) != d {
		return nil, rows.Unfit("the rounding of %d features, the rows have %d", len(opts.Rounding), d)
	}
	system := stream.Close(stage, opts.Intercept, nil, p.units(p.columns), opts.Backend)
	found, column := system.Solve(0)
	if found == nil {
		return nil, p.dependent(system, column)
	}
	var tss []interval.Interval
	var ok bool
	p.found, tss, ok = certify.NewProjection(
		system.Evidence(),
		found,
		system.Columns(),
		weight,
		p.precise(),
		p.units(p.others),
	)
	if !ok {
		return nil, p.dependent(system, -1)
	}
	for j, v := range tss[len(p.others):] {
		p.tss = append(p.tss, v)
		p.computed = append(p.computed, system.Evidence().TSS[len(p.others)+j])
	}
	p.r = make([]float64, q*q)
	for k := range q {
		row := found.R[k*found.Ld : k*found.Ld+q]
		copy(p.r[k*q:(k+1)*q], row)
	}
	p.coefs = make([]float64, q*w)
	p.shift = make([]float64, q+w)
	for j := range w {
		for k := range q {
			p.coefs[k*w+j] = found.X[j*q+k]
		}
	}
	if opts.Intercept {
		copy(p.shift, p.found.Mean)
	}
	return p, nil
}

// check returns an error if the list of columns is invalid, or if the memory limit is too low.
func (p *Projection) check() error {
	q := len(p.columns)
	switch {
	case q == 0:
		return errtext.BadInput("columns: no column without penalty")
	case q > MaxColumns:
		return errtext.BadInput("columns: %d columns without penalty, at most %d are possible", q, MaxColumns)
	case p.columns[0] < 0 || p.columns[q-1] >= p.d:
		return errtext.BadInput("columns: columns without penalty must be from 0 to %d", p.d-1)
	case len(slices.Compact(slices.Clone(p.columns))) < q:
		return errtext.BadInput("columns: a column without penalty is given twice")
	case q == p.d:
		return errtext.BadInput("columns: every column is without penalty: use gamma = 0 for least squares")
	}
	w := uint64(p.d - q + p.t)
	need := 8 * (3*uint64(q) + 2*roundoff.StageRows) * (uint64(q) + w)
	if need > p.opts.MaxBytes {
		return &ridge.SizeError{
			Dim:   p.d,
			Bytes: need,
			Limit: p.opts.MaxBytes,
		}
	}
	return nil
}

// units returns the bounds in Options.Rounding for the given columns, or nil if Rounding is nil.
func (p *Projection) units(columns []int) []float64 {
	if p.opts.Rounding == nil {
		return nil
	}
	out := make([]float64, len(columns))
	for k, j := range columns {
		out[k] = p.opts.Rounding[j]
	}
	return out
}

// dependent returns the error that column k of system is a linear combination of other columns. All columns of
// system are columns without penalty. If k is −1, the error names the column that is closest to linear dependence.
func (p *Projection) dependent(system *direct.System, k int) error {
	column, on := system.Dependent(k)
	e := &DependentError{Column: p.columns[column]}
	for _, i := range on {
		e.On = append(e.On, p.columns[i])
	}
	return e
}

// Apply returns the rows of src without the columns that have no penalty. From each other feature, and from each
// target, it subtracts the projection onto the span of the removed columns. The returned rows are dense. src must
// have the same rows that NewProjection has read.
func (p *Projection) Apply(src dataset.Source) dataset.Source {
	return &projected{src: src, p: p, subtract: true}
}

// ApplyWithLeverages returns the rows of [Projection.Apply] with more targets, which ridge.LeaveOneOut needs. The
// projected targets come first. Let Z be the removed columns, centred if there is an intercept, and let z be the
// part of Z in a row of weight w. Three kinds of targets follow:
//
//   - the leverage w·zᵀ(ZᵀZ)⁻¹z of the row
//   - the share of the row in the rounding errors of the projection, see certify.Projection.Share
//   - the targets of src
func (p *Projection) ApplyWithLeverages(src dataset.Source) dataset.Source {
	return &projected{
		src:       src,
		p:         p,
		subtract:  true,
		leverages: true,
	}
}

// Rounding returns bounds on the errors of the rows that [Projection.Apply] returns. They are meant for
// ridge.ExactOptions.Projected and ridge.Summary.Projected. If the columns are divided by the square roots of
// penalties after Apply, penalty holds these penalties; otherwise it is nil.
func (p *Projection) Rounding(penalty []float64) *ridge.ProjectionBounds {
	return (*ridge.ProjectionBounds)(p.found.Penalized(roots(penalty)))
}

// roots returns the square roots of the elements of penalty, or nil if penalty is nil.
func roots(penalty []float64) []float64 {
	if penalty == nil {
		return nil
	}
	out := make([]float64, len(penalty))
	for j, v := range penalty {
		out[j] = math.Sqrt(v)
	}
	return out
}

// projected is the source of the rows with the columns rearranged. If subtract is true, it is the result of Apply.
// Otherwise, the projection is learned from it: the features are the columns without penalty. The targets are then
// all other columns and the targets of src.
type projected struct {
	src                 dataset.Source
	p                   *Projection
	subtract, leverages bool
}

func (s *projected) Dims() (n int64, d, t int) {
	n, _, _ = s.src.Dims()
	q := len(s.p.columns)
	others := len(s.p.others)
	if !s.subtract {
		return n, q, others + s.p.t
	}
	if s.leverages {
		return n, len(s.p.others), 2*s.p.t + 2
	}
	return n, len(s.p.others), s.p.t
}

// Once reports whether the rows can be read only once.
func (s *projected) Once() bool { return dataset.Once(s.src) }

func (s *projected) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return s.BlocksFrom(ctx, 0)
}

// BlocksFrom implements [dataset.Seeker].
func (s *projected) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		q := len(s.p.columns)
		w := len(s.p.others) + s.p.t
		_, d, _ := s.Dims()
		row := make([]float64, q+w)
		rest := rows.RowsPerStage(q+w, false)
		before := make([]float64, q+w) // the row before the projection, minus the means
		var low []float64
		if s.p.precise() {
			low = make([]float64, q+w)
		}
		var x, y []float64
		for b, err := range dataset.From(ctx, s.src, firstRow) {
			if err != nil {
				yield(dataset.Block{}, err)
				return
			}
			for lo := 0; lo < b.N; lo += rest {
				hi := min(lo+rest, b.N)
				if b.First+int64(hi) <= firstRow {
					continue
				}
				x, y = x[:0], y[:0]
				for i := lo; i < hi; i++ {
					s.p.arrange(b, i, row)
					out := row
					if s.leverages {
						for j, v := range row {
							before[j] = v - s.p.shift[j]
						}
					}
					if s.subtract {
						s.p.subtract(row, low)
						out = row[q:]
					}
					x = append(x, out[:d]...)
					y = append(y, out[d:]...)
					if s.leverages {
						share := s.p.found.Share(before, out)
						y = append(y, s.p.leverage(row[:q])*b.Weight(i), share)
						y = append(y, b.Y[i*s.p.t:(i+1)*s.p.t]...)
					}
				}
				out := dataset.Block{
					First: b.First + int64(lo),
					N:     hi - lo,
					X:     x,
					Y:     y,
				}
				if b.W != nil {
					out.W = b.W[lo:hi]
				}
				if !yield(out, nil) {
					return
				}
			}
		}
	}
}

// arrange writes row i of b to row: first the columns without penalty, then the other columns, then the targets.
func (p *Projection) arrange(b dataset.Block, i int, row []float64) {
	q := len(p.columns)
	copy(row[p.d:], b.Y[i*p.t:(i+1)*p.t])
	if b.Sparse == nil {
		x := b.X[i*p.d : (i+1)*p.d]
		for k, j := range p.columns {
			row[k] = x[j]
		}
		for k, j := range p.others {
			row[q+k] = x[j]
		}
		return
	}
	clear(row[:p.d])
	idx, val := b.Sparse.Row(i)
	for k, j := range idx {
		at, found := slices.BinarySearch(p.columns, int(j))
		if !found {
			at += q + (int(j) - 2*at)
		}
		row[at] = val[k]
	}
}

// leverage returns zᵀ(ZᵀZ)⁻¹z, the leverage of a row z of the removed columns Z. It overwrites z with
// R⁻ᵀz, where R is the triangular factor of ZᵀZ = RᵀR.
func (p *Projection) leverage(z []float64) float64 {
	q := len(z)
	for k := range z {
		z[k] /= p.r[k*q+k]
		beyond := p.r[k*q+k+1 : (k+1)*q]
		vec.Axpy(-z[k], beyond, z[k+1:])
	}
	return vec.Dot(z, z)
}

// precise reports whether subtract adds with twice the digits. This is slower, so it is done only for small
// projections.
func (p *Projection) precise() bool {
	return len(p.columns)*(len(p.others)+p.t) <= 1<<10
}

// subtract subtracts the projection from a row. The row begins with the q entries z of the removed columns Z. Let v
// be the rest, with the other features and the targets, and V the matrix of all these rests. subtract replaces
// this row by
//
//	[z − ν, (v − μ) − (z − ν)B],   B = (ZᵀZ)⁻¹ZᵀV,
//
// where p.shift holds the means ν of Z and μ of V, and p.coefs holds B.
//
// Let s be the sum of the magnitudes of the terms of an element. If low is nil, the error of the element is at most
// (q + 4)u·s, with the unit round-off u = 2⁻⁵³. If low is not nil, it is workspace as long as row, and subtract
// adds with twice the digits. Then the element is rounded once, and its other errors are at most (4q + 16)u²·s.
func (p *Projection) subtract(row, low []float64) {
	q := len(p.columns)
	rest := row[q:]
	if low == nil {
		vec.Axpy(-1, p.shift, row)
		for k, z := range row[:q] {
			if z != 0 {
				vec.Axpy(-z, p.coefs[k*len(rest):(k+1)*len(rest)], rest)
			}
		}
		return
	}
	for j, v := range p.shift {
		row[j], low[j] = twofold.Sum(row[j], -v)
	}
	after := low[q:]
	for k, z := range row[:q] {
		for j, v := range p.coefs[k*len(rest) : (k+1)*len(rest)] {
			product, lost := twofold.Product(z, v)
			sum, rounded := twofold.Sum(rest[j], -product)
			rest[j] = sum
			after[j] += (rounded - lost - low[k]*v)
		}
	}
	for j, v := range after {
		rest[j] += v
	}
}

// Restore converts solutions for the rows of [Projection.Apply] to solutions for all columns, in place. It does not
// change a solution that already has a Penalty. If the columns were divided by the square roots of penalties after
// Apply, penalty holds these penalties; otherwise it is nil.
//
// Afterwards, Coef and Scaled have the coefficients of all columns. Penalty is 0 at the columns without penalty,
// and UnpenalizedBounds bounds the error of each of their coefficients. The errors of the projection may raise the
// relative error bound of a target from at most tol to above tol. The status then becomes [ridge.RoundOff]. A tol
// of 0 means no tolerance.
func (p *Projection) Restore(fits []*ridge.Solution, penalty []float64, tol float64) error {
	if p.found == nil {
		return rows.Unfit("a zero Projection; use NewProjection")
	}
	scale := roots(penalty)
	found := p.Rounding(penalty)
	for _, f := range fits {
		if f.Penalty != nil {
			continue
		}
		t, d := f.Dims()
		if t != p.t || d != len(p.others) {
			return rows.Unfit("a solution of another shape than the projected rows")
		}
		before := f.Outcome
		f.EffectiveDimensions = slices.Clone(before.EffectiveDimensions)
		for j := range f.Targets {
			o := &f.Targets[j]
			reached := o.RelativeErrorBound <= tol && f.Status != ridge.OnePass
			df, err := p.restore(
				o,
				found,
				f.GammaOf(j),
				j,
				before.DimensionOf(j),
				scale,
			)
			if err != nil {
				return err
			}
			if j < len(f.EffectiveDimensions) {
				f.EffectiveDimensions[j] = df
			}
			if j == 0 {
				f.EffectiveDimension = df
			}
			f.EffectiveDimension.Lo = math.Min(f.EffectiveDimension.Lo, df.Lo)
			f.EffectiveDimension.Hi = math.Max(f.EffectiveDimension.Hi, df.Hi)
			if reached && !(o.RelativeErrorBound <= tol) {
				f.Status = f.Status.Worse(ridge.RoundOff)
			}
		}
		if f.Status == ridge.OnePass && !f.Proves() {
			f.Status = ridge.Unproved
		}
		f.Passes++
		f.Penalty = make([]float64, p.d)
		for i, j := range p.others {
			f.Penalty[j] = 1
			if penalty != nil {
				f.Penalty[j] = penalty[i]
			}
		}
	}
	return nil
}

// restore converts the solution o of target j at the penalty gamma to a solution for all columns. df brackets the
// effective dimension without the removed columns. restore returns a bracket of the effective dimension with all
// columns.
func (p *Projection) restore(
	o *ridge.Target,
	found *ridge.ProjectionBounds,
	gamma float64,
	j int,
	df ridge.Interval,
	scale []float64,
) (ridge.Interval, error) {
	z := o.Coef
	unpenalized, dimension, err := o.Unproject(found, gamma, j, df)
	if err != nil {
		return df, err
	}
	o.TSS = ridge.Interval(p.tss[j])
	o.ComputedTSS = p.computed[j]
	o.Coef = make([]float64, p.d)
	o.Scaled = make([]float64, p.d)
	for i, column := range p.others {
		o.Scaled[column], o.Coef[column] = z[i], z[i]
		if scale != nil {
			o.Coef[column] = z[i] / scale[i]
		}
	}
	for k, column := range p.columns {
		o.Scaled[column], o.Coef[column] = unpenalized[k], unpenalized[k]
	}
	return dimension, nil
}
