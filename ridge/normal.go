package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// NormalOptions describe the problem that [NewJackknife] and [StandardErrorsOf] solve. The zero value means no
// intercept, the penalty factor 1 for each column, and entries without rounding errors.
type NormalOptions struct {
	Intercept bool
	Penalty   []float64      // pⱼ ≥ 0 of each column: the objective has γ·Σpⱼxⱼ²; nil means 1
	Rounding  []float64      // as RowErrors.Rounding; nil: the entries are exact
	Backend   engine.Backend // nil is engine.Default()
	MaxBytes  uint64         // memory limit in bytes; 0 means DefaultMaxBytes
}

// ErrIllConditioned reports that the inverse of the matrix AᵀA + γP could not be approximated with a proved error.
// P is the diagonal matrix of the penalty factors of the columns.
var ErrIllConditioned = errors.New(
	"ridge: AᵀA + γP is too close to a singular matrix for proved bounds; use a larger gamma, or scale the columns")

// A normal holds the normal matrix of rows and an approximate inverse with a proved error. Let a be a row of weight w,
// and z = (1, a − μ) with an intercept, otherwise z = a. The p×p normal matrix and its approximate inverse are
//
//	H = Σ w·zzᵀ + γ·diag(0, penalty),   H⁻¹ ≈ WᵀW,   ‖WHWᵀ − I‖ ≤ ε < ½.
//
// Columns may have the penalty 0. The shift μ changes only the value of the intercept, because it has no penalty. For
// any vectors x and y,
//
//	|xᵀH⁻¹y − (Wx)ᵀ(Wy)| ≤ ε/(1 − ε)·‖Wx‖·‖Wy‖.
//
// All norms of errors are computed from ω, the norms of the columns of W. See docs/math.md §23.
type normal struct {
	be      engine.Backend
	d, t, p int
	first   int // position of the first feature in z: 1 with an intercept, otherwise 0

	shift   []float64 // μ, with a zero for the intercept; p
	base    []float64 // numbers that were subtracted from the targets; t
	units   []float64 // unit round-offs of each column of z; p
	factors []float64 // pⱼ, 0 for the intercept; p
	penalty []float64 // γ·pⱼ; p

	counted
	gram  []float64
	sizes []float64 // bounds on √(Σ w·(|zⱼ| + |μⱼ|)²), where |μⱼ| counts only if the column was rounded; p
	kappa float64   // element j, k of gram has an error of at most kappa·sizes[j]·sizes[k], apart from underflow
	inverse
	targets mapped // W·Σw(y − base)z for each target
}

// counted holds the numbers of the training rows.
type counted struct {
	rows    int64     // of positive weight
	all     int64     // all rows
	weight  float64   // of all rows
	squares []float64 // Σ w(y − base)² for each target
}

// An inverse is a p×p matrix W with bounds on the errors of products with W. WᵀW approximates the inverse of the
// normal matrix.
type inverse struct {
	w        []float64 // W, p×p
	omega    []float64 // norms of the columns of W
	relative float64   // ε/(1 − ε)
	chain    float64   // round-off of a product with W, and of z, in units of eps
	fixed    float64   // bounds the other errors of a product
}

// mapped holds the computed products of the matrix W of [inverse] with q vectors. For each product, norm bounds the
// norm of the exact vector, and off bounds the norm of the error.
type mapped struct {
	v         []float64 // q×p
	norm, off []float64
}

const (
	few = roundoff.Few // bounds the round-off of a few operations, in units of eps
	eps = roundoff.Eps
)

// chainOf bounds the round-off of a sum of k products that a backend computes, in units of eps.
func chainOf(k int) float64 {
	return float64(k)/2 + engine.Roundings + few
}

// newNormal makes a pass over src and computes its normal matrix without a penalty. withGamma adds the penalty.
func newNormal(ctx context.Context, src dataset.Source, opts NormalOptions) (*normal, error) {
	if src == nil {
		return nil, errNoSource
	}
	be, err := engine.OrDefault(opts.Backend)
	if err != nil {
		return nil, err
	}
	_, d, t := src.Dims()
	for _, list := range [][]float64{opts.Penalty, opts.Rounding} {
		if list != nil && len(list) != d {
			return nil, unfit("a list of %d numbers for %d features", len(list), d)
		}
	}
	m := &normal{
		be: be,
		d:  d,
		t:  t,
		p:  d,
	}
	if opts.Intercept {
		m.first = 1
		m.p = d + 1
	}
	limit := opts.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	width := uint64(m.p + t)
	need := 8 * (6*width*width + 4*roundoff.StageRows*width)
	if need > limit {
		return nil, &SizeError{Dim: d, Bytes: need, Limit: limit}
	}
	m.shift = make([]float64, m.p)
	m.units = make([]float64, m.p)
	m.factors = make([]float64, m.p)
	m.base = make([]float64, t)
	for j := range d {
		m.factors[m.first+j] = 1
		if opts.Penalty != nil {
			m.factors[m.first+j] = opts.Penalty[j]
		}
		if opts.Rounding != nil {
			m.units[m.first+j] = opts.Rounding[j]
		}
	}
	return m, m.sum(ctx, src)
}

// checkNormalGamma returns an error unless gamma is finite and at least 0.
func checkNormalGamma(gamma float64) error {
	if !(gamma >= 0) || math.IsInf(gamma, 1) {
		return &GammaError{Gamma: gamma}
	}
	return nil
}

// withGamma returns a copy of m that includes the approximate inverse for the penalty gamma.
func (m *normal) withGamma(gamma float64) (*normal, error) {
	out := *m
	out.penalty = make([]float64, m.p)
	for j, p := range m.factors {
		out.penalty[j] = gamma * p
	}
	return &out, out.invert()
}

// A stagedRows has at most StageRows rows of positive weight.
type stagedRows struct {
	n       int
	z, y    []float64 // n×p and n×t, shifted
	weights []float64
}

// each calls use for groups of at most StageRows rows of src. It skips rows whose weight is not positive.
func (m *normal) each(
	ctx context.Context,
	src dataset.Source,
	use func(*stagedRows) error,
) (all int64, err error) {
	s := &stagedRows{
		z:       make([]float64, roundoff.StageRows*m.p),
		y:       make([]float64, roundoff.StageRows*m.t),
		weights: make([]float64, roundoff.StageRows),
	}
	raw := 0.0
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		raw, err = rows.CheckBlock(b, m.d, m.t, int(all), raw)
		if err != nil {
			return 0, err
		}
		all += int64(b.N)
		for i := range b.N {
			w := b.Weight(i)
			if !(w > 0) {
				continue
			}
			row := s.z[s.n*m.p : (s.n+1)*m.p]
			m.fill(row, b, i)
			for j, v := range b.Y[i*m.t : (i+1)*m.t] {
				s.y[s.n*m.t+j] = v - m.base[j]
			}
			s.weights[s.n] = w
			s.n++
			if s.n < roundoff.StageRows {
				continue
			}
			if err := use(s); err != nil {
				return 0, err
			}
			s.n = 0
		}
	}
	if s.n > 0 {
		err = use(s)
	}
	return all, err
}

// fill writes z for row i of b.
func (m *normal) fill(z []float64, b dataset.Block, i int) {
	if b.Sparse == nil {
		copy(z[m.first:], b.X[i*m.d:(i+1)*m.d])
	} else {
		clear(z)
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			z[m.first+int(j)] = val[k]
		}
	}
	if m.first == 0 {
		return
	}
	z[0] = 1
	for j := 1; j < m.p; j++ {
		z[j] -= m.shift[j]
	}
}

// sum computes the normal matrix of the rows of src, and its products with the targets. With an intercept, it
// subtracts the means of the first rows from all rows.
func (m *normal) sum(ctx context.Context, src dataset.Source) error {
	width := m.p + m.t
	sums := make([]twofold.Total, width*width)
	block := make([]float64, width*width)
	scaled := make([]float64, roundoff.StageRows*width)
	var weight twofold.Total
	stages := 0
	all, err := m.each(ctx, src, func(s *stagedRows) error {
		if stages == 0 && m.first == 1 {
			m.chooseShift(s)
		}
		stages++
		for i := range s.n {
			root := math.Sqrt(s.weights[i])
			row := scaled[i*width : (i+1)*width]
			for j, v := range s.z[i*m.p : (i+1)*m.p] {
				row[j] = root * v
			}
			for j, v := range s.y[i*m.t : (i+1)*m.t] {
				row[m.p+j] = root * v
			}
			weight.Add(s.weights[i])
		}
		m.rows += int64(s.n)
		rows := engine.View(s.n, width, scaled[:s.n*width])
		m.be.Syrk(true, 1, rows, 0, engine.View(width, width, block))
		for j := range width {
			for k := range j + 1 {
				sums[j*width+k].Add(block[j*width+k])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n, _, _ := src.Dims(); n >= 0 && n != all {
		return rows.CheckCount(n, all)
	}
	if m.rows == 0 {
		return fmt.Errorf("%w with positive weight", ErrEmpty)
	}

	m.all = all
	m.weight = weight.Value()
	value := func(j, k int) float64 {
		return sums[max(j, k)*width+min(j, k)].Value()
	}
	m.gram = make([]float64, m.p*m.p)
	most := 0.0
	for j := range m.p {
		for k := range m.p {
			m.gram[j*m.p+k] = value(j, k)
		}
		m.sizes = append(m.sizes, math.Sqrt(value(j, j))*(1+0x1p-20))
		if m.units[j] > 0 {
			m.sizes[j] += math.Abs(m.shift[j]) * math.Sqrt(m.weight) * (1 + 0x1p-20)
		}
		most = math.Max(most, m.units[j])
	}

	m.kappa = (chainOf(roundoff.StageRows)+most+8)*eps +
		float64(stages)*float64(stages)*eps*eps
	m.chain = chainOf(m.p) + most + 2
	m.targets = mapped{
		v:    make([]float64, m.t*m.p),
		norm: make([]float64, m.t),
		off:  make([]float64, m.t),
	}
	for j := range m.t {
		for k := range m.p {
			m.targets.v[j*m.p+k] = value(m.p+j, k)
		}
		m.squares = append(m.squares, value(m.p+j, m.p+j))
		m.targets.norm[j] = math.Sqrt(m.squares[j]) * (1 + 0x1p-20)
	}
	return nil
}

// chooseShift stores the means of the rows of s in m, and subtracts them from these rows.
func (m *normal) chooseShift(s *stagedRows) {
	for i := range s.n {
		z, y := m.rowOf(s, i)
		vec.Axpy(1/float64(s.n), z, m.shift[1:])
		vec.Axpy(1/float64(s.n), y, m.base)
	}
	for i := range s.n {
		z, y := m.rowOf(s, i)
		vec.Axpy(-1, m.shift[1:], z)
		vec.Axpy(-1, m.base, y)
	}
}

// rowOf returns the features of row i of s, without the constant feature of the intercept, and its targets.
func (m *normal) rowOf(s *stagedRows, i int) (z, y []float64) {
	return s.z[i*m.p+1 : (i+1)*m.p], s.y[i*m.t : (i+1)*m.t]
}

// invert computes W, the inverse of a Cholesky factor of the normal matrix H. It then bounds ‖WHWᵀ − I‖.
func (m *normal) invert() error {
	p := m.p
	h := make([]float64, p*p)
	l := make([]float64, p*p)
	copy(h, m.gram)
	for j := range p {
		h[j*p+j] += m.penalty[j]
	}
	copy(l, h)
	if _, ok := m.be.Cholesky(engine.View(p, p, l)); !ok {
		return ErrIllConditioned
	}

	m.w = make([]float64, p*p)
	for i := range p {
		row := m.w[i*p : (i+1)*p]
		if i > 0 { // row i of L⁻¹ is (eᵢ − Σ lᵢₖ·row k)/lᵢᵢ
			above := engine.View(i, p, m.w[:i*p])
			m.be.Gemv(true, -1, above, l[i*p:i*p+i], 0, row)
		}
		row[i]++
		for j := range i + 1 {
			row[j] /= l[i*p+i]
		}
	}
	m.omega = make([]float64, p)
	column := make([]float64, p)
	for j := range p {
		for i := range p {
			column[i] = m.w[i*p+j]
		}
		m.omega[j] = vec.Norm(column) * (1 + few*eps)
	}

	w := engine.View(p, p, m.w)
	product := engine.View(p, p, make([]float64, p*p))
	m.be.Gemm(false, true, 1, engine.View(p, p, h), w, 0, product)
	m.be.Gemm(false, false, 1, w, product, 0, engine.View(p, p, l))

	sizes, diagonal, total, magnitudes := 0.0, 0.0, 0.0, 0.0
	for j := range p {
		l[j*p+j]--
		sizes += m.omega[j] * m.sizes[j]
		diagonal += m.omega[j] * m.omega[j] * h[j*p+j]
		total += m.omega[j]
		for k := range p {
			magnitudes += m.omega[j] * math.Abs(h[j*p+k]) * m.omega[k]
		}
	}

	n := float64(m.rows)
	lost := roundoff.Underflow * (4*n*total*total +
		8*math.Sqrt(n)*total*sizes +
		8*float64(p*p)*(1+total)*(1+total))
	e := vec.Norm(l) +
		(2*chainOf(p)+2)*eps*magnitudes +
		m.kappa*sizes*sizes +
		few*eps*diagonal +
		lost
	e *= roundoff.Inflate
	if !(e < 0.5) || !(m.kappa < 0x1p-21) {
		return ErrIllConditioned
	}

	m.relative = e / (1 - e) * (1 + few*eps)
	m.fixed = roundoff.Underflow * float64(p*p+few)
	for j := range p {
		shifted := m.omega[j] * m.units[j] * math.Abs(m.shift[j])
		m.fixed += shifted * eps * roundoff.Inflate
	}

	// The product of target j with column i has an error of at most kappa·sizes[i]·norm[j], for the fields kappa
	// and sizes of m.
	raw, norm := m.targets, m.targets.norm
	m.targets = m.apply(raw.v)
	for j := range m.t {
		underflow := roundoff.Underflow * (2*n + 4*math.Sqrt(n)*norm[j]) * total
		m.targets.off[j] += (m.kappa*sizes*norm[j] + underflow) * roundoff.Inflate
		m.targets.norm[j] += m.targets.off[j]
	}
	return nil
}

// apply returns Wz for the rows of z (q×p).
func (m *normal) apply(z []float64) mapped {
	q := len(z) / m.p
	out := mapped{
		v:    make([]float64, q*m.p),
		norm: make([]float64, q),
		off:  make([]float64, q),
	}
	m.applyTo(&out, z)
	return out
}

// applyTo multiplies the rows z by the matrix W, as apply does. It overwrites dst, which must have room for all
// rows.
func (m *normal) applyTo(dst *mapped, z []float64) {
	q := len(z) / m.p
	w := engine.View(m.p, m.p, m.w)
	products := engine.View(q, m.p, dst.v[:q*m.p])
	m.be.Gemm(false, true, 1, engine.View(q, m.p, z), w, 0, products)
	for i := range q {
		size := 0.0
		for j, v := range z[i*m.p : (i+1)*m.p] {
			size += m.omega[j] * math.Abs(v)
		}
		dst.off[i] = m.chain*eps*size*roundoff.Inflate + m.fixed
		dst.norm[i] = vec.Norm(products.Row(i))*(1+few*eps) + dst.off[i]
	}
}

// error bounds |xᵀH⁻¹y − v·w| for two vectors x and y and the normal matrix H. v and w are the computed
// products of W with x and y. The arguments bound the norms and the errors of v and w.
func (m *normal) error(vNorm, vOff, wNorm, wOff float64) float64 {
	relative := m.relative + chainOf(m.p)*eps
	off := relative*vNorm*wNorm + vOff*wNorm + vNorm*wOff
	return off*(1+few*eps) + roundoff.Underflow*few
}
