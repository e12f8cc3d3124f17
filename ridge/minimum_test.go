package ridge_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// nullSpace returns the rank of the rows, and a basis of the vectors v with row·v = 0 for each row. It reduces the
// rows to echelon form in rational arithmetic.
func nullSpace(rows [][]*big.Rat, d int) (rank int, null [][]*big.Rat) {
	var pivots []int
	for j := range d {
		at := -1
		for i := rank; i < len(rows); i++ {
			if rows[i][j].Sign() != 0 {
				at = i
				break
			}
		}
		if at < 0 {
			continue
		}
		rows[rank], rows[at] = rows[at], rows[rank]
		inverse := new(big.Rat).Inv(rows[rank][j])
		for k := range d {
			rows[rank][k] = new(big.Rat).Mul(rows[rank][k], inverse)
		}
		for i := range rows {
			if i == rank || rows[i][j].Sign() == 0 {
				continue
			}
			factor := rows[i][j]
			for k := range d {
				rows[i][k] = new(big.Rat).Sub(rows[i][k], new(big.Rat).Mul(factor, rows[rank][k]))
			}
		}
		pivots = append(pivots, j)
		rank++
	}
	isPivot := map[int]bool{}
	for _, j := range pivots {
		isPivot[j] = true
	}
	for j := range d {
		if isPivot[j] {
			continue
		}
		v := make([]*big.Rat, d)
		for k := range v {
			v[k] = new(big.Rat)
		}
		v[j] = big.NewRat(1, 1)
		for i, k := range pivots {
			v[k] = new(big.Rat).Neg(rows[i][j])
		}
		null = append(null, v)
	}
	return rank, null
}

// centredExactly returns the rows of x and y, with the means of the columns subtracted if intercept is true.
func centredExactly(x, y [][]float64, intercept bool) (a, b [][]*big.Rat) {
	subtract := func(in [][]float64) [][]*big.Rat {
		out := make([][]*big.Rat, len(in))
		for i := range in {
			out[i] = make([]*big.Rat, len(in[i]))
		}
		for j := range in[0] {
			mean := new(big.Rat)
			if intercept {
				for i := range in {
					mean.Add(mean, testkit.Rational(in[i][j]))
				}
				mean.Quo(mean, big.NewRat(int64(len(in)), 1))
			}
			for i := range in {
				out[i][j] = new(big.Rat).Sub(testkit.Rational(in[i][j]), mean)
			}
		}
		return out
	}
	return subtract(x), subtract(y)
}

// TestMinimumNorm compares QR at γ = 0 with rational arithmetic, on tables of integers with dependent columns or few
// rows. The rank is the exact rank. The solution is orthogonal to the null space, and its residual to the columns.
// The bracket of RSS holds the exact RSS of the returned coefficients, and the reported combinations hold.
func TestMinimumNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 2))
	dependent, wide := 0, 0
	for trial := range 400 {
		n, d, targets := 1+rng.IntN(12), 1+rng.IntN(8), 1+rng.IntN(2)
		intercept := trial%2 == 0
		x, y := make([][]float64, n), make([][]float64, n)
		for i := range x {
			x[i], y[i] = make([]float64, d), make([]float64, targets)
			for j := range x[i] {
				x[i][j] = float64(rng.IntN(19) - 9)
			}
			for j := range y[i] {
				y[i][j] = float64(rng.IntN(199) - 99)
			}
		}
		for j := range d {
			switch {
			case rng.IntN(3) == 0 && j > 0: // a combination of earlier columns
				p, q := float64(rng.IntN(7)-3), float64(rng.IntN(7)-3)
				a, b := rng.IntN(j), rng.IntN(j)
				for i := range x {
					x[i][j] = p*x[i][a] + q*x[i][b]
				}
			case rng.IntN(8) == 0: // a constant column
				for i := range x {
					x[i][j] = 7
				}
			}
		}
		scale := math.Ldexp(1, 20*(rng.IntN(3)-1))
		unit := rng.IntN(d)
		for i := range x {
			x[i][unit] *= scale
		}

		fits, err := ridge.SolveExact(
			t.Context(),
			testkit.Table{X: x, Y: y},
			[]float64{0},
			ridge.ExactOptions{Method: ridge.QR, Intercept: intercept},
		)
		name := fmt.Sprintf("trial %d: %d×%d, intercept %v", trial, n, d, intercept)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, b := centredExactly(x, y, intercept)
		echelon, _ := centredExactly(x, y, intercept)
		rank, null := nullSpace(echelon, d)
		f := fits[0]
		if rank == d {
			if f.Status != ridge.Factorized || f.Rank != 0 {
				t.Errorf("%s: status %v and rank %d of independent columns", name, f.Status, f.Rank)
			}
			continue
		}
		dependent++
		if n < d {
			wide++
		}
		if f.Status != ridge.MinimumNorm || f.Rank != rank || len(f.Dependent) != d-rank {
			t.Errorf(
				"%s: status %v, rank %d and %d dependent columns, want rank %d",
				name,
				f.Status,
				f.Rank,
				len(f.Dependent),
				rank,
			)
			continue
		}
		for _, c := range f.Dependent {
			checkCombination(t, name, a, c)
		}
		for k, o := range f.Targets {
			checkMinimum(t, name, a, b, null, o, k)
		}
	}
	if dependent < 100 || wide < 30 {
		t.Errorf("only %d tables with dependent columns, and %d with fewer rows than columns", dependent, wide)
	}
}

// checkCombination checks that column c.Column of a is the reported combination of other columns, to 10⁻⁹.
func checkCombination(t *testing.T, name string, a [][]*big.Rat, c ridge.Dependence) {
	t.Helper()
	for i := range a {
		v, _ := a[i][c.Column].Float64()
		size := math.Abs(v)
		for k, j := range c.On {
			x, _ := a[i][j].Float64()
			v -= c.Factors[k] * x
			size += math.Abs(c.Factors[k] * x)
		}
		if !(math.Abs(v) <= 1e-9*size+1e-12) {
			t.Errorf(
				"%s: column %d is not the combination %v of %v: %v is left in row %d",
				name,
				c.Column,
				c.Factors,
				c.On,
				v,
				i,
			)
			return
		}
	}
}

// checkMinimum checks that o is the minimum-norm solution of target k, and that its bracket of RSS holds.
func checkMinimum(t *testing.T, name string, a, b, null [][]*big.Rat, o ridge.Target, k int) {
	t.Helper()
	d := len(o.Coef)
	gradient, sizes := make([]*big.Rat, d), make([]float64, d)
	for j := range gradient {
		gradient[j] = new(big.Rat)
	}
	rss := new(big.Rat)
	for i := range a {
		r := new(big.Rat).Neg(b[i][k])
		size, _ := b[i][k].Float64()
		size = math.Abs(size)
		for j, v := range o.Coef {
			term := new(big.Rat).Mul(a[i][j], testkit.Rational(v))
			r.Add(r, term)
			f, _ := term.Float64()
			size += math.Abs(f)
		}
		rss.Add(rss, new(big.Rat).Mul(r, r))
		for j := range d {
			gradient[j].Add(gradient[j], new(big.Rat).Mul(a[i][j], r))
			f, _ := a[i][j].Float64()
			sizes[j] += math.Abs(f) * size
		}
	}
	if rss.Cmp(testkit.Rational(o.RSS.Lo)) < 0 || rss.Cmp(testkit.Rational(o.RSS.Hi)) > 0 {
		exact, _ := rss.Float64()
		t.Errorf("%s: RSS is %v, outside of %v", name, exact, o.RSS)
	}
	for j, g := range gradient {
		v, _ := g.Float64()
		if !(math.Abs(v) <= 1e-10*sizes[j]) {
			t.Errorf("%s: the residual is not orthogonal to column %d: %v", name, j, v)
		}
	}
	if !math.IsInf(o.ErrorBound, 1) || !math.IsInf(o.RelativeErrorBound, 1) {
		t.Errorf("%s: the rank is not proved, but the error bound is %v", name, o.ErrorBound)
	}
	for _, v := range null {
		dot, square := new(big.Rat), 0.0
		for j, x := range o.Coef {
			dot.Add(dot, new(big.Rat).Mul(v[j], testkit.Rational(x)))
			f, _ := v[j].Float64()
			square += f * f
		}
		f, _ := dot.Float64()
		size := math.Sqrt(square) * mat.Norm(mat.NewVecDense(d, o.Coef), 2)
		if !(math.Abs(f) <= 1e-8*size) {
			t.Errorf("%s: the solution is not orthogonal to the null space: %v of %v", name, f, size)
		}
	}
}
