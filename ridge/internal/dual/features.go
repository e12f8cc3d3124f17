package dual

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Features reads transposed data: a row of the source holds the values of one feature for all n samples. Computing
// the matrix AAᵀ of the samples takes one pass over the source. Each measurement takes one more pass.
//
// A block F of features is stored like a block of rows. Therefore one call of GradientTwofold computes both Fv and
// Fᵀ(Fv) for a vector v of n numbers. Let v be the dual vector times the weights. Then Fv has the coefficients x of
// the features in F, and Fᵀ(Fv) is the part of the predictions Ax that comes from these features.
type Features struct {
	Samples
	source dataset.Source
	reach  []float64 // as Reach returns it
}

// Reach returns a bound on √Σwᵢxᵢ² for each feature, where x holds its values before centring and w the sample
// weights. The bounds are known after a call of Gram.
func (f *Features) Reach() []float64 { return f.reach }

// NewFeatures returns the Features of a source with one feature per row. y holds t targets for each of n samples
// (n×t), and w the sample weights. If w is nil, all weights are 1.
func NewFeatures(source dataset.Source, t int, y, w []float64, intercept bool) *Features {
	count, n, _ := source.Dims()
	f := &Features{
		Samples: Samples{
			n:         n,
			d:         int(count),
			t:         t,
			intercept: intercept,
			y:         y,
			w:         w,
		},
		source: source,
	}
	f.close()
	return f
}

// read makes one pass over the source and calls visit for each block of features. It returns an error unless the
// source has d features with n values each. raw bounds the sum of squares of all values.
func (f *Features) read(ctx context.Context, visit func(b dataset.Block) error) (raw float64, err error) {
	seen := 0
	for b, err := range f.source.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		raw, err = rows.CheckBlock(b, f.n, 0, seen, raw)
		if err != nil {
			return 0, f.transposeError(err)
		}
		seen += b.N
		if seen > f.d {
			break
		}
		if err := visit(b); err != nil {
			return 0, err
		}
	}
	if seen != f.d {
		return 0, rows.Unfit("the source has %d features, but %d were read", f.d, seen)
	}
	return raw, nil
}

// transposeError converts an error about an entry of the transposed data into an error about the original data. For
// an entry that is not finite, it exchanges the row and the column.
func (f *Features) transposeError(err error) error {
	if e, ok := errors.AsType[*fd.NonFiniteError](err); ok {
		return &fd.NonFiniteError{
			Row:   e.Col,
			Col:   e.Row,
			Value: e.Value,
		}
	}
	if _, ok := errors.AsType[*fd.RangeError](err); ok {
		return &fd.RangeError{Row: f.n - 1}
	}
	return err
}

// Gram computes AAᵀ in g in one pass over the features, where A has the n samples as its rows. g and work have n²
// elements. work is a workspace.
func (f *Features) Gram(
	ctx context.Context,
	be engine.Backend,
	g, work []float64,
) (*Gram, error) {
	out := &Gram{N: f.n, G: g}
	sum := newGramSum(be, f.n, g, work, true)
	width := PanelColumns(f.n, f.d)
	panel := make([]float64, width*f.n)
	held := 0
	var squares float64
	f.reach = f.reach[:0]
	raw, err := f.read(ctx, func(b dataset.Block) error {
		for i := range b.N {
			row := panel[held*f.n : (held+1)*f.n]
			if b.Sparse == nil {
				copy(row, b.X[i*f.n:(i+1)*f.n])
			} else {
				clear(row)
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					row[j] = val[k]
				}
			}
			own := f.centre(row)
			squares += own
			f.reach = append(f.reach, math.Sqrt(own)*roundoff.Inflate)
			held++
			if held == width {
				sum.addRows(engine.View(held, f.n, panel))
				held = 0
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if held > 0 {
		sum.addRows(engine.View(held, f.n, panel[:held*f.n]))
	}
	f.squares = squares*roundoff.Inflate + f.lost(raw)
	if f.intercept && !rows.Spreads(f.squares, f.total) ||
		!(f.squares <= rows.MaxSquares) {
		return nil, &fd.RangeError{Row: f.n - 1}
	}
	out.Units = sum.units() + 1
	out.shift(f.share())
	out.close(&f.Samples)
	return out, nil
}

// addRows adds PᵀP to the sum, where the rows of P are features.
func (s *gramSum) addRows(p engine.Matrix) {
	s.tallest = max(s.tallest, p.Rows)
	s.addProduct(true, p)
}

// centre overwrites x, the values of one feature, with its column of A. If there is an intercept, it centres x. It
// then multiplies each value by the square root of its weight. squares is the weighted sum of squares of the
// original values.
func (f *Features) centre(x []float64) (squares float64) {
	mean := 0.0
	for lo := 0; lo < len(x); lo += sumRows {
		part := 0.0
		for i := lo; i < min(lo+sumRows, len(x)); i++ {
			wx := x[i]
			if f.w != nil {
				wx *= f.w[i]
			}
			part += wx
			squares += wx * x[i]
		}
		mean += part
	}
	if f.intercept {
		mean /= f.total
		for i := range x {
			x[i] -= mean
		}
	}
	for i, root := range f.root {
		x[i] *= root
	}
	return squares
}

// Measure measures at all points in one pass.
func (f *Features) Measure(
	ctx context.Context,
	be engine.Backend,
	points []Point,
) ([]*Found, error) {
	m := f.measuring(points)
	seen := 0
	_, err := f.read(ctx, func(b dataset.Block) error {
		for lo := 0; lo < b.N; lo += engine.MaxGradientRows {
			hi := min(lo+engine.MaxGradientRows, b.N)
			m.add(be, b.Cut(lo, hi, f.n, 0, &m.view), seen+lo)
		}
		seen += b.N
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.finish(), nil
}

// measuring is the state of a pass of Measure.
type measuring struct {
	f      *Features
	points []Point
	// x has two rows for each point, which hold the high and the low part of wθ. Here w are the weights, and θ is the
	// dual vector of the point. With an intercept, x has one more row with w.
	x     engine.Matrix
	off   []float64 // for each point, a bound on the norm of the error of wθ
	g, r  engine.Twofold
	found []*Found
	apart [][]float64 // for each point, bounds on the errors of the coefficients
	means []float64   // bounds on the means of the columns
	view  engine.CSR
}

func (f *Features) measuring(points []Point) *measuring {
	q := 2 * len(points)
	if f.intercept {
		q++
	}
	m := &measuring{
		f:      f,
		points: points,
		x:      newMatrix(q, f.n),
		off:    make([]float64, len(points)),
		g:      engine.NewTwofold(q, f.n),
		r:      engine.NewTwofold(engine.MaxGradientRows, q),
	}
	for k := range points {
		p := &points[k]
		p.drift = f.drift(p)
		lost := make([]float64, f.n)
		for i := range f.n {
			v := p.theta(i).Times(twofold.Of(f.Weight(i)))
			m.x.Row(2 * k)[i] = v.Hi
			m.x.Row(2*k + 1)[i] = v.Lo
			lost[i] = v.Err
		}
		m.off[k] = vec.Norm(lost) * growth(f.n+16)
		m.found = append(m.found, &Found{
			X:   make([]float64, f.d),
			Low: make([]float64, f.d),
		})
		m.apart = append(m.apart, make([]float64, f.d))
	}
	if f.intercept {
		for i := range f.n {
			m.x.Row(q - 1)[i] = f.Weight(i)
		}
		m.means = make([]float64, f.d)
	}
	return m
}

// add measures the features in b, numbered from firstFeature.
func (m *measuring) add(be engine.Backend, b dataset.Block, firstFeature int) {
	f, q := m.f, m.x.Rows
	cut := func(v engine.Matrix) engine.Matrix {
		return v.Slice(0, b.N, 0, q)
	}
	r := engine.Twofold{
		Hi:  cut(m.r.Hi),
		Lo:  cut(m.r.Lo),
		Err: cut(m.r.Err),
	}
	if b.Sparse != nil {
		b.Sparse.GradientTwofold(m.x, engine.Matrix{}, nil, nil, m.g, r)
	} else {
		dense := engine.View(b.N, f.n, b.X)
		be.GradientTwofold(dense, m.x, engine.Matrix{}, nil, nil, m.g, r)
	}

	total := f.weight()
	for i := range b.N {
		size := 0.0
		if b.Sparse != nil {
			_, val := b.Sparse.Row(i)
			size = vec.Norm(val)
		} else {
			size = vec.Norm(b.X[i*f.n : (i+1)*f.n])
		}
		size *= growth(f.n + 16)

		feature := firstFeature + i
		var column twofold.Number
		if f.intercept {
			column = number(r, i, q-1)
			mean, off := column.Over(total).Round()
			m.means[feature] = math.Abs(mean) + off
		}
		for k := range m.points {
			v := number(r, i, 2*k).Plus(number(r, i, 2*k+1))
			v.Err += size * m.off[k] * (1 + 0x1p-40)
			if f.intercept {
				v = v.Minus(column.Times(m.points[k].drift))
			}
			found := m.found[k]
			found.X[feature], found.Low[feature] = twofold.Sum(v.Hi, v.Lo)
			m.apart[k][feature] = v.Err
		}
	}
}

// finish returns the measurements.
func (m *measuring) finish() []*Found {
	f, q := m.f, m.x.Rows
	round := growth(f.d + 16)
	for k, found := range m.found {
		p := &m.points[k]
		found.Apart = vec.Norm(m.apart[k]) * round
		found.Slack = 2 * found.Apart // x and X + Low are both within Apart of Aᵀα
		found.MeanNorm = vec.Norm(m.means) * round
		p.residual = make([]twofold.Number, f.n)
		for i := range f.n {
			v := number(m.g, 2*k, i).Plus(number(m.g, 2*k+1, i))
			if f.intercept {
				v = v.Minus(number(m.g, q-1, i).Times(p.drift))
			}
			p.residual[i] = twofold.Of(f.Y(i, p.Target)).Minus(v)
		}
		f.Samples.finish(p, found)
	}
	return m.found
}

// Targets reads the targets y (n×t) and the sample weights w of all n rows. w is nil if no row has a weight.
func Targets(ctx context.Context, src dataset.Source) (y, w []float64, err error) {
	n, d, t := src.Dims()
	seen := 0
	raw := 0.0
	weighted := false
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		raw, err = rows.CheckBlock(b, d, t, seen, raw)
		if err != nil {
			return nil, nil, err
		}
		seen += b.N
		if int64(seen) > n {
			break
		}
		y = append(y, b.Y...)
		weighted = weighted || b.W != nil
		for i := range b.N {
			w = append(w, b.Weight(i))
		}
	}
	if !weighted {
		w = nil
	}
	return y, w, rows.CheckCount(n, int64(seen))
}

// Counted is a source that counts its passes.
type Counted struct {
	dataset.Source
	Passes *int
}

// Blocks counts a pass.
func (s Counted) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	*s.Passes++
	return s.Source.Blocks(ctx)
}
