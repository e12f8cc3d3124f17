package ridgetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge"
)

// A trial is a problem and its fit.
type trial struct {
	Solver
	problem
	r         *rand.Rand
	gamma     float64
	intercept bool
	fit       *ridge.Solution
}

// relations lists the changes of the data whose effect on the fit is known.
var relations = []struct {
	name  string
	holds func(t *testing.T, c trial)
}{
	{"Halved", halved},
	{"Stacked", stacked}, {"Scaled", scaled}, {"PermutedRows", permutedRows}, {"RotatedColumns", rotatedColumns},
	{"PointOfPath", pointOfPath}, {"OneTarget", oneTarget}, {"Weights", weights}, {"CentredByHand", centredByHand},
	{"Sparse", sparse}, {"Blocks", otherBlocks},
}

// trials is the number of problems for each relation.
const trials = 8

// related checks a relation on random problems.
func (s Solver) related(t *testing.T, holds func(*testing.T, trial)) {
	for seed := range uint64(2 * trials) {
		r := rand.New(rand.NewPCG(seed/2, 11))
		c := trial{Solver: s, r: r, intercept: seed%2 == 1}
		n, d := 3+r.IntN(58), 1+r.IntN(9)
		c.problem = draw(r, "gaussian", n, d, 1+r.IntN(3))
		c.block = 1 + r.IntN(n+1)
		for i := range n {
			c.x.Set(i, r.IntN(d), 0) // zeros for the sparse format
			for j := range d {
				if c.x.At(i, j) != 0 {
					c.x.Set(i, j, c.x.At(i, j)+0.5) // nonzero means
				}
			}
		}
		_, _, mean := c.eigenvalues(c.intercept)
		least := s.gammas(mean)[0]
		c.gamma = least * math.Pow(100*mean/least, r.Float64())
		c.fit = c.solve(t, c.problem, []float64{c.gamma}, c.intercept)[0]
		holds(t, c)
		if t.Failed() {
			t.Fatalf("seed %d: %v, γ = %g, intercept %v", seed, c.problem, c.gamma, c.intercept)
		}
	}
}

// same compares want with the fit of c's solver to p with the penalty gamma.
func (c trial) same(t *testing.T, what string, want *ridge.Solution, p problem, gamma float64) {
	t.Helper()
	Near(t, what, want, c.solve(t, p, []float64{gamma}, c.intercept)[0], c.within(p, gamma))
}

func (c trial) within(p problem, gamma float64) float64 {
	was, is := c.condition(c.gamma, c.intercept), p.condition(gamma, c.intercept)
	n, d, _ := p.dims()
	return c.tol(was) + c.tol(is) + 8*eps*math.Sqrt(float64(n*d))*math.Max(was, is)
}

// with returns the fit of c with other coefficients.
func (c trial) with(coef *mat.Dense) *ridge.Solution {
	out := &ridge.Solution{Targets: slices.Clone(c.fit.Targets)}
	for j := range out.Targets {
		out.Targets[j].Coef = coef.RawRowView(j)
	}
	return out
}

// halved tests a copy of each column. If the features X are replaced by [X X]/2 and γ is halved, the coefficients x
// must become [x; x].
func halved(t *testing.T, c trial) {
	p := c.problem
	p.x = new(mat.Dense)
	p.x.Augment(c.x, c.x)
	p.x.Scale(0.5, p.x)
	var coef mat.Dense
	coef.Augment(c.fit.Coef(), c.fit.Coef())
	c.same(t, "[X X]/2 at γ/2", c.with(&coef), p, c.gamma/2)
}

// stacked: repeated rows at 2γ give the same fit.
func stacked(t *testing.T, c trial) {
	p := c.problem
	p.x, p.y = new(mat.Dense), new(mat.Dense)
	p.x.Stack(c.x, c.x)
	p.y.Stack(c.y, c.y)
	c.same(t, "[X; X], [y; y] at 2γ", c.fit, p, 2*c.gamma)
}

// scaled multiplies the features and the targets by f, a power of two, and γ by f². It also multiplies the targets
// alone by f. Such a change is exact in floating point, so the fit must change exactly.
func scaled(t *testing.T, c trial) {
	f := math.Exp2(float64(c.r.IntN(81) - 40))
	p := c.problem
	p.x, p.y = new(mat.Dense), new(mat.Dense)
	p.x.Scale(f, c.x)
	p.y.Scale(f, c.y)
	Bitwise(t, "X and y scaled", c.fit, c.solve(t, p, []float64{c.gamma * f * f}, c.intercept)[0], 1, f)
	p.x = c.x
	Bitwise(t, "y scaled", c.fit, c.solve(t, p, []float64{c.gamma}, c.intercept)[0], f, f)
}

func permutedRows(t *testing.T, c trial) {
	n, _, _ := c.dims()
	c.same(t, "rows permuted", c.fit, c.pick(c.r.Perm(n)), c.gamma)
}

// rotatedColumns multiplies the features X from the right by an orthogonal matrix Q. The coefficients x must become
// Qᵀx.
func rotatedColumns(t *testing.T, c trial) {
	_, d, _ := c.dims()
	var qr mat.QR
	qr.Factorize(normal(c.r, d, d))
	var q mat.Dense
	qr.QTo(&q)
	p := c.problem
	p.x = new(mat.Dense)
	p.x.Mul(c.x, &q)
	var coef mat.Dense
	coef.Mul(c.fit.Coef(), &q)
	c.same(t, "columns rotated", c.with(&coef), p, c.gamma)
}

func pointOfPath(t *testing.T, c trial) {
	path := c.solve(t, c.problem, []float64{7 * c.gamma, c.gamma, 1.5 * c.gamma}, c.intercept)
	if c.Tol == 0 {
		Bitwise(t, "a point of a path", c.fit, path[1], 1, 1)
	} else {
		Near(t, "a point of a path", c.fit, path[1], c.within(c.problem, c.gamma))
	}
}

func oneTarget(t *testing.T, c trial) {
	n, _, k := c.dims()
	for j := range k {
		p := c.problem
		p.y = mat.NewDense(n, 1, mat.Col(nil, j, c.y))
		c.same(t, "one target alone", &ridge.Solution{Targets: c.fit.Targets[j : j+1]}, p, c.gamma)
	}
}

// weights tests that a row of weight k has the same effect as k equal rows of weight 1.
func weights(t *testing.T, c trial) {
	if c.Unweighted {
		t.Skip("the solver does not support sample weights")
	}
	n, _, _ := c.dims()
	weighted := c.problem
	var repeated []int
	for i := range n {
		k := c.r.IntN(4)
		if i == 0 {
			k = 1 // at least one row
		}
		weighted.w = append(weighted.w, float64(k))
		for range k {
			repeated = append(repeated, i)
		}
	}
	plain := c.pick(repeated)
	c.problem = plain
	c.fit = c.solve(t, plain, []float64{c.gamma}, c.intercept)[0]
	c.same(t, "weights", c.fit, weighted, c.gamma)
	weighted.sparse = true
	c.same(t, "weights of sparse rows", c.fit, weighted, c.gamma)
}

// centredByHand tests the intercept. A fit without an intercept to centred rows must give the same coefficients.
func centredByHand(t *testing.T, c trial) {
	if !c.intercept {
		return
	}
	p, mx, my := c.centred(true)
	hand := c.solve(t, p, []float64{c.gamma}, false)[0]
	for j := range my {
		hand.Targets[j].Intercept = my[j]
		for i, w := range hand.Targets[j].Coef {
			hand.Targets[j].Intercept -= w * mx[i]
		}
	}
	Near(t, "centred by hand", c.fit, hand, c.within(c.problem, c.gamma))
}

func sparse(t *testing.T, c trial) {
	p := c.problem
	p.sparse = true
	f := c.solve(t, p, []float64{c.gamma}, c.intercept)[0]
	if c.Tol == 0 {
		Bitwise(t, "sparse rows", c.fit, f, 1, 1)
	} else {
		Near(t, "sparse rows", c.fit, f, c.within(p, c.gamma))
	}
}

func otherBlocks(t *testing.T, c trial) {
	n, _, _ := c.dims()
	p := c.problem
	p.block = 1 + c.r.IntN(n+1)
	c.same(t, "other blocks", c.fit, p, c.gamma)
}
