package ridge

import (
	"context"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// RowDiagnostics describes one row in the fit of all rows. Let a be the features of the row, y its target, and x*
// the exact solution. The leverage h of the row includes the part of the intercept. Then
//
//	residual r = y − aᵀx*,   leave-one-out residual = r/(1 − h).
//
// The leave-one-out residual is the residual of the row for a fit to all other rows ([LeaveOneOut]). A
// leverage near 1 means that the row alone determines its prediction.
type RowDiagnostics struct {
	Row int64 // number of the row in the source, from 0
	// Weight is the sample weight. A row of weight 0 has leverage 0, and its other numbers are unknown (NaN).
	Weight           float64
	Leverage         Interval
	LeverageEstimate float64 // estimate inside Leverage
	// Leverages and LeverageEstimates have an element for each target if the targets have different γ. Otherwise
	// they are nil. If they are not nil, Leverage and LeverageEstimate are for the smallest γ, where the leverage is
	// largest.
	Leverages         []Interval
	LeverageEstimates []float64

	Residual         []Interval // for each target, of the exact solution
	ResidualEstimate []float64  // the residual of the fit's own coefficients
	LeftOut          []Interval // for each target, of the exact solutions
	LeftOutEstimate  []float64  // estimate inside LeftOut
}

// LeverageOf returns the bracket and the estimate of the leverage for the γ of target j.
func (o *RowDiagnostics) LeverageOf(j int) (bracket Interval, estimate float64) {
	if j < 0 || j >= len(o.Leverages) || j >= len(o.LeverageEstimates) {
		return o.Leverage, o.LeverageEstimate
	}
	return o.Leverages[j], o.LeverageEstimates[j]
}

// DiagnoseOptions are the options of [Diagnose]. The zero value is the default.
type DiagnoseOptions struct {
	Progress func(rows int64) // if not nil, called with the number of rows read so far
}

// Diagnose makes a pass over src, which has the rows of sum, and calls use with the diagnostics of each row, in
// order. The argument fit is a solution for these rows by any method. All brackets hold for the exact solution x*
// at the γ of fit, which may be a γ for each target ([Outcome.Gammas]). With m rows in the sketch, d features, t
// targets and k different γ, a row takes O((m + t)d + km) time, and the pass O((m + t)d + km) memory. If sum holds
// AᵀA itself, or a sketch that has lost nothing, the brackets are as narrow as round-off allows.
//
// The argument of use is overwritten by the next call. If columns without penalty were projected out, src must be the
// result of columns.Map.ApplyWithLeverages. The diagnostics are then for the rows before the projection.
//
// Diagnose returns the scores of [LeaveOneOut]. An error of use ends the pass and is returned. The other errors are
// the errors of [LeaveOneOut].
func Diagnose(
	ctx context.Context,
	src dataset.Source,
	sum *Summary,
	fit *Solution,
	opts DiagnoseOptions,
	use func(*RowDiagnostics) error,
) (*LeftOutScores, error) {
	if use == nil {
		return nil, unfit("no function that uses the diagnostics of rows")
	}
	return LeaveOneOut(ctx, src, sum, []*Solution{fit}, LeaveOneOutOptions{Progress: opts.Progress, diagnosed: use})
}

// Diagnose calls use with the diagnostics of each row, like the function [Diagnose]. It computes the solution at
// gamma and the leverages from the factorisation, which must have been made with ExactOptions.LeaveOneOut. If the
// factorisation is by a dual method, which uses AAᵀ, the error is [ErrShape]. In this case, use the function
// Diagnose with a sketch of n rows, for n rows in src: such a sketch loses nothing.
func (f *Factorization) Diagnose(
	ctx context.Context,
	src dataset.Source,
	gamma float64,
	opts DiagnoseOptions,
	use func(*RowDiagnostics) error,
) (*Solution, *LeftOutScores, error) {
	if use == nil {
		return nil, nil, unfit("no function that uses the diagnostics of rows")
	}
	if f.dual != nil {
		return nil, nil, unfit("%v has no diagnostics of rows; use Diagnose with a summary of n rows", f.Method())
	}
	fits, scores, err := f.LeaveOneOut(
		ctx, src, []float64{gamma}, LeaveOneOutOptions{Progress: opts.Progress, diagnosed: use})
	if err != nil {
		return nil, nil, err
	}
	return fits[0], scores, nil
}

// diagnosis collects the diagnostics of the rows of a block. Parallel tasks fill in the diagnostics of different
// rows.
type diagnosis struct {
	use func(*RowDiagnostics) error
	t   int

	of       []int // for each target, the position of its γ among the different γ
	k        int   // number of different γ
	smallest int   // position of the smallest γ

	leverages []leverageOf   // for each row and γ
	residuals []certify.Left // for each row and target
}

// A leverageOf holds the leverage of a row.
type leverageOf struct {
	bracket  Interval
	estimate float64
}

// newDiagnosis returns a diagnosis of the first fit of groups, whose targets have the penalties gammas.
func newDiagnosis(use func(*RowDiagnostics) error, t int, gammas []float64, groups []leftGroup) *diagnosis {
	d := &diagnosis{use: use, t: t, of: make([]int, t)}
	for g, group := range groups {
		if group.fit > 0 {
			break
		}
		for _, j := range group.targets {
			d.of[j] = g
		}
		if gammas[g] < gammas[d.smallest] {
			d.smallest = g
		}
		d.k++
	}
	return d
}

// grow makes room for n rows.
func (d *diagnosis) grow(n int) {
	if cap(d.residuals) < n*d.t {
		d.leverages = make([]leverageOf, n*d.k)
		d.residuals = make([]certify.Left, n*d.t)
	}
	d.leverages = d.leverages[:n*d.k]
	d.residuals = d.residuals[:n*d.t]
}

// add stores the diagnostics of the rows of b for group g. The first row is row number first of the current block.
// product(j) returns the products of these rows with the fitted coefficients of target j.
func (d *diagnosis) add(
	l *leaveOneOut,
	s *leftTask,
	b dataset.Block,
	first, g int,
	product func(at int) []float64,
) {
	for i := range b.N {
		v := &s.levers[i]
		d.leverages[(first+i)*d.k+g] = leverageOf{
			Interval{
				Lo: math.Max(0, 1-v.Free.Hi),
				Hi: math.Min(1, 1-v.Free.Lo),
			}.rounded(),
			1 - v.Estimate,
		}
	}
	for _, j := range l.groups[g].targets {
		products := product(j)
		for i := range b.N {
			y := b.Y[i*l.width+j]
			d.residuals[(first+i)*d.t+j] = l.known.Left(
				&s.rows[i],
				&s.levers[i],
				&l.fits[j],
				y,
				products[i],
			)
		}
	}
}

// rounded returns v widened by the round-off of 1 − x for numbers x from 0 to 1, and cut off at 0 and 1.
func (v Interval) rounded() Interval {
	return Interval{Lo: math.Max(0, v.Lo-0x1p-53), Hi: math.Min(1, v.Hi+0x1p-53)}
}

// flush calls d.use for each row of the block b.
func (d *diagnosis) flush(b dataset.Block) error {
	o := RowDiagnostics{
		Residual:         make([]Interval, d.t),
		LeftOut:          make([]Interval, d.t),
		ResidualEstimate: make([]float64, d.t),
		LeftOutEstimate:  make([]float64, d.t),
	}
	if d.k > 1 {
		o.Leverages = make([]Interval, d.t)
		o.LeverageEstimates = make([]float64, d.t)
	}
	for i := range b.N {
		o.Row = b.First + int64(i)
		o.Weight = b.Weight(i)
		leverages := d.leverages[i*d.k : (i+1)*d.k]
		o.Leverage = leverages[d.smallest].bracket
		o.LeverageEstimate = leverages[d.smallest].estimate
		for j := range o.Leverages {
			of := leverages[d.of[j]]
			o.Leverages[j], o.LeverageEstimates[j] = of.bracket, of.estimate
		}
		for j := range d.t {
			v := &d.residuals[i*d.t+j]
			o.Residual[j] = Interval(v.Residual)
			o.ResidualEstimate[j] = v.ResidualEstimate
			o.LeftOut[j] = Interval(v.LeftOut)
			o.LeftOutEstimate[j] = v.LeftOutEstimate
		}
		if o.Weight == 0 {
			o.Leverage = Interval{}
			o.LeverageEstimate = 0
			clear(o.Leverages)
			clear(o.LeverageEstimates)
			for j := range d.t {
				unknown := Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
				o.Residual[j], o.LeftOut[j] = unknown, unknown
				o.ResidualEstimate[j] = math.NaN()
				o.LeftOutEstimate[j] = math.NaN()
			}
		}
		if err := d.use(&o); err != nil {
			return err
		}
	}
	return nil
}
