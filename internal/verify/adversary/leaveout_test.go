package adversary

import (
	"math/big"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// A leftRows has what is needed to leave out single rows at one γ.
type leftRows struct {
	p        *refbig.Problem
	l        [][]*big.Float
	inverse  []*big.Float // inverse of D in H = LDLᵀ
	solution *refbig.Solution
	weight   *big.Float // total weight of all rows
}

// leaveOut prepares the data for leaving out rows. weight is the total weight of the rows of the problem.
func leaveOut(p *refbig.Problem, gamma float64, weight *big.Float) (*leftRows, error) {
	l, err := p.Factor(refbig.Float(gamma))
	if err != nil {
		return nil, err
	}
	s, err := p.Solve(gamma)
	if err != nil {
		return nil, err
	}
	inverse := zeros(p.D)
	for j := range inverse {
		inverse[j].Quo(refbig.Float(1), l[j][j])
	}
	return &leftRows{p, l, inverse, s, weight}, nil
}

// squared returns w·(r/(1 − h))² for each target, where r is the residual of a row x with targets y and
// weight w. The leverage is h = w·aᵀH⁻¹a + w/W for a = x less the means; the term w/W applies only with an
// intercept. The round-off is at most 2⁻⁴⁰⁰·scale. squared returns nil if h is 1.
func (o *leftRows) squared(x, y []float64, w *big.Float) (errs, scale []*big.Float) {
	a := make([]*big.Float, len(x))
	for j, v := range x {
		a[j] = sub(refbig.Float(v), o.p.MeanX[j])
	}
	z := refbig.Forward(o.l, a)
	for j := range z {
		z[j].Mul(z[j].Mul(z[j], z[j]), o.inverse[j])
	}
	free := refbig.Float(1) // 1 − h, with h = w·aᵀH⁻¹a = w·zᵀD⁻¹z for z = L⁻¹a
	for _, v := range z {
		free.Sub(free, v.Mul(v, w))
	}
	if o.p.Intercept {
		free = sub(free, quo(w, o.weight))
	}
	if free.Cmp(new(big.Float).SetMantExp(refbig.Float(1), -refbig.Prec+112)) <= 0 {
		return nil, nil
	}
	for j, coef := range o.solution.Coef {
		r, size, term := sub(refbig.Float(y[j]), o.p.MeanY[j]), refbig.Float(0), new(big.Float)
		for k := range a {
			r.Sub(r, term.Mul(a[k], coef[k]))
			size.Add(size, term.Abs(term))
		}
		size = sum(size, new(big.Float).Abs(refbig.Float(y[j])))
		size = sum(size, new(big.Float).Abs(o.p.MeanY[j]))
		r, size = quo(r, free), quo(size, mul(free, free))
		errs, scale = append(errs, mul(w, mul(r, r))), append(scale, mul(w, mul(size, size)))
	}
	return errs, scale
}

func sub(a, b *big.Float) *big.Float { return new(big.Float).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).Quo(a, b) }

// TestLeaveOut: the squared error of a left-out row, from leverages and the solution of all rows, equals the error of a
// solution without this row.
func TestLeaveOut(t *testing.T) {
	x, y := [][]float64{{1, 2}, {3, -1}, {0.5, 4}, {-2, 1}, {7, 0.25}}, [][]float64{{1}, {2}, {-1}, {0.5}, {3}}
	w := []float64{1, 0.5, 2, 1, 3}
	const gamma = 0.3
	for _, intercept := range []bool{false, true} {
		left, err := leaveOut(refbig.New(x, y, w, intercept), gamma, refbig.Float(7.5))
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			others := slices.Clone(w)
			others[i] = 0
			rest, err := refbig.New(x, y, others, intercept).Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			r := sub(refbig.Float(y[i][0]), rest.Intercept[0])
			for k, v := range x[i] {
				r = sub(r, mul(refbig.Float(v), rest.Coef[0][k]))
			}
			want := mul(refbig.Float(w[i]), mul(r, r))
			got, scale := left.squared(x[i], y[i], refbig.Float(w[i]))
			off := sub(got[0], want)
			if off.Abs(off).Cmp(new(big.Float).SetMantExp(scale[0], -400)) > 0 {
				t.Errorf("intercept %v, row %d: %v, by leaving it out %v", intercept, i, got[0], want)
			}
		}
	}
}
