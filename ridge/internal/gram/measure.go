package gram

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// A point is a query whose field Precise is set, with its coefficients x.
type point struct {
	query int // index of the query in the pass
	Query
	x []float64
}

// A Measurement is the gradient g of the ridge objective at coefficients x, computed with twice the digits. It is
// computed from the rows X, targets y and weights w before centring and weighting, so that no input is rounded. With
// r = w·(Xx − y), s = 1ᵀr and a = Xᵀw,
//
//	g = Xᵀr − a·s/Σw + γx
//
// if there is an intercept, and g = Xᵀr + γx otherwise. A constant added to all elements of Xx − y does not
// change g. Adding ȳ − xᵀx̄ makes the residuals small and prevents cancellation.
//
// The error δ of the residuals changes g by Aᵀδ, where A holds the centred rows. Residual bounds ‖δ‖, apart
// from the bounds on the errors of the sums. The reason is that ‖H⁻¹Aᵀ‖, for H = AᵀA + γI, does not depend
// on the means.
type Measurement struct {
	Gradient []float64 // Hx − c for the computed r, rounded to float64
	Low      []float64 // the rounding error of Gradient
	// Bounds[j] bounds the error of element j of Gradient + Low, without the part Aᵀδ that the errors δ of the
	// residuals cause.
	Bounds   []float64
	Residual float64 // bounds ‖W^{½}δ‖, with the weights W
	RSS      twofold.Number
	Shift    twofold.Number // the mean of Xx − y; 0 without an intercept
}

// Add changes the gradient in m from coefficients x to coefficients x + y. It adds the product (AᵀA + γI)y, which l
// must hold. l is a measurement at coefficients y without a target. RSS and Shift of m remain the values at x.
func (m *Measurement) Add(l *Measurement) {
	for j := range m.Gradient {
		v := twofold.Number{
			Hi:  m.Gradient[j],
			Lo:  m.Low[j],
			Err: m.Bounds[j],
		}
		m.set(j, v.Plus(twofold.Number{
			Hi:  l.Gradient[j],
			Lo:  l.Low[j],
			Err: l.Bounds[j],
		}))
	}
	m.Residual = (m.Residual + l.Residual) * (1 + 0x1p-50)
}

func (m *Measurement) set(j int, v twofold.Number) {
	m.Gradient[j], m.Low[j] = twofold.Sum(v.Hi, v.Lo)
	m.Bounds[j] = v.Err
}

// Rounded returns bounds on the errors of the elements of Gradient alone, without Low.
func (m *Measurement) Rounded() []float64 {
	out := make([]float64, len(m.Bounds))
	for j, v := range m.Bounds {
		out[j] = (v + math.Abs(m.Low[j])) * (1 + 0x1p-50)
	}
	return out
}

// A measuring is the state of a pass that measures gradients with twice the digits.
type measuring struct {
	o      *Operator
	points []point
	// x holds the coefficients of each point in a row. With an intercept, it has one more row, which is zero. The
	// residual of each row of the data is 1 for this row of x.
	x      []float64
	rhs    []float64      // right-hand sides for the current rows
	shift  []float64      // constant added to the residuals of each point; nil without an intercept
	r      engine.Twofold // residuals of the current rows
	g      engine.Twofold // Xᵀr for each point, then a
	sums   []measured
	weight twofold.Number

	recalled []twofold.Number // the sums over all workers, if the journal has them
}

// measured holds the sums over the rows for one point, without the gradient. r is the residual of a row, w its
// weight, and δ the error of r.
type measured struct {
	ones    twofold.Number // Σwr
	squares twofold.Number // Σwr²
	lost    float64        // bounds ‖√w·δ‖
}

// newMeasuring prepares the measurements of a pass. It returns nil if no query asks for one, that is if Precise is
// not set in any query.
func newMeasuring(o *Operator, qs []Query, v []float64) *measuring {
	var points []point
	for i, s := range qs {
		if s.Precise {
			points = append(points, point{i, s, v[i*o.d : (i+1)*o.d]})
		}
	}
	q := len(points)
	if q == 0 {
		return nil
	}
	if o.product.reader.Mean() != nil {
		q++
	}
	m := &measuring{
		o:      o,
		points: points,
		sums:   make([]measured, len(points)),
		x:      make([]float64, q*o.d),
		rhs:    make([]float64, q*engine.MaxGradientRows),
	}
	for i, p := range points {
		copy(m.x[i*o.d:], p.x)
	}
	if o.product.reader.Mean() != nil {
		m.shift = make([]float64, q)
		for i, p := range points {
			m.shift[i] = -o.product.offset[p.query]
			if p.Affine {
				m.shift[i] += o.product.reader.TargetMean(p.Target)
			}
		}
	}
	m.g = engine.NewTwofold(q, o.d)
	m.r = engine.NewTwofold(engine.MaxGradientRows, q)
	return m
}

// add adds the contribution of the rows of b to all sums. b has at most engine.MaxGradientRows rows.
func (m *measuring) add(b dataset.Block) {
	o := m.o
	q := len(m.x) / m.o.d
	for i := range b.N {
		row := m.rhs[i*q : (i+1)*q]
		for j, p := range m.points {
			row[j] = 0
			if p.Affine {
				row[j] = b.Y[i*o.t+p.Target]
			}
		}
		if q > len(m.points) {
			row[q-1] = -1
		}
	}
	x := engine.View(q, o.d, m.x)
	rhs := engine.View(b.N, q, m.rhs)
	r := firstRows(m.r, b.N)
	if b.Sparse != nil {
		b.Sparse.GradientTwofold(x, rhs, m.shift, b.W, m.g, r)
	} else {
		o.product.be.GradientTwofold(
			engine.View(b.N, o.d, b.X),
			x,
			rhs,
			m.shift,
			b.W,
			m.g,
			r,
		)
	}
	for i := range b.N {
		w := twofold.Of(1)
		if b.W != nil {
			w.Hi = b.W[i]
		}
		m.weight = m.weight.Plus(w)
		for j := range m.points {
			v := twofold.Number{
				Hi: r.Hi.Row(i)[j],
				Lo: r.Lo.Row(i)[j],
			}
			s := &m.sums[j]
			weighted := v
			if b.W != nil {
				weighted = v.Times(w)
			}
			s.ones = s.ones.Plus(weighted)
			s.squares = s.squares.Plus(weighted.Times(v))
		}
	}
	for j := range m.points {
		s := &m.sums[j]
		s.lost = math.Hypot(s.lost, lostNorm(b, r.Err, j)) * (1 + 0x1p-50)
	}
}

// lostNorm returns a bound on √Σwδ² over the rows of a block. w is the weight of a row, and δ is its error in the
// given column of delta.
func lostNorm(b dataset.Block, delta engine.Matrix, column int) float64 {
	norm := 0.0
	for lo := 0; lo < b.N; lo += lostRows {
		var v [lostRows]float64
		for i := lo; i < min(lo+lostRows, b.N); i++ {
			v[i-lo] = delta.Row(i)[column]
			if b.W != nil {
				v[i-lo] *= math.Sqrt(b.W[i])
			}
		}
		norm = math.Hypot(norm, vec.Norm(v[:]))
	}
	return norm * (1 + 0x1p-40)
}

// lostRows is the number of rows that lostNorm processes together.
const lostRows = 64

// numbers returns all sums over the rows so far: the total weight, then three sums for each point, then the
// gradients. Let w be the weight of a row, r its residual, and δ the error of r. Then the three sums are Σwr, Σwr²,
// and a bound on √Σwδ².
func (m *measuring) numbers() []twofold.Number {
	out := []twofold.Number{m.weight}
	for _, s := range m.sums {
		out = append(out, s.ones, s.squares, twofold.Of(s.lost))
	}
	for i := range m.g.Hi.Rows {
		for j := range m.o.d {
			out = append(out, twofold.Number{
				Hi:  m.g.Hi.Row(i)[j],
				Lo:  m.g.Lo.Row(i)[j],
				Err: m.g.Err.Row(i)[j],
			})
		}
	}
	return out
}

// ofPoint is the number of sums in measured.
const ofPoint = 3

// count returns the length of m.numbers(). If m is nil, it returns 0.
func (m *measuring) count() int {
	if m == nil {
		return 0
	}
	return 1 + ofPoint*len(m.sums) + m.g.Hi.Rows*m.o.d
}

// restore sets all sums to the numbers in ns, which are in the order of the method numbers.
func (m *measuring) restore(ns []twofold.Number) {
	m.weight = ns[0]
	ns = ns[1:]
	for i := range m.sums {
		m.sums[i] = measured{ns[0], ns[1], residual(ns[2])}
		ns = ns[ofPoint:]
	}
	for i, v := range ns {
		q := i / m.o.d
		j := i % m.o.d
		m.g.Hi.Row(q)[j] = v.Hi
		m.g.Lo.Row(q)[j] = v.Lo
		m.g.Err.Row(q)[j] = v.Err
	}
}

// firstRows returns the first n rows of m.
func firstRows(m engine.Twofold, n int) engine.Twofold {
	cut := func(m engine.Matrix) engine.Matrix {
		return m.Slice(0, n, 0, m.Cols)
	}
	return engine.Twofold{
		Hi:  cut(m.Hi),
		Lo:  cut(m.Lo),
		Err: cut(m.Err),
	}
}

// residual turns lost, the sum of bounds from all workers, into one float64. Each worker's bound is on √Σwδ² over
// its own rows, for weights w and errors δ of the residuals. The result is a bound over the rows of all workers.
func residual(lost twofold.Number) float64 {
	if lost.Err == 0 && lost.Lo == 0 {
		return lost.Hi
	}
	return (math.Abs(lost.Hi) + math.Abs(lost.Lo) + lost.Err) * (1 + 0x1p-50)
}

// results returns a [Measurement] for each query in which Precise is set, and nil for each other query. The
// argument sums holds the sums over all workers, in the order of the method numbers.
func (m *measuring) results(queries int, sums []twofold.Number) []*Measurement {
	o := m.o
	centred := m.o.product.reader.Mean() != nil
	q := len(m.points)
	out := make([]*Measurement, queries)
	weight := sums[0]
	g := sums[1+ofPoint*q:]
	for i, p := range m.points {
		of := sums[1+ofPoint*i:]
		ones, found := of[0], &Measurement{
			Gradient: make([]float64, o.d),
			Low:      make([]float64, o.d),
			Bounds:   make([]float64, o.d),
			Residual: residual(of[2]),
			RSS:      of[1],
		}
		var mean twofold.Number // s/Σw
		if centred {
			mean = ones.Over(weight)
			found.RSS = found.RSS.Minus(ones.Times(mean))
			found.Shift = mean.Minus(twofold.Of(m.shift[i]))
			found.Shift.Err += found.Residual / math.Sqrt(weight.Hi) * (1 + 0x1p-50) // |1ᵀWδ| ≤ √Σw·‖W^{½}δ‖
		}
		rss := math.Max(0, found.RSS.Hi) +
			math.Abs(found.RSS.Lo) +
			found.RSS.Err
		norm := math.Sqrt(rss) * (1 + 0x1p-50)
		found.RSS.Err += found.Residual * (2*norm + found.Residual) * (1 + 0x1p-48)
		for j, x := range p.x {
			v := g[i*o.d+j]
			if centred {
				v = v.Minus(g[q*o.d+j].Times(mean))
			}
			found.set(j, v.Plus(twofold.Times(p.Gamma, x)))
		}
		out[p.query] = found
	}
	return out
}
