package direct

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// normalEquations accumulates [A Y]ᵀ[A Y], which holds K, c = AᵀY and YᵀY, fold
// by fold, and solves (K + γI)x = c by Cholesky's factorization.
//
// Each fold's product is formed apart and then added, so that no entry is the end of a
// chain of more than roundoff.StageRows + folds additions.
type normalEquations struct {
	be    engine.Backend
	d, t  int
	rows  []float64 // roundoff.StageRows×q
	sum   []float64 // q×q, lower triangle; K in full once folding has ended
	work  []float64 // q×q: a fold's share, later H and L
	col   []float64 // ‖column‖, q
	chain float64   // additions that an entry of sum is the end of
}

// NewCholesky streams K and c, and factors H = K + γI.
func NewCholesky(be engine.Backend, d, t int) Factorization {
	return newNormalEquations(be, d, t, roundoff.StageRows)
}

// newNormalEquations folds so many rows at a time.
func newNormalEquations(be engine.Backend, d, t, rows int) *normalEquations {
	q := d + t
	return &normalEquations{
		be: be, d: d, t: t, col: make([]float64, q),
		rows: make([]float64, rows*q), sum: make([]float64, q*q), work: make([]float64, q*q),
	}
}

func (e *normalEquations) buffer() []float64 { return e.rows }

func (e *normalEquations) fold(m int) {
	q := e.d + e.t
	e.be.Syrk(true, 1, engine.View(m, q, e.rows), 0, engine.View(q, q, e.work))
	for i := range q {
		floats.Add(e.sum[i*q:i*q+i+1], e.work[i*q:i*q+i+1])
	}
	if e.chain == 0 {
		e.chain = float64(m)
	}
	e.chain++
}

func (e *normalEquations) columns() []float64 {
	q := e.d + e.t
	mirror(e.d, e.sum, q)
	for j := range e.col {
		e.col[j] = math.Sqrt(e.sum[j*q+j] + roundoff.LostSquares)
	}
	return e.col
}

// mirror copies the strict lower triangle of the n×n matrix a to its upper one.
func mirror(n int, a []float64, lda int) {
	for i := range n {
		for j := range i {
			a[j*lda+i] = a[i*lda+j]
		}
	}
}

func (e *normalEquations) solve(gamma float64) (*certify.Factored, int) {
	d, t, q := e.d, e.t, e.d+e.t
	n := float64(d)
	for i := range d {
		copy(e.work[i*q:i*q+i+1], e.sum[i*q:i*q+i+1])
		e.work[i*q+i] += gamma
	}
	if pivot, ok := e.be.Cholesky(engine.Strided(d, d, e.work, q)); !ok {
		return nil, pivot
	}
	if gamma == 0 {
		// A pivot within the round-off of K is no evidence of independence.
		for i := range d {
			if l := e.work[i*q+i]; !(l*l > roundoff.Unit*roundoff.CholeskyPivot(e.chain, n)*e.sum[i*q+i]+roundoff.LostSquares) {
				return nil, i
			}
		}
	}
	x, r := make([]float64, t*d), make([]float64, t*d)
	e.crossProducts(x)
	e.be.CholeskySolve(engine.Strided(d, d, e.work, q), engine.View(t, d, x))
	e.crossProducts(r)
	vec.Axpy(-gamma, x, r)
	e.residuals(x, r)
	mirror(d, e.work, q)
	s := e.found(gamma, x, r)
	s.R, s.Ld = e.work, q
	s.Gram, s.Lost = roundoff.Unit*roundoff.CholeskyFactor(e.chain, n), n*roundoff.LostSquares
	return s, -1
}

// crossProducts overwrites x (t×d) with AᵀY, a target after the other.
func (e *normalEquations) crossProducts(x []float64) {
	q := e.d + e.t
	for j := range e.t {
		copy(x[j*e.d:(j+1)*e.d], e.sum[(e.d+j)*q:(e.d+j)*q+e.d])
	}
}

// residuals subtracts the products of K with the rows of x from those of r.
func (e *normalEquations) residuals(x, r []float64) {
	d, q, k := e.d, e.d+e.t, len(x)/e.d
	e.be.Gemm(false, false, -1, engine.View(k, d, x), engine.Strided(d, d, e.sum, q), 1, engine.View(k, d, r))
}

// found is what is known of the weights x at γ, t×d, where r = c − Hx as computed: all but what
// a factor tells.
func (e *normalEquations) found(gamma float64, x, r []float64) *certify.Factored {
	d, t, q := e.d, e.t, e.d+e.t
	n := float64(d)
	s := &certify.Factored{Gamma: gamma, X: x, Data: make([]float64, q), Above: true}
	for j := range t {
		xj, rj, c := x[j*d:(j+1)*d], r[j*d:(j+1)*d], e.sum[(d+j)*q:(d+j)*q+d]
		b, xn := e.col[d+j], vec.Norm(xj)
		size := b + vec.AbsDot(e.col[:d], xj)
		for i, v := range rj {
			s.Residual = append(s.Residual, math.Abs(v)+roundoff.Unit*(roundoff.CholeskyResidual(e.chain, n)*e.col[i]*size+roundoff.GammaResidual(n)*(gamma*math.Abs(xj[i]))))
		}
		// ‖Ax − b‖² = ‖b‖² − 2cᵀx + xᵀKx with Kx = c − γx − r.
		s.RSS = append(s.RSS, e.sum[(d+j)*q+d+j]-vec.Dot(c, xj)-gamma*xn*xn-vec.Dot(xj, rj))
		s.RSSRound = append(s.RSSRound, roundoff.Unit*(roundoff.CholeskyRSS(e.chain, n)*size*size+roundoff.GammaRSS(n)*(gamma*xn*xn)))
	}
	return s
}
