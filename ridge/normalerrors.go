package ridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// StandardErrorsOf makes a pass over src, and returns the [StandardErrors] of each of fits and of each target. The
// argument fits are solutions for the rows of src, by any method, with or without an intercept. Their RSS and
// effective dimensions give σ. Columns may have the penalty 0, and γ may be 0.
//
// The intercept is the prediction for a row of the features origin. nil means zeros. Other numbers are for columns that
// were shifted and divided, if the intercept is for the columns before.
//
// It takes O(nd² + kd³) time for k different γ, and O(d²) memory. Errors: [ErrShape] for other dimensions,
// [ErrOtherRows] if the coefficients have another RSS than the fits prove, *[GammaError], *[SizeError], [ErrEmpty],
// [ErrIllConditioned], and the errors of src. See docs/math.md §21.
func StandardErrorsOf(
	ctx context.Context,
	src dataset.Source,
	fits []*Solution,
	origin []float64,
	opts NormalOptions,
) ([][]StandardErrors, error) {
	if src == nil {
		return nil, errNoSource
	}
	_, d, t := src.Dims()
	if origin != nil && len(origin) != d {
		return nil, unfit("an origin of %d numbers for %d features", len(origin), d)
	}
	for _, f := range fits {
		if f == nil || !f.hasShape(t, d) {
			return nil, unfit("standard errors need solutions of %d targets and %d features", t, d)
		}
		for j := range t {
			if err := checkNormalGamma(f.GammaOf(j)); err != nil {
				return nil, err
			}
		}
	}
	sums, err := newNormal(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	for _, f := range fits {
		for j := range t {
			if err := sums.checkFit(j, &f.Targets[j]); err != nil {
				return nil, err
			}
		}
	}
	known := map[float64]*normalVariances{}
	var out [][]StandardErrors
	for _, f := range fits {
		all := make([]StandardErrors, t)
		for j := range t {
			gamma := f.GammaOf(j)
			v := known[gamma]
			if v == nil {
				m, err := sums.withGamma(gamma)
				if err != nil {
					return nil, err
				}
				v = m.variances(origin)
				known[gamma] = v
			}
			sigma := noise(f.Targets[j].RSS, f.DimensionOf(j), sums.all, sums.unpenalized())
			all[j] = v.standardErrors(sigma)
		}
		out = append(out, all)
	}
	return out, nil
}

// checkFit returns an error if the rows of m are not the rows of the fit f of target j. It compares the residual
// sum of squares of the coefficients over the rows of m with the interval f.RSS.
func (m *normal) checkFit(j int, f *Target) error {
	c := m.targets.v[j*m.p : (j+1)*m.p]
	size := math.Sqrt(m.squares[j])
	rss, sum := m.squares[j], 0.0 // Σ wr² and Σ wr for the residuals r without an intercept
	if m.first == 1 {
		sum = c[0]
	}
	for i, x := range f.Coef {
		row := m.gram[(m.first+i)*m.p : (m.first+i+1)*m.p]
		rss += x * (vec.Dot(f.Coef, row[m.first:]) - 2*c[m.first+i])
		size += math.Abs(x) * m.sizes[m.first+i]
		if m.first == 1 {
			sum -= x * row[0]
		}
	}
	if m.first == 1 {
		rss -= sum / m.weight * sum // the best intercept
	}
	off := (16*m.kappa + 4*(float64(m.p)+few)*eps) * size * size
	computed := interval.Interval{Lo: rss - off, Hi: rss + off}
	if !interval.Apart(computed, interval.Interval(f.RSS)) {
		return nil
	}
	return fmt.Errorf(
		"%w: for target %d, ‖Ax − b‖² is %g for these rows, but the fit proves %g to %g",
		ErrOtherRows,
		j+1,
		rss,
		f.RSS.Lo,
		f.RSS.Hi,
	)
}

// unpenalized returns the number of columns with penalty 0, including the intercept.
func (m *normal) unpenalized() int {
	n := 0
	for _, p := range m.factors {
		if p == 0 {
			n++
		}
	}
	return n
}

// normalVariances holds brackets of the variances of the coefficients, divided by the variance of the noise. For
// the normal matrix H they are xᵀH⁻¹KH⁻¹x (sampling) and xᵀH⁻¹x (posterior), where K is H without the
// penalties. x is the unit vector of each of the d features, then the row of the intercept, if there is an
// intercept.
type normalVariances struct {
	d                   int
	sampling, posterior []interval.Interval
}

// standardErrors multiplies the square roots of the variances by sigma, the standard deviation of the noise.
func (v *normalVariances) standardErrors(sigma Interval) StandardErrors {
	out := StandardErrors{Sigma: sigma}
	for i := range v.sampling {
		sampling := deviation(sigma, v.sampling[i], 1)
		posterior := deviation(sigma, v.posterior[i], 1)
		if i == v.d {
			out.Intercept = &InterceptErrors{sampling, posterior}
			break
		}
		out.Sampling = append(out.Sampling, sampling)
		out.Posterior = append(out.Posterior, posterior)
	}
	return out
}

// variances returns the variances for the penalties of m. The variance of the intercept is its variance at the row
// origin. Let H be the normal matrix, K the matrix H without penalties, πₖ the penalties and eₖ the unit vectors.
// Then
//
//	xᵀH⁻¹KH⁻¹x = xᵀH⁻¹x − Σ πₖ·(eₖᵀH⁻¹x)².
//
// The product of W and a unit vector is a column of W, without an error.
func (m *normal) variances(origin []float64) *normalVariances {
	p := m.p
	columns := make([]float64, p*p) // the columns of W, as rows
	for i := range p {
		for j := range p {
			columns[j*p+i] = m.w[i*p+j]
		}
	}
	of := mapped{
		v:    columns[m.first*p:],
		norm: m.omega[m.first:],
		off:  make([]float64, m.d),
	}
	out := &normalVariances{d: m.d}
	m.addVariances(out, &of, columns)
	if m.first == 1 {
		row := dataset.Block{N: 1, X: origin}
		if origin == nil {
			row.X = make([]float64, m.d)
		}
		z := make([]float64, p)
		m.fill(z, row, 0)
		at := m.apply(z)
		m.addVariances(out, &at, columns)
	}
	return out
}

// addVariances appends the variances for some vectors to out. The argument of holds the products of W with these
// vectors.
func (m *normal) addVariances(out *normalVariances, of *mapped, columns []float64) {
	p, q := m.p, len(of.norm)
	products := make([]float64, q*p)
	rows := engine.View(q, p, of.v)
	m.be.Gemm(
		false,
		true,
		1,
		rows,
		engine.View(p, p, columns),
		0,
		engine.View(q, p, products),
	)
	round := (chainOf(p) + few) * eps
	for i := range q {
		v := of.v[i*p : (i+1)*p]
		norm := of.norm[i]
		off := of.off[i]
		form := vec.Dot(v, v)
		slack := m.error(norm, off, norm, off) + few*eps*form
		inverse := interval.Interval{Lo: math.Max(0, form-slack), Hi: form + slack}
		least, most := 0.0, 0.0
		for k, product := range products[i*p : (i+1)*p] {
			size := math.Abs(product)
			slack := m.error(norm, off, m.omega[k], 0)
			lo := math.Max(0, size-slack)
			hi := size + slack
			least += m.penalty[k] * lo * lo
			most += m.penalty[k] * hi * hi
		}
		lost := few * (eps*inverse.Lo + roundoff.Underflow)
		sampling := interval.Interval{
			Lo: math.Max(0, inverse.Lo-most*(1+round)-lost),
			Hi: inverse.Hi -
				least*(1-round) +
				few*(eps*inverse.Hi+roundoff.Underflow),
		}
		out.sampling = append(out.sampling, sampling)
		out.posterior = append(out.posterior, inverse)
	}
}
