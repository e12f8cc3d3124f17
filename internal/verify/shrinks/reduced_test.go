package shrinks

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

// factored returns L of S + γI = LLᵀ in pairs; ok is false if that is not positive definite.
func (s symmetric) factored(gamma float64) (l symmetric, ok bool) {
	l = s.clone()
	for i := range s.d {
		row := l.row(i)
		row[i] = row[i].plus(pair{gamma, 0})
		for j := 0; j <= i; j++ {
			other, v := l.row(j), row[j]
			for k := range j {
				v = v.minus(row[k].times(other[k]))
			}
			if j == i {
				if !(v.hi > 0) {
					return l, false
				}
				row[i] = v.root()
				continue
			}
			row[j] = v.overPair(other[j])
		}
	}
	return l, true
}

func (p pair) overPair(q pair) pair {
	a := p.hi / q.hi
	rest := p.minus(q.times(pair{a, 0}))
	return sumOf(a, rest.hi/q.hi)
}

// inverseTrace returns tr (LLᵀ)⁻¹, the sum of the squares of L⁻¹.
func (s symmetric) inverseTrace() (sum pair) {
	for c := range s.d { // column c of L⁻¹
		x := make([]pair, s.d)
		for i := c; i < s.d; i++ {
			row, v := s.row(i), pair{}
			if i == c {
				v = pair{1, 0}
			}
			for k := c; k < i; k++ {
				v = v.minus(row[k].times(x[k]))
			}
			x[i] = v.overPair(row[i])
			sum = sum.plus(x[i].times(x[i]))
		}
	}
	return sum
}

// solve returns (LLᵀ)⁻¹b.
func (s symmetric) solve(b []pair) []pair {
	x := append([]pair(nil), b...)
	for i := range x {
		row := s.row(i)
		for k := range i {
			x[i] = x[i].minus(row[k].times(x[k]))
		}
		x[i] = x[i].overPair(row[i])
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = x[i].overPair(s.row(i)[i])
		for k, v := range s.row(i)[:i] {
			x[k] = x[k].minus(v.times(x[i]))
		}
	}
	return x
}

// Reduced checks the effective dimension and the error bound of [ridge.SolveExact], which reduces AᵀA, or
// AAᵀ, to tridiagonal form. wrong asks for a backend whose T and Q are wrong.
func Reduced(factor ridge.Method, n, d, kind int, intercept, wrong bool, seed uint64, out *Report) {
	r, x, y := rand.New(rand.NewPCG(seed, 6)), make([]float64, n*d), make([]float64, n)
	c := sizes[r.IntN(3)]
	for i := range n {
		inputs[kind].row(r, x[i*d:(i+1)*d], i, n, c)
		y[i] = r.NormFloat64()
	}
	k, cross, sums := newSymmetric(d), make([]pair, d), make([]pair, d)
	var ySum, size pair
	for i := range n {
		row := x[i*d : (i+1)*d]
		k.addSquare(1, row)
		for j, v := range row {
			cross[j] = cross[j].plus(productOf(v, y[i]))
			sums[j] = sums[j].plus(pair{v, 0})
		}
		ySum = ySum.plus(pair{y[i], 0})
	}
	lost := 1e-28 * float64(d) * k.trace().value() // the reference's own round-off
	if intercept {
		for i := range d {
			for j, row := 0, k.row(i); j <= i; j++ {
				row[j] = row[j].minus(sums[i].times(sums[j]).over(float64(n)))
			}
			cross[i] = cross[i].minus(sums[i].times(ySum).over(float64(n)))
		}
	}
	size = k.trace()
	var gammas []float64
	for _, f := range []float64{1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14} {
		gammas = append(gammas, f*size.value()*(0.5+r.Float64()))
	}
	at := fmt.Sprintf("%v %d×%d %s·%g intercept=%v seed %d", factor, n, d, inputs[kind].name, c, intercept, seed)
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		panic(err)
	}
	opts := ridge.ExactOptions{Method: factor, Intercept: intercept}
	if wrong {
		be, err := engine.Default()
		if err != nil {
			panic(err)
		}
		w := &spoiled{be, r, math.Pow(10, -4-11*r.Float64()), r.IntN(6)}
		at += fmt.Sprintf(" spoiled %d by %.2g", w.how, w.off)
		opts.Backend = w
	}
	fits, err := ridge.SolveExact(context.Background(), src, gammas, opts)
	if err != nil {
		out.Refused++
		if out.At["refused: "+err.Error()] == "" {
			out.At["refused: "+err.Error()], out.Worst["refused: "+err.Error()] = at, 0
		}
		return
	}
	out.Problems++
	for _, f := range fits {
		l, ok := k.factored(f.Gamma)
		if !ok || !(lost/f.Gamma <= 1e-9) {
			continue
		}
		df := pair{float64(d), 0}.minus(l.inverseTrace().times(pair{f.Gamma, 0})).value()
		e := f.EffectiveDimension
		// Excess over half the width; 1 is the end of the interval.
		what := "effective dimension, " + f.Method.String()
		if !(e.Hi-e.Lo <= 1e-3*float64(d)) {
			what += ", wide"
		}
		out.check(
			what,
			fmt.Sprintf("γ=%g: [%v, %v], %v: %s", f.Gamma, e.Lo, e.Hi, df, at),
			math.Abs(df-(e.Lo+e.Hi)/2)-lost/f.Gamma,
			(e.Hi-e.Lo)/2,
		)
		want := l.solve(cross)
		var off, length float64
		for j, v := range want {
			off = math.Hypot(off, v.minus(pair{f.Targets[0].Coef[j], 0}).value())
			length = math.Hypot(length, v.value())
		}
		known := 1e-2 * lost / f.Gamma * length
		out.check(
			"‖x̂ − x*‖, "+f.Method.String(),
			fmt.Sprintf("γ=%g, less %g: %s", f.Gamma, known, at),
			off-known,
			f.Targets[0].ErrorBound+1e-300,
		)
	}
}
