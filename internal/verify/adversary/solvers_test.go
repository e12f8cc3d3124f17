package adversary

import (
	"context"
	"errors"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/ridge"
)

// iterate checks the result of the genome's solver, converged or not, and the relative errors of its iterates.
func (e *evaluation) iterate() {
	g := e.p.g
	name := g.Method.String()
	if g.Tol < -13.5 {
		name += ", refined"
	}
	opts := ridge.SolveOptions{
		Method: g.Method, PlainFD: g.PlainFD, Tol: math.Pow(10, g.Tol), MaxPasses: g.Passes,
		Observe: func(it ridge.Iterate) {
			if it.Measured {
				e.relative(name+": iterates", it.Coef, it.Target, it.RelativeError)
			}
		},
	}
	f := e.run(name, opts)
	if f == nil {
		return
	}
	e.certificate(name, f, e.truth)
	if g.Tol <= -14 {
		e.refined(g.Method.String(), f, e.truth, true)
	}
	e.fits = append(e.fits, f)
}

// run is ridge.Solve, or the best that it had.
func (e *evaluation) run(name string, opts ridge.SolveOptions) *ridge.Solution {
	f, err := ridge.Solve(context.Background(), e.p.source, e.sum, e.p.gamma, opts)
	var short *ridge.NotConvergedError
	if errors.As(err, &short) {
		e.Refused[name+" did not converge"]++
		return short.Solutions[0]
	}
	if e.refused(name, err) {
		return nil
	}
	return f
}

// relative records the relative error of weights x for target j.
func (e *evaluation) relative(name string, x []float64, j int, bound float64) {
	if size := normOf(e.truth.Coef[j]); size.Sign() > 0 && finite(x) {
		e.atMost(name, new(big.Float).Quo(distance(x, e.truth.Coef[j]), size), bound)
	}
}

// exact is all factorizations, at γ and for least squares, and many γ by one reduction.
func (e *evaluation) exact() {
	for _, tol := range []float64{0, 1e-15} {
		e.exactTo(ridge.Cholesky, tol)
		e.exactTo(ridge.QR, tol)
		e.exactTo(ridge.Tridiagonal, tol)
	}
}

// exactTo is a factorization that is refined where tol is positive.
func (e *evaluation) exactTo(factor ridge.Method, tol float64) {
	name := factor.String()
	if tol > 0 {
		name += ", refined"
	}
	opts := ridge.ExactOptions{Method: factor, Intercept: e.p.g.Intercept, Tol: tol}
	fits, err := ridge.SolveExact(context.Background(), e.p.source, []float64{e.p.gamma}, opts)
	if !e.refused(name, err) {
		e.certificate(name, fits[0], e.truth)
		if tol > 0 {
			e.refined(factor.String(), fits[0], e.truth, false)
		}
		e.fits = append(e.fits, fits[0])
	}
	if e.p.g.cycles() > 1 {
		return
	}
	fits, err = ridge.SolveExact(context.Background(), e.p.source, []float64{0}, opts)
	if e.refused(name+" at 0", err) {
		return
	}
	if truth, err := e.p.moments.Solve(0); err == nil {
		e.certificate(name+" at 0", fits[0], truth)
		if tol > 0 {
			e.refined(factor.String()+" at 0", fits[0], truth, false)
		}
		return
	}
	for _, o := range fits[0].Targets { // nothing may be promised
		if !math.IsInf(o.ErrorBound, 1) {
			e.worst(name+" at 0: weights", math.Inf(1))
		}
	}
}
