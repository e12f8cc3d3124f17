package enginetest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// promises attacks each bound of the backend's Accuracy with terms whose roundings add
// up, and logs how much of it is used at most.
func promises(t *testing.T, be engine.Backend) {
	a := &attacker{T: t, be: be, acc: be.Accuracy(), used: map[string]float64{}, by: map[string]string{}}
	for _, k := range []int{1, 5, 33, 264, 384, 512, 1000, 5000} {
		a.rows(k)
	}
	for _, k := range []int{1, 5, 33, 264, 700} {
		a.columns(k)
	}
	a.gradients()
	for _, op := range slices.Sorted(maps.Keys(a.used)) {
		t.Logf("%-24s %3.0f %% of the promise used, by %s", op, 100*a.used[op], a.by[op])
	}
}

// An attacker compares sums of a backend with exact ones.
type attacker struct {
	*testing.T
	be   engine.Backend
	acc  engine.Accuracy
	used map[string]float64 // by operation, of what is promised
	by   map[string]string
}

// check holds an element to its bound.
func (a *attacker) check(op, what string, got float64, want sum, bound float64) {
	a.Helper()
	allowed := (bound + engine.Roundings) * eps * want.abs
	off := math.Abs(got - want.value())
	if !(off <= allowed) {
		a.Fatalf("%s, %s: %v, want %v, off by %.1f eps of the sum of magnitudes, promised are %.1f",
			op, what, got, want.value(), off/eps/want.abs, allowed/eps/want.abs)
	}
	if allowed > 0 && off/allowed > a.used[op] {
		a.used[op], a.by[op] = off/allowed, what
	}
}

// A pattern is terms of a sum, made so that plain addition rounds badly.
type pattern struct {
	name  string
	terms []float64
}

// patterns of k terms. What is a little less than half an eps is lost beside a one, and
// what is a little more counts twice: as often as there are such terms behind the one in
// the same register. As it is not known in how many registers, strips and parts a backend
// adds up, there are so many ones at the beginning, or one further behind.
func patterns(k int) []pattern {
	const lost, twice = 0x1p-53 * (1 - 0x1p-9), 0x1p-53 * (1 + 0x1p-9)
	var all []pattern
	add := func(name string, at func(i int) float64) {
		p := pattern{fmt.Sprintf("%s, %d terms", name, k), make([]float64, k)}
		for i := range p.terms {
			p.terms[i] = at(i)
		}
		all = append(all, p)
	}
	behind := func(from, ones int, dust float64) func(i int) float64 {
		return func(i int) float64 {
			if i >= from && i < from+ones {
				return 1
			}
			return dust
		}
	}
	for ones := 1; ones <= 128 && ones <= k; ones *= 2 {
		add(fmt.Sprintf("%d ones and what is lost", ones), behind(0, ones, lost))
		add(fmt.Sprintf("%d ones and what counts twice", ones), behind(0, ones, twice))
	}
	for _, from := range []int{k / 3, k / 2, 7 * k / 8} {
		add(fmt.Sprintf("a one at %d and what is lost", from), behind(from, 1, -lost))
	}
	for _, part := range []int{32, 64, 128} { // whose sums are added in pairs
		if part >= k {
			continue
		}
		add(fmt.Sprintf("a one and what is lost in parts of %d", part), func(i int) float64 {
			switch double := i / part; {
			case i == 0:
				return 1
			case i < part, i%part == 0 && double&(double-1) == 0:
				return lost
			}
			return 0
		})
	}
	for _, c := range []float64{1.0 / 3, 0.1, 1 + 5*eps, -0.7} {
		add(fmt.Sprintf("%.3g for ever", c), func(int) float64 { return c })
	}
	for _, base := range []float64{0.5, 0.99, 1.01, 1.0 / 0.9999} {
		add(fmt.Sprintf("graded by %.4f", base), func(i int) float64 { return math.Pow(base, float64(min(i, 900))) })
	}
	add("alternating", func(i int) float64 { return float64(1-2*(i%2)) * (1 + float64(i)*0x1p-50) })
	rng := random(uint64(k))
	add("normal", func(int) float64 { return rng.NormFloat64() })
	return all
}

// factors are what every term of a pattern is multiplied by: nothing that rounds, and two
// that do.
var factors = []float64{1, 1.0 / 3, -0.7}

func factor(j int) float64 { return pick(factors, j) }

// exact returns the sums of patterns, times each factor.
func exact(ps []pattern) [][]sum {
	all := make([][]sum, len(ps))
	for i, p := range ps {
		all[i] = make([]sum, len(factors))
		for j, f := range factors {
			for _, x := range p.terms {
				all[i][j].add(x, f)
			}
		}
	}
	return all
}

// scaled is alpha·s + beta·c.
func (a sum) scaled(alpha, beta, c float64) sum {
	b := sum{abs: math.Abs(alpha) * a.abs}
	b.s, b.c = alpha*a.s, math.FMA(alpha, a.s, -alpha*a.s)+alpha*a.c
	if beta != 0 {
		p := beta * c
		b.abs += math.Abs(p)
		t := b.s + p
		z := t - b.s
		b.c += (b.s - (t - z)) + (p - z) + math.FMA(beta, c, -p)
		b.s = t
	}
	return b
}

// rows attacks products along rows.
func (a *attacker) rows(k int) {
	ps := patterns(k)
	want, n := exact(ps), len(ps)
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	for _, m := range []int{1, 3, 7, 8, 9, 24, 50} {
		f := newMatrix(m, k, func(i, _ int) float64 { return factor(i) })
		for _, s := range [][2]float64{{1, 0}, {-0.7, 0.3}} {
			c, d := newOutput(m, n, func(int, int) float64 { return 0.9 }), newOutput(n, m, func(int, int) float64 { return 0.9 })
			a.be.Gemm(false, true, s[0], f.view(), x.view(), s[1], c.view())
			a.be.Gemm(false, true, s[0], x.view(), f.view(), s[1], d.view())
			for i := range n {
				for j := range m {
					w := want[i][j%len(factors)].scaled(s[0], s[1], 0.9)
					a.check("Gemm along rows", fmt.Sprintf("%s, %d rows", ps[i].name, m), c.at(j, i), w, a.acc.Dot(k))
					a.check("Gemm along rows", fmt.Sprintf("%s, %d columns", ps[i].name, m), d.at(i, j), w, a.acc.Dot(k))
				}
			}
		}
	}
	for j, f := range factors {
		v, y := newMatrix(1, k, func(int, int) float64 { return f }), newOutput(1, n, nan)
		a.be.Gemv(false, 1, x.view(), v.data, 0, y.data)
		for i := range n {
			a.check("Gemv along rows", ps[i].name, y.at(0, i), want[i][j], a.acc.Dot(k))
		}
	}
	a.symmetric(k, ps)
	a.residuals(k, ps, want)
}

// symmetric attacks products of all pairs of patterns with themselves.
func (a *attacker) symmetric(k int, ps []pattern) {
	ps = append(ps, pattern{"ones", slices.Repeat([]float64{1}, k)})
	n := len(ps)
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	xt := newMatrix(k, n, func(i, j int) float64 { return ps[j].terms[i] })
	syrk, gram, cross := newOutput(n, n, nan), newOutput(n, n, nan), newOutput(n, n, nan)
	a.be.Syrk(false, 1, x.view(), 0, syrk.view())
	a.be.Syrk(true, 1, xt.view(), 0, cross.view())
	first := n / 3
	a.be.Gram(first, x.view(), gram.view())
	for i := range n {
		for j := range i + 1 {
			if i < n-1 && (i+j)%3 > 0 { // enough of them
				continue
			}
			var w sum
			for l, v := range ps[i].terms {
				w.add(v, ps[j].terms[l])
			}
			what := ps[i].name + " times " + ps[j].name
			a.check("Syrk along rows", what, syrk.at(i, j), w, a.acc.Dot(k))
			a.check("Syrk along columns", what, cross.at(i, j), w, a.acc.Sum(k))
			if i >= first {
				a.check("Gram", what, gram.at(i, j), w, a.acc.Dot(k))
			}
		}
	}
}

// residuals attacks the R of Gradient.
func (a *attacker) residuals(k int, ps []pattern, want [][]sum) {
	n := len(ps)
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	for _, q := range []int{1, 2, 3, 4, 7, 8, 9, 16, 24, 33} {
		f, b := newMatrix(q, k, func(i, _ int) float64 { return factor(i) }), newMatrix(n, q, func(int, int) float64 { return 0.9 })
		for _, with := range []bool{false, true} {
			beta, rhs := 0.0, engine.Matrix{}
			if with {
				beta, rhs = -1, b.view()
			}
			g, r := newOutput(q, k, func(int, int) float64 { return 0 }), newOutput(n, q, nan)
			a.be.Gradient(x.view(), f.view(), rhs, g.view(), r.view())
			for i := range n {
				for j := range q {
					a.check("Gradient, R", fmt.Sprintf("%s, %d right-hand sides", ps[i].name, q), r.at(i, j), want[i][j%len(factors)].scaled(1, beta, 0.9), a.acc.Dot(k))
				}
			}
		}
	}
}

// columns attacks all other products.
func (a *attacker) columns(k int) {
	ps := patterns(k)
	want, n := exact(ps), len(ps)
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	xt := newMatrix(k, n, func(i, j int) float64 { return ps[j].terms[i] })
	for _, m := range []int{1, 3, 7, 9, 24, 50} {
		f, ft := newMatrix(m, k, func(i, _ int) float64 { return factor(i) }), newMatrix(k, m, func(_, j int) float64 { return factor(j) })
		for _, s := range [][2]float64{{1, 0}, {-0.7, 0.3}} {
			for _, c := range []struct {
				op             string
				transA, transB bool
				a, b           *matrix
			}{
				{"Gemm of columns", false, false, f, xt}, {"Gemm of columns, Aᵀ", true, false, ft, xt}, {"Gemm of columns, AᵀBᵀ", true, true, ft, x},
			} {
				out := newOutput(m, n, func(int, int) float64 { return 0.9 })
				a.be.Gemm(c.transA, c.transB, s[0], c.a.view(), c.b.view(), s[1], out.view())
				for i := range n {
					for j := range m {
						a.check(c.op, fmt.Sprintf("%s, %d rows", ps[i].name, m), out.at(j, i), want[i][j%len(factors)].scaled(s[0], s[1], 0.9), a.acc.Sum(k))
					}
				}
			}
		}
		if m <= k {
			b := newOutput(k, n, func(i, j int) float64 { return ps[j].terms[i] })
			a.be.LeftMul(f.view(), b.view(), workspace(a.be.LeftMulWork(m, n, k)))
			for i := range n {
				for j := range m {
					a.check("LeftMul", fmt.Sprintf("%s, %d rows", ps[i].name, m), b.at(j, i), want[i][j%len(factors)], a.acc.Sum(k))
				}
			}
		}
	}
	for j, f := range factors {
		v, y := newMatrix(1, k, func(int, int) float64 { return f }), newOutput(1, n, nan)
		a.be.Gemv(true, 1, xt.view(), v.data, 0, y.data)
		for i := range n {
			a.check("Gemv of columns", ps[i].name, y.at(0, i), want[i][j], a.acc.Sum(k))
		}
	}
}

// gradients attacks the G of Gradient, by residuals −b: for calls that keep to
// GradientCall, and for longer ones.
func (a *attacker) gradients() {
	tuning := engine.Detect()
	for _, d := range []int{1, 2, 24, 70, 130, 600, 740, 815, 1030} {
		for _, q := range []int{1, 2, 3, 4, 7, 8, 9, 16, 24, 33} {
			for _, n := range []int{7, 64, 200, engine.MaxGradientRows} {
				a.gradientsOf(tuning.GradientCall(n, d, q), d, q)
			}
		}
	}
	for _, q := range []int{1, 4, 9, 16} {
		a.gradientsOf(2*engine.MaxGradientRows+3, 3, q)
		a.gradientsOf(4*engine.MaxGradientRows+1, 70, q)
	}
}

func (a *attacker) gradientsOf(n, d, q int) {
	op, bound := "Gradient, G", min(a.acc.Gradients(), a.acc.Sum(n))
	if n > engine.MaxGradientRows {
		op, bound = "Gradient, G of more rows", a.acc.Sum(n)
	}
	ps := patterns(n)
	want := exact(ps)
	x, zero := newMatrix(n, d, func(_, j int) float64 { return factor(j) }), newMatrix(q, d, func(int, int) float64 { return 0 })
	for lo := 0; lo < len(ps); lo += q {
		at := func(j int) int { return (lo + j) % len(ps) }
		b := newMatrix(n, q, func(i, j int) float64 { return -ps[at(j)].terms[i] })
		before := float64(lo / q % 2) // added to what is there
		g, r := newOutput(q, d, func(int, int) float64 { return before }), newOutput(n, q, nan)
		a.be.Gradient(x.view(), zero.view(), b.view(), g.view(), r.view())
		for j := range q {
			for l := range d {
				a.check(op, fmt.Sprintf("%s, d = %d, %d right-hand sides, beside %g", ps[at(j)].name, d, q, before), g.at(j, l), want[at(j)][l%len(factors)].scaled(1, 1, before), bound)
			}
		}
	}
}
