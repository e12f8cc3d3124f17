package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

const eps = 0x1p-52

// Moments are Σw·zzᵀ over rows z = (x, y, 1), the lower triangle by rows, and how
// many rows there were. They are kept to about twice the precision of a float64.
type moments struct {
	d    int // features
	rows int64
	sum  []neumaier.Sum
	z    []float64 // row at hand
}

func newMoments(d int) *moments {
	k := d + targets + 1
	return &moments{d: d, sum: make([]neumaier.Sum, k*(k+1)/2), z: make([]float64, k)}
}

// addProduct adds a·b with the round-off of the product.
func addProduct(s *neumaier.Sum, a, b float64) {
	p := a * b
	s.Add(p)
	s.Add(math.FMA(a, b, -p))
}

func (m *moments) add(b dataset.Block) {
	for i := range b.N {
		copy(m.z, b.X[i*m.d:(i+1)*m.d])
		copy(m.z[m.d:], b.Y[i*targets:(i+1)*targets])
		m.z[m.d+targets] = 1
		w, at := b.Weight(i), 0
		for j, v := range m.z {
			wv := w * v
			rest := math.FMA(w, v, -wv)
			for _, u := range m.z[:j+1] {
				addProduct(&m.sum[at], wv, u)
				m.sum[at].Add(rest * u)
				at++
			}
		}
	}
	m.rows += int64(b.N)
}

func (m *moments) merge(o *moments) {
	for i := range m.sum {
		m.sum[i].Merge(o.sum[i])
	}
	m.rows += o.rows
}

func (m *moments) decay(beta float64) {
	for i := range m.sum {
		sum, low := m.sum[i].Parts()
		p := sum * beta
		m.sum[i] = neumaier.FromParts(p, math.FMA(sum, beta, -p)+low*beta)
	}
}

// at is Σw·z_i·z_j.
func (m *moments) at(i, j int) *big.Float {
	i, j = max(i, j), min(i, j)
	sum, low := m.sum[i*(i+1)/2+j].Parts()
	return new(big.Float).Add(refbig.Float(sum), refbig.Float(low))
}

// problem centres the moments; trace is that of K.
func (m *moments) problem() (p *refbig.Problem, trace float64) {
	one := m.d + targets
	weight := m.at(one, one)
	mean := make([]*big.Float, one)
	for i := range mean {
		mean[i] = new(big.Float).Quo(m.at(one, i), weight)
	}
	centred := func(i, j int) *big.Float {
		v := m.at(i, j)
		return v.Sub(v, new(big.Float).Mul(m.at(one, i), mean[j]))
	}
	p = &refbig.Problem{N: int(m.rows), D: m.d, T: targets, Intercept: true, MeanX: mean[:m.d], MeanY: mean[m.d:]}
	p.K, p.C = make([][]*big.Float, m.d), make([][]*big.Float, targets)
	for i := range m.d {
		for j := range m.d {
			p.K[i] = append(p.K[i], centred(max(i, j), min(i, j)))
		}
		v, _ := p.K[i][i].Float64()
		trace += v
	}
	for t := range targets {
		for i := range m.d {
			p.C[t] = append(p.C[t], centred(m.d+t, i))
		}
		p.YY = append(p.YY, centred(m.d+t, m.d+t))
	}
	return p, trace
}

// worst keeps, for each promise, the largest part of a bound that was taken up by
// the error.
type worst map[string]float64

func (w worst) hold(name string, err, bound float64) error {
	if !(err <= bound) {
		return fmt.Errorf("%s: the error is %g, the bound %g", name, err, bound)
	}
	if bound > 0 {
		w[name] = math.Max(w[name], err/bound)
	}
	return nil
}

// inside checks a bracket; the error is then the distance from its middle.
func (w worst) inside(name string, x *big.Float, v ridge.Interval) error {
	f, _ := x.Float64()
	if !(v.Lo <= f && f <= v.Hi) {
		return fmt.Errorf("%s: %g is not in [%g, %g]", name, f, v.Lo, v.Hi)
	}
	if half := (v.Hi - v.Lo) / 2; half > 0 && !math.IsInf(half, 1) {
		// Rounding the middle may push it past the ends of a bracket of few ulps.
		w[name] = math.Max(w[name], math.Min(1, math.Abs(f-v.Mid())/half))
	}
	return nil
}

// sketch checks −pad ⪯ K − BᵀB ⪯ η + pad and ‖K − BᵀB − ρI‖ ≤ ρ + pad. What a sketch
// is given has been centred and rounded, by some eps·‖A‖²_F.
func (w worst) sketch(exact *refbig.Problem, trace float64, s *ridge.Summary) error {
	p, err := s.Sketch().Spectrum()
	if err != nil {
		return err
	}
	d := exact.D
	left := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			v := new(big.Float).Copy(exact.K[i][j])
			for l, s2 := range p.Sigma2 {
				row := p.V[l*d : (l+1)*d]
				v.Sub(v, new(big.Float).Mul(refbig.Float(s2), new(big.Float).Mul(refbig.Float(row[i]), refbig.Float(row[j]))))
			}
			f, _ := v.Float64()
			left.SetSym(i, j, f)
		}
	}
	var es mat.EigenSym
	if !es.Factorize(left, false) {
		return errors.New("the reference has no eigenvalues")
	}
	values := es.Values(nil)
	low, high, bound := values[0], values[d-1], p.Bound
	rounding := 100 * eps * trace
	return errors.Join(
		w.hold("sketch, below", -low, bound.RoundOff+rounding),
		w.hold("sketch, above", high, bound.FD()+rounding),
		w.hold("sketch, shifted", math.Max(high-bound.Shift(), bound.Shift()-low), bound.RFD()+rounding),
		w.hold("sketch, sum of squares", math.Abs(bound.Frobenius2-trace), rounding),
	)
}

// fit checks the certificate of f, whose promises are named after kind.
func (w worst) fit(kind string, exact *refbig.Problem, s *refbig.Solution, f *ridge.Solution) error {
	errs := []error{w.inside(kind+", effective dimension", s.EffectiveDimension, f.EffectiveDimension)}
	if f.Rows != int64(exact.N) {
		errs = append(errs, fmt.Errorf("%s: the fit is of %d rows, there were %d", kind, f.Rows, exact.N))
	}
	for t, x := range s.Coef {
		c := f.Targets[t]
		dist := refbig.Distance(c.Coef, x)
		errs = append(errs,
			w.hold(kind+", error", dist, c.ErrorBound),
			w.hold(kind+", relative error", dist/refbig.Norm(x), c.RelativeErrorBound),
			w.inside(kind+", objective", s.Objective[t], c.Objective),
			w.inside(kind+", rss", exact.RSS(t, c.Coef), c.RSS))
		if s.GCV[t] != nil {
			errs = append(errs, w.inside(kind+", gcv", s.GCV[t], c.GCV))
		}
	}
	return errors.Join(errs...)
}
