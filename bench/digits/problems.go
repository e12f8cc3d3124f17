package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/nist"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// A problem is a ridge regression with one target, or least squares if γ = 0, with the exact solution for the float64
// data.
type problem struct {
	name, about string
	x, y        [][]float64 // n×d, n×1
	gamma       float64
	intercept   bool
	sparse      bool      // passed as sparse rows
	certified   []float64 // NIST's values: the intercept, if any, then the coefficients

	coef     []*big.Float
	offset   *big.Float // the intercept
	kappa    float64    // condition number of A, centred if there is an intercept; +Inf for n < d
	kappaOfH float64    // of AᵀA + γI
}

// solve computes the exact solution and the condition numbers.
func (p *problem) solve() error {
	ref := refbig.New(p.x, p.y, nil, p.intercept)
	exact, err := ref.Solve(p.gamma)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.coef, p.offset = exact.Coef[0], exact.Intercept[0]
	lambda := refbig.Eigenvalues(ref.K)
	least, _ := lambda[0].Float64()
	most, _ := lambda[len(lambda)-1].Float64()
	p.kappa, p.kappaOfH = math.Inf(1), (most+p.gamma)/(max(least, 0)+p.gamma)
	if len(p.x) >= len(p.x[0]) {
		p.kappa = math.Sqrt(most / least)
	}
	return nil
}

// source returns the rows.
func (p *problem) source() (dataset.Source, error) {
	n, d := len(p.x), len(p.x[0])
	var x, y []float64
	csr := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i, row := range p.x {
		x, y = append(x, row...), append(y, p.y[i]...)
		for j, v := range row {
			if v != 0 {
				csr.ColIdx, csr.Val = append(csr.ColIdx, int32(j)), append(csr.Val, v)
			}
		}
		csr.RowPtr = append(csr.RowPtr, len(csr.Val))
	}
	if p.sparse {
		return dataset.FromCSR(csr, 1, y)
	}
	return dataset.FromDense(n, d, 1, x, y)
}

// nistProblem returns one of NIST's Statistical Reference Datasets.
func nistProblem(name string) (*problem, error) {
	s, err := nist.Read(name)
	if err != nil {
		return nil, err
	}
	p := &problem{name: name, x: s.X, y: s.Y, intercept: s.Intercept, certified: s.Certified}
	return p, p.solve()
}

// A recipe describes a generated problem. The singular values of A fall geometrically from 10 to 10/cond, and y = A·w
// + noise·e for standard normal w and e.
type recipe struct {
	about     string
	n, d      int
	cond      float64
	gamma     float64
	noise     float64
	intercept bool
	offset    float64 // added to every entry of A and of y
	units     float64 // columns are scaled by powers from 1 to units
	density   float64 // of a sparse A, whose columns instead of singular values fall to 10/cond; 0: dense
}

var recipes = []recipe{
	{about: "well-conditioned", n: 200, d: 20, cond: 1e1, gamma: 1, noise: 1},
	{
		about:     "centred, means near 1000",
		n:         200,
		d:         20,
		cond:      1e2,
		gamma:     1e-2,
		noise:     0.1,
		intercept: true,
		offset:    1e3,
	},
	{about: "sparse", n: 400, d: 30, cond: 1e3, gamma: 1e-3, noise: 0.1, density: 0.1},
	{about: "more features than rows", n: 20, d: 40, cond: 1e2, gamma: 1e-4, noise: 0.1},
	{about: "a γ that tames it", n: 200, d: 20, cond: 1e8, gamma: 1e-2, noise: 0.1},
	{about: "tiny γ", n: 200, d: 20, cond: 1e5, gamma: 1e-8, noise: 1e-3},
	{about: "columns in units from 1 to 1e6", n: 200, d: 20, cond: 1e2, gamma: 1e-4, noise: 0.1, units: 1e6},
	{
		about:     "centred, means near 1e6",
		n:         200,
		d:         20,
		cond:      1e4,
		gamma:     1e-6,
		noise:     1e-2,
		intercept: true,
		offset:    1e6,
	},
	{about: "tiny γ", n: 200, d: 20, cond: 1e7, gamma: 1e-12, noise: 1e-6},
	{about: "tiny γ", n: 200, d: 20, cond: 1e10, gamma: 1e-14, noise: 1e-6},
}

// gradedProblem returns the problem of recipe i. Its name is i+1.
func gradedProblem(i int) (*problem, error) {
	p := recipes[i].problem(rand.New(rand.NewPCG(20, uint64(i))))
	p.name = fmt.Sprint(i + 1)
	return p, p.solve()
}

func (r recipe) problem(rng *rand.Rand) *problem {
	p := &problem{about: r.about, gamma: r.gamma, intercept: r.intercept, sparse: r.density > 0}
	if p.sparse {
		p.x = r.scattered(rng)
	} else {
		p.x = r.dense(rng)
	}
	w := make([]float64, r.d)
	for j := range w {
		w[j] = rng.NormFloat64()
	}
	for _, row := range p.x {
		v := r.noise * rng.NormFloat64()
		for j := range row {
			v += float64(row[j] * w[j])
		}
		p.y = append(p.y, []float64{v + r.offset})
	}
	for _, row := range p.x {
		for j := range row {
			if !p.sparse {
				row[j] += r.offset
			}
			if r.units > 0 {
				row[j] *= math.Pow(r.units, fraction(j, r.d))
			}
		}
	}
	return p
}

// dense returns UΣVᵀ for random U and V with orthonormal columns.
func (r recipe) dense(rng *rand.Rand) [][]float64 {
	k := min(r.n, r.d)
	u, v := orthonormal(rng, k, r.n), orthonormal(rng, k, r.d)
	x := make([][]float64, r.n)
	for i := range x {
		x[i] = make([]float64, r.d)
		for l := range k {
			s := float64(u[l][i] * r.falling(l, k))
			for j := range x[i] {
				x[i][j] += float64(s * v[l][j])
			}
		}
	}
	return x
}

// scattered returns normal numbers at random places of the given density.
func (r recipe) scattered(rng *rand.Rand) [][]float64 {
	x := make([][]float64, r.n)
	for i := range x {
		x[i] = make([]float64, r.d)
		for j := range x[i] {
			if rng.Float64() < r.density {
				x[i][j] = rng.NormFloat64() * r.falling(j, r.d)
			}
		}
	}
	return x
}

// falling returns the l-th of k numbers from 10 to 10/cond.
func (r recipe) falling(l, k int) float64 { return 10 * math.Pow(r.cond, -fraction(l, k)) }

// fraction returns l/(k−1).
func fraction(l, k int) float64 { return float64(l) / float64(k-1) }

// orthonormal returns k ≤ n orthonormal random vectors of length n, by the Gram-Schmidt method with two passes.
func orthonormal(rng *rand.Rand, k, n int) [][]float64 {
	var q [][]float64
	for range k {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		for range 2 {
			for _, u := range q {
				s := dot(u, v)
				for i := range v {
					v[i] -= float64(s * u[i])
				}
			}
		}
		norm := math.Sqrt(dot(v, v))
		for i := range v {
			v[i] /= norm
		}
		q = append(q, v)
	}
	return q
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += float64(x[i] * y[i])
	}
	return s
}
