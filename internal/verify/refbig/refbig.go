// Package refbig computes reference results of ridge regression for tests, in 512-bit arithmetic. Rows may have
// weights, and there may be an intercept. The package is slow and meant for at most a few dozen features.
//
// The float64 of the data count as exact. For d features, the solution takes O(d³) operations, and its statistics
// take about as many.
package refbig

import (
	"errors"
	"math/big"
)

// Prec is the precision of all arithmetic in bits.
const Prec = 512

// ErrSingular reports that the equations have no unique solution, because columns without penalty are linearly
// dependent. If the ridge penalty γ is 0, no column has a penalty.
var ErrSingular = errors.New("refbig: singular")

// A Problem is to find the coefficients X, and optionally the intercept, that minimise
//
//	½‖W^{½}(AX + 1·intercept − Y)‖² + γ/2·‖X‖².
//
// A holds the rows, Y the targets and W the weights of the rows. γ is the ridge penalty. The Problem stores only
// the moments AᵀWA, AᵀWY and YᵀWY. With an intercept, the weighted means of the columns are subtracted first.
type Problem struct {
	N, D, T   int
	Intercept bool

	K, C  [][]*big.Float // d×d; t×d, each row AᵀWy of one target
	YY    []*big.Float   // ‖y‖² of each target
	MeanX []*big.Float   // zeros without an intercept
	MeanY []*big.Float

	// Penalty holds a factor for each column, by which γ is multiplied. nil means that all factors are 1. A column
	// with the factor 0 adds 1 to EffectiveDimension.
	Penalty []float64
}

// New returns the Problem for n rows x of d features, their t targets y, and the weights w of the rows. If w is
// nil, all weights are 1.
func New(x, y [][]float64, w []float64, intercept bool) *Problem {
	weights := make([]*big.Float, len(x))
	for i := range x {
		weights[i] = Float(1)
		if w != nil {
			weights[i] = Float(w[i])
		}
	}
	return NewWeighted(x, y, weights, intercept)
}

// NewWeighted returns a Problem like New, but accepts weights that float64 cannot represent, for example sums of
// weights.
func NewWeighted(x, y [][]float64, w []*big.Float, intercept bool) *Problem {
	p := &Problem{N: len(x), D: len(x[0]), T: len(y[0]), Intercept: intercept}
	p.MeanX, p.MeanY = vector(p.D), vector(p.T)
	// The row with the largest weight is first subtracted from all rows. Therefore a constant that is common to all
	// rows cancels exactly.
	originX, originY := vector(p.D), vector(p.T)
	deltaX, deltaY := vector(p.D), vector(p.T)
	if intercept {
		heaviest, total := 0, Float(0)
		for i := range w {
			total = add(total, w[i])
			if w[i].Cmp(w[heaviest]) > 0 {
				heaviest = i
			}
		}
		if total.Sign() > 0 {
			originX, originY = vectorOf(x[heaviest]), vectorOf(y[heaviest])
		}
		for i := range x {
			for j, v := range x[i] {
				deltaX[j] = add(deltaX[j], mul(w[i], sub(Float(v), originX[j])))
			}
			for j, v := range y[i] {
				deltaY[j] = add(deltaY[j], mul(w[i], sub(Float(v), originY[j])))
			}
		}
		for j := range deltaX {
			if total.Sign() > 0 {
				deltaX[j] = quo(deltaX[j], total)
			}
			p.MeanX[j] = add(originX[j], deltaX[j])
		}
		for j := range deltaY {
			if total.Sign() > 0 {
				deltaY[j] = quo(deltaY[j], total)
			}
			p.MeanY[j] = add(originY[j], deltaY[j])
		}
	}
	p.K, p.C, p.YY = matrix(p.D, p.D), matrix(p.T, p.D), vector(p.T)
	cx, cy := vector(p.D), vector(p.T)
	weighted, product := new(big.Float), new(big.Float)
	for i := range x {
		for j, v := range x[i] {
			cx[j].Sub(cx[j].SetFloat64(v), originX[j])
			cx[j].Sub(cx[j], deltaX[j])
		}
		for j, v := range y[i] {
			cy[j].Sub(cy[j].SetFloat64(v), originY[j])
			cy[j].Sub(cy[j], deltaY[j])
		}
		for a := range p.D {
			weighted.Mul(w[i], cx[a])
			for b := range a + 1 {
				p.K[a][b].Add(p.K[a][b], product.Mul(weighted, cx[b]))
			}
			for b := range p.T {
				p.C[b][a].Add(p.C[b][a], product.Mul(weighted, cy[b]))
			}
		}
		for b := range p.T {
			p.YY[b].Add(p.YY[b], product.Mul(w[i], product.Mul(cy[b], cy[b])))
		}
	}
	for a := range p.D {
		for b := range a {
			p.K[b][a] = p.K[a][b]
		}
	}
	return p
}

// A Solution holds the results of ridge regression for one penalty γ.
type Solution struct {
	Coef               [][]*big.Float // t×d
	Intercept          []*big.Float   // t
	EffectiveDimension *big.Float     // tr(H⁻¹K)
	RSS                []*big.Float   // ‖Ax* − b‖² of each target
	Objective          []*big.Float   // ½RSS + γ/2·‖x*‖²
	GCV                []*big.Float   // n·RSS/(n − df − [intercept])²; nil where n = df
}

// Solve computes the solution for the ridge penalty γ ≥ 0. It uses the factors LDLᵀ that [Problem.Factor] returns.
func (p *Problem) Solve(gamma float64) (*Solution, error) {
	g := Float(gamma)
	l, err := p.Factor(g)
	if err != nil {
		return nil, err
	}
	s := &Solution{EffectiveDimension: Float(0)}
	for j := range p.D {
		s.EffectiveDimension = add(s.EffectiveDimension, solve(l, p.K[j])[j])
	}
	n := new(big.Float).SetPrec(Prec).SetInt64(int64(p.N))
	free := sub(n, s.EffectiveDimension)
	if p.Intercept {
		free = sub(free, Float(1))
	}
	tiny := new(big.Float).SetMantExp(n, -Prec+112) // round-off of n − df = 0
	for j := range p.T {
		x := solve(l, p.C[j])
		s.Coef = append(s.Coef, x)
		s.Intercept = append(s.Intercept, sub(p.MeanY[j], dot(p.MeanX, x)))
		rss := p.rss(j, x)
		s.RSS = append(s.RSS, rss)
		squares := Float(0)
		for i, v := range x {
			squares = add(squares, mul(p.penalty(i), mul(v, v)))
		}
		s.Objective = append(s.Objective, mul(Float(0.5), add(rss, mul(g, squares))))
		var gcv *big.Float
		if free.Cmp(tiny) > 0 {
			gcv = quo(mul(n, rss), mul(free, free))
		}
		s.GCV = append(s.GCV, gcv)
	}
	return s, nil
}

// RSS returns the weighted residual sum of squares of target j for any coefficients x. If the problem has an
// intercept, it is chosen so that the sum is smallest.
func (p *Problem) RSS(j int, x []float64) *big.Float { return p.rss(j, vectorOf(x)) }

func (p *Problem) rss(j int, x []*big.Float) *big.Float {
	r := sub(p.YY[j], mul(Float(2), dot(p.C[j], x)))
	for i := range x {
		r = add(r, mul(x[i], dot(p.K[i], x)))
	}
	return r
}

// Gradient returns (K + γI)x − c for target j, where K = AᵀWA and c = AᵀWy are the moments of the [Problem].
// If all penalty factors are 1, this is the gradient of the ridge objective at the coefficients x.
func (p *Problem) Gradient(gamma float64, j int, x []float64) []*big.Float {
	v, out := vectorOf(x), vector(p.D)
	for i := range out {
		out[i] = sub(add(dot(p.K[i], v), mul(Float(gamma), v[i])), p.C[j][i])
	}
	return out
}

// Energy returns ‖(K + γI)^{½}(x − y)‖₂.
func (p *Problem) Energy(gamma float64, x []float64, y []*big.Float) *big.Float {
	off, total := vectorOf(x), Float(0)
	for i := range off {
		off[i] = sub(off[i], y[i])
	}
	for i, v := range off {
		total = add(total, mul(v, add(mul(Float(gamma), v), dot(p.K[i], off))))
	}
	if total.Sign() < 0 { // round-off
		return Float(0)
	}
	return new(big.Float).Sqrt(total)
}

// Distance returns ‖x − y‖₂ rounded to float64.
func Distance(x []float64, y []*big.Float) float64 {
	v := vectorOf(x)
	for i := range v {
		v[i] = sub(v[i], y[i])
	}
	return Norm(v)
}

// Norm returns ‖x‖₂ rounded to float64.
func Norm(x []*big.Float) float64 {
	f, _ := new(big.Float).SetPrec(Prec).Sqrt(dot(x, x)).Float64()
	return f
}

// Factor factorises K + γP = LDLᵀ, where K = AᵀWA, and P is the diagonal matrix of p.Penalty or the identity. It
// returns one matrix. The diagonal of this matrix holds the diagonal matrix D. The entries below the diagonal hold
// L, which is lower triangular and has a diagonal of ones.
func (p *Problem) Factor(gamma *big.Float) ([][]*big.Float, error) {
	l, product := matrix(p.D, p.D), new(big.Float)
	for i := range p.D {
		for j := range i + 1 {
			v := new(big.Float).Copy(p.K[i][j])
			if i == j {
				v.Add(v, mul(gamma, p.penalty(i)))
			}
			for k := range j {
				product.Mul(product.Mul(l[i][k], l[j][k]), l[k][k])
				v.Sub(v, product)
			}
			if i > j {
				l[i][j] = quo(v, l[j][j])
				continue
			}
			// Dependent columns leave a round-off of about 2⁻⁵⁰⁰.
			noise := new(big.Float).SetMantExp(add(p.K[i][i], gamma), -Prec+112)
			if v.Cmp(noise) <= 0 {
				return nil, ErrSingular
			}
			l[i][i] = v
		}
	}
	return l, nil
}

func (p *Problem) penalty(i int) *big.Float {
	if p.Penalty == nil {
		return Float(1)
	}
	return Float(p.Penalty[i])
}

func solve(l [][]*big.Float, b []*big.Float) []*big.Float {
	x := Forward(l, b)
	product := new(big.Float)
	for i := len(x) - 1; i >= 0; i-- {
		x[i].Quo(x[i], l[i][i])
		for k := i + 1; k < len(x); k++ {
			x[i].Sub(x[i], product.Mul(l[k][i], x[k]))
		}
	}
	return x
}

// Forward returns L⁻¹b, where the matrix l holds the factors L and D as [Problem.Factor] returns them.
func Forward(l [][]*big.Float, b []*big.Float) []*big.Float {
	x := make([]*big.Float, len(b))
	product := new(big.Float)
	for i := range x {
		x[i] = new(big.Float).Copy(b[i])
		for k := range i {
			x[i].Sub(x[i], product.Mul(l[i][k], x[k]))
		}
	}
	return x
}

// Float returns x exactly, with the package's precision.
func Float(x float64) *big.Float { return new(big.Float).SetPrec(Prec).SetFloat64(x) }

// Float64s rounds each element to float64.
func Float64s(x []*big.Float) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i], _ = v.Float64()
	}
	return out
}

func add(a, b *big.Float) *big.Float { return new(big.Float).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).Quo(a, b) }

func dot(a, b []*big.Float) *big.Float {
	s, product := Float(0), new(big.Float)
	for i := range a {
		s.Add(s, product.Mul(a[i], b[i]))
	}
	return s
}

func vector(n int) []*big.Float { return vectorOf(make([]float64, n)) }

func vectorOf(x []float64) []*big.Float {
	out := make([]*big.Float, len(x))
	for i, v := range x {
		out[i] = Float(v)
	}
	return out
}

func matrix(r, c int) [][]*big.Float {
	out := make([][]*big.Float, r)
	for i := range out {
		out[i] = vector(c)
	}
	return out
}

// A Table holds the rows X of a ridge problem, their targets Y and their weights W. If W is nil, all weights are 1.
// Penalty holds a factor of the ridge penalty for each column; nil means that all factors are 1.
type Table struct {
	X, Y      [][]float64
	W         []float64
	Penalty   []float64
	Intercept bool
}

// HeldOut returns the cross-validation error of target j. Each row is predicted by the fit to the rows of all other
// folds, and the weighted squared errors are added up. The argument foldOf returns the fold of a row, from 0 to
// folds−1. The result is nil if the equations of a fit are singular.
func (t *Table) HeldOut(gamma float64, j, folds int, foldOf func(row int) int) *big.Float {
	sum := Float(0)
	for fold := range folds {
		rest := Table{Penalty: t.Penalty, Intercept: t.Intercept}
		for i := range t.X {
			if foldOf(i) == fold {
				continue
			}
			rest.X, rest.Y = append(rest.X, t.X[i]), append(rest.Y, t.Y[i])
			if t.W != nil {
				rest.W = append(rest.W, t.W[i])
			}
		}
		problem := New(rest.X, rest.Y, rest.W, rest.Intercept)
		problem.Penalty = rest.Penalty
		s, err := problem.Solve(gamma)
		if err != nil {
			return nil
		}
		for i, row := range t.X {
			if foldOf(i) != fold {
				continue
			}
			e := sub(Float(t.Y[i][j]), s.Intercept[j])
			for c, v := range row {
				e.Sub(e, mul(Float(v), s.Coef[j][c]))
			}
			e.Mul(e, e)
			if t.W != nil {
				e.Mul(e, Float(t.W[i]))
			}
			sum.Add(sum, e)
		}
	}
	return sum
}

// LeftOut returns the leave-one-out error of target j, see ridge.LeaveOneOut. It is nil if the equations of a fit
// are singular.
func (t *Table) LeftOut(gamma float64, j int) *big.Float {
	n := len(t.X)
	sum := t.HeldOut(gamma, j, n, func(row int) int { return row })
	if sum == nil {
		return nil
	}
	return sum.Quo(sum, Float(float64(n)))
}
