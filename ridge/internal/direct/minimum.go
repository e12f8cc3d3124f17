package direct

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Dependence is a column that is a linear combination of earlier columns, up to round-off.
type Dependence struct {
	Column  int
	On      []int     // the earlier columns in the combination; empty for a zero column
	Factors []float64 // the factor of each column in On
	// Underflow is true if the column is so small that products with it underflow. Then the column may be independent
	// after all, because underflow can hide this.
	Underflow bool
}

// leastNorm is a limit for the norm of a column. Above it, neither products with the column nor their rounding
// errors underflow.
const leastNorm = 0x1p-480

// leastShare is a share of the norm of a dependent column. Only terms of the linear combination whose norms are
// above this share are reported.
const leastShare = 1e-6

// MinimumNorm returns the shortest least-squares solution (γ = 0), and the columns that depend on earlier columns.
// If there is no such column, both results are nil. s must come from [NewQR].
//
// Columns are examined in order. Let a be a column, and s the closest linear combination of earlier independent
// columns. The column counts as dependent if ‖a − s‖ is at most the round-off bound of a − s. Hence the rank is
// decided up to round-off, and is not proved. The independent columns give one least-squares solution. Together
// with the combinations it gives all least-squares solutions; see shortest.
//
// Source: G. Golub and C. Van Loan, Matrix Computations, 4th ed. (2013), sections 5.2 and 5.5.
func (s *System) MinimumNorm() (*certify.Factored, []Dependence) {
	e := s.f.(*tsqr)
	d := e.d
	t := e.t
	q := e.d + e.t
	round := make([]float64, d)
	for j := range round {
		round[j] = e.backward(j) + s.evidence.Displaced[j]
	}

	independent := newBasis(d)
	var kept []int
	var dependent []Dependence
	combinations := make([][]float64, d) // for each dependent column, the factors of the kept columns
	for k := range d {
		v := make([]float64, d)
		for i := range k + 1 {
			v[i] = e.r[i*q+k]
		}
		parts := independent.split(v)
		factors := independent.solve(parts)

		allowed := round[k]
		for i, j := range kept {
			allowed += math.Abs(factors[i]) * round[j]
		}
		if vec.Norm(v) > allowed {
			independent.add(v, parts)
			kept = append(kept, k)
			continue
		}

		combinations[k] = factors
		found := Dependence{
			Column:    k,
			Underflow: 0 < e.col[k] && e.col[k] < leastNorm,
		}
		for i, j := range kept[:len(factors)] {
			if math.Abs(factors[i])*e.col[j] > leastShare*e.col[k] {
				found.On = append(found.On, j)
				found.Factors = append(found.Factors, factors[i])
			}
		}
		dependent = append(dependent, found)
	}
	if dependent == nil {
		return nil, nil
	}

	shorten := shortest(d, kept, combinations)
	out := &certify.Factored{
		X:        make([]float64, t*d),
		Data:     make([]float64, q),
		Residual: make([]float64, t*d),
		RSS:      make([]float64, t),
		RSSRound: make([]float64, t),
	}
	for j := range q {
		out.Data[j] = e.backward(j)
	}
	v := make([]float64, q)
	for j := range t {
		z := make([]float64, d)
		for i := range z {
			z[i] = e.r[i*q+d+j]
		}
		x := out.X[j*d : (j+1)*d]
		shorten(independent.solve(independent.split(z)), x)

		norm := vec.Norm(e.residual(v, x, j))
		out.RSS[j] = norm * norm
		out.RSSRound[j] = float64(q+4) * roundoff.Unit * out.RSS[j]
	}
	return out, dependent
}

// shortest returns a function that overwrites x (length d) with the shortest least-squares solution. The columns in
// kept are linearly independent. The argument w of the function is the solution that uses only these columns. For
// every other column k, combinations[k] holds the factors with which the kept columns give column k.
//
// Let C have these factors as its columns. The solutions are all x with W·x = w, where W = [I C] after a reordering
// of the columns. The shortest one is x = Wᵀ(WWᵀ)⁻¹w. It is computed from an orthonormal basis of the rows of
// W. So no subtraction loses digits, whatever the units of the columns are.
func shortest(
	d int,
	kept []int,
	combinations [][]float64,
) func(w, x []float64) {
	rows := newBasis(d)
	for i, j := range kept {
		v := make([]float64, d)
		v[j] = 1
		for k, factors := range combinations {
			if i < len(factors) {
				v[k] = factors[i]
			}
		}
		rows.add(v, rows.split(v))
	}
	return func(w, x []float64) {
		clear(x)
		for i, y := range rows.solveTransposed(w) {
			vec.Axpy(y, rows.vector(i), x)
		}
	}
}

// A basis is a list of orthonormal vectors q₁, q₂, …. They are computed from linearly independent vectors v₁,
// v₂, …, which satisfy vⱼ = t₁ⱼq₁ + … + tⱼⱼqⱼ.
type basis struct {
	d int
	q []float64   // the vectors, one after the other
	t [][]float64 // column j holds t₁ⱼ to tⱼⱼ
}

func newBasis(d int) *basis { return &basis{d: d} }

// vector returns vector i of the basis.
func (b *basis) vector(i int) []float64 {
	return b.q[i*b.d : (i+1)*b.d]
}

// split subtracts from v its projection onto the basis, and returns the coordinates of this projection. It projects
// twice, so that the rest is orthogonal to the basis up to round-off (L. Giraud et al., Numer. Math. 101, 2005).
func (b *basis) split(v []float64) []float64 {
	parts := make([]float64, len(b.t))
	for range 2 {
		for i := range parts {
			h := vec.Dot(b.vector(i), v)
			vec.Axpy(-h, b.vector(i), v)
			parts[i] += h
		}
	}
	return parts
}

// add appends v/‖v‖ to the basis. split must have been called with v before, and parts is its result.
func (b *basis) add(v, parts []float64) {
	norm := vec.Norm(v)
	for i := range v {
		v[i] /= norm
	}
	b.q = append(b.q, v...)
	b.t = append(b.t, append(parts, norm))
}

// solve returns w such that Σ wⱼvⱼ = Σ hᵢqᵢ, where vⱼ and qᵢ are the vectors in the comment of [basis].
func (b *basis) solve(h []float64) []float64 {
	w := slices.Clone(h)
	for j := len(w) - 1; j >= 0; j-- {
		w[j] /= b.t[j][j]
		vec.Axpy(-w[j], b.t[j][:j], w[:j])
	}
	return w
}

// solveTransposed returns y such that x = Σ yᵢqᵢ satisfies vⱼᵀx = wⱼ for all j. vⱼ and qᵢ are the
// vectors in the comment of [basis].
func (b *basis) solveTransposed(w []float64) []float64 {
	y := slices.Clone(w)
	for j := range y {
		y[j] = (y[j] - vec.Dot(b.t[j][:j], y[:j])) / b.t[j][j]
	}
	return y
}
