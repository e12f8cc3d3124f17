package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// A solver solves problems.
type solver struct {
	name      string
	solve     func(p *problem) (answer, error)
	penalised bool // cannot solve γ = 0
}

// nistItself returns NIST's certified values as a solver. They are exact for the decimal numbers in NIST's files, but
// not for the float64 nearest to these numbers.
func nistItself() solver {
	return solver{name: "NIST's certified values", solve: func(p *problem) (answer, error) {
		a := answer{coef: p.certified, bound: math.NaN()}
		if p.intercept {
			a.intercept, a.coef = a.coef[0], a.coef[1:]
		}
		return a, nil
	}}
}

// ours returns fdridge's methods, each at the default tolerance and at a tolerance of 1e-15. Iterations start from a
// sketch of half of min(rows, features) rows. Without this limit the sketch of a small problem would be exact.
func ours() []solver {
	var all []solver
	for _, tol := range []struct {
		words string
		value float64
	}{{"", 1e-8}, {", tol=1e-15", 1e-15}} {
		for _, method := range []string{"cholesky", "qr", "cg", "galerkin"} {
			all = append(all, solver{
				name:      "fdridge " + method + tol.words,
				solve:     func(p *problem) (answer, error) { return fit(p, method, tol.value) },
				penalised: method == "cg" || method == "galerkin",
			})
		}
	}
	return all
}

// fit solves p by fdridge.Fit. A singular system gives an answer with failed set. fit returns an error if the solution
// is farther from the exact solution than its error bounds allow.
func fit(p *problem, name string, tol float64) (answer, error) {
	method, err := ridge.ParseMethod(name)
	if err != nil {
		return answer{}, err
	}
	src, err := p.source()
	if err != nil {
		return answer{}, err
	}
	res, err := fdridge.Fit(context.Background(), src, fdridge.Options{
		Method:      method,
		Gammas:      []float64{p.gamma},
		NoIntercept: !p.intercept,
		Tol:         tol,
		Size:        max(1, min(len(p.x), len(p.x[0]))/2),
	})
	if _, is := errors.AsType[*ridge.SingularError](err); is {
		return answer{failed: "singular"}, nil
	}
	if _, is := errors.AsType[*ridge.NotConvergedError](err); err != nil && !is {
		return answer{}, fmt.Errorf("%s by %s: %w", p.name, method, err)
	}
	t := res.Best().Targets[0]
	if err := p.holds(t); err != nil {
		return answer{}, fmt.Errorf("%s by %s: %w", p.name, method, err)
	}
	return answer{coef: t.Coef, intercept: t.Intercept, bound: t.RelativeErrorBound, passes: res.Passes}, nil
}

// holds returns an error if a certificate is false.
func (p *problem) holds(t ridge.Target) error {
	const rounding = 1 + 1e-12 // of these comparisons
	distance, norm := refbig.Distance(t.Coef, p.coef), refbig.Norm(p.coef)
	off := refbig.Distance([]float64{t.Intercept}, []*big.Float{p.offset})
	if distance <= t.ErrorBound*rounding && distance <= t.RelativeErrorBound*norm*rounding &&
		off <= t.InterceptBound*rounding {
		return nil
	}
	return fmt.Errorf(
		"a false certificate: the weights are off by %g, relatively %g, and the intercept by %g where %g, %g and "+
			"%g are certified",
		distance,
		distance/norm,
		off,
		t.ErrorBound,
		t.RelativeErrorBound,
		t.InterceptBound,
	)
}
