package enginetest

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// Promises tests the error bounds that the method Accuracy of the backend returns. It computes sums with large
// round-off errors and logs the largest error as a percentage of each bound.
func Promises(t *testing.T, be engine.Backend) {
	a := &attacker{
		T:          t,
		be:         be,
		acc:        be.Accuracy(),
		operations: map[string]*operation{},
		patterns:   map[int][]pattern{},
		sums:       map[int][][]sum{},
	}
	alongRows, along := []int{1, 5, 33, 264, 384, 512, 1000, 5000}, []int{1, 5, 33, 264, 700}
	if testing.Short() {
		alongRows, along = []int{5, 512, 1000}, []int{33, 264}
	}
	for _, k := range alongRows {
		a.rows(k)
	}
	for _, k := range along {
		a.columns(k)
	}
	a.gradients()
	for _, k := range along {
		a.representable(k)
	}
	for _, name := range slices.Sorted(maps.Keys(a.operations)) {
		o := a.operations[name]
		t.Logf("%-24s %3.0f %% of the bound used, by %s", name, 100*o.used, o.by)
	}
}

// representable checks that the backend computes products exactly if all partial sums are float64 numbers. The
// entries are multiples of 2⁻²⁶ in rows of norm at most 1.2. So all partial sums are multiples of 2⁻⁵²
// below 2, which float64 represents exactly.
func (a *attacker) representable(k int) {
	const n = 11
	entries := func(i, j int) float64 {
		v := math.Sin(float64(1+i*k+j)) + 0.3
		if i == 1 {
			v = 1 // otherwise all roundings would have the same sign
		}
		return math.Round(v/math.Sqrt(float64(k))*0.9*(1<<26)) / (1 << 26)
	}
	x, xt := newMatrix(n, k, entries), newMatrix(k, n, func(i, j int) float64 { return entries(j, i) })
	type product struct {
		name  string
		c     *matrix
		first int
	}
	ps := []product{
		{"Syrk along rows", newOutput(n, n, nan), 0},
		{"Syrk along columns", newOutput(n, n, nan), 0}, {"Gram", newOutput(n, n, nan), 4},
		{"Gemm along rows", newOutput(n, n, nan), 0}, {"Gemm along columns", newOutput(n, n, nan), 0},
	}
	a.be.Syrk(false, 1, x.view(), 0, ps[0].c.view())
	a.be.Syrk(true, 1, xt.view(), 0, ps[1].c.view())
	a.be.Gram(4, x.view(), ps[2].c.view())
	a.be.Gemm(false, true, 1, x.view(), x.view(), 0, ps[3].c.view())
	half := k / 2 // the product is split into two calls
	a.be.Gemm(true, false, 1, xt.view().Slice(0, half, 0, n), xt.view().Slice(0, half, 0, n), 0, ps[4].c.view())
	a.be.Gemm(true, false, 1, xt.view().Slice(half, k, 0, n), xt.view().Slice(half, k, 0, n), 1, ps[4].c.view())
	for i := range n {
		for j := range i + 1 {
			var want int64 // in units of 2⁻⁵²
			for l := range k {
				want += int64(entries(i, l)*(1<<26)) * int64(entries(j, l)*(1<<26))
			}
			for _, p := range ps {
				if got := p.c.at(i, j); i >= p.first && got != math.Ldexp(float64(want), -52) {
					a.Errorf(
						"%s of %d terms with representable sums: %v, want %v",
						p.name,
						k,
						got,
						math.Ldexp(float64(want), -52),
					)
				}
			}
		}
	}
}

// An attacker compares the sums that a backend computes with exact sums.
type attacker struct {
	*testing.T
	be         engine.Backend
	acc        engine.Accuracy
	operations map[string]*operation
	patterns   map[int][]pattern // patterns by their number of terms, once computed
	sums       map[int][][]sum   // exact sums of these patterns
}

// An operation is a tested operation of the backend.
type operation struct {
	t    *testing.T
	name string
	used float64 // largest ratio of an error to its bound so far
	by   string  // name of the pattern with this ratio
}

func (a *attacker) operation(name string) *operation {
	o := a.operations[name]
	if o == nil {
		o = &operation{t: a.T, name: name}
		a.operations[name] = o
	}
	return o
}

// check fails the test if the error of an element exceeds its bound. The unit of the argument bound is eps times
// the sum of the magnitudes of the terms.
func (o *operation) check(what string, got float64, want sum, bound float64) {
	allowed := (bound + engine.Roundings) * eps * want.abs
	off := math.Abs(got - want.value())
	if !(off <= allowed) {
		o.t.Helper()
		o.t.Fatalf("%s, %s: %v, want %v, off by %.1f eps of the sum of magnitudes, the bound is %.1f",
			o.name, what, got, want.value(), off/eps/want.abs, allowed/eps/want.abs)
	}
	if allowed > 0 && off/allowed > o.used {
		o.used, o.by = off/allowed, what
	}
}

// patternsOf returns all patterns of k terms, and the sum of each pattern multiplied by each of the factors.
func (a *attacker) patternsOf(k int) ([]pattern, [][]sum) {
	if a.sums[k] == nil {
		a.patterns[k] = patterns(k)
		a.sums[k] = exact(a.patterns[k])
	}
	return a.patterns[k], a.sums[k]
}

// rows tests products along rows.
func (a *attacker) rows(k int) {
	ps, want := a.patternsOf(k)
	n := len(ps)
	gemm, gemv := a.operation("Gemm along rows"), a.operation("Gemv along rows")
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	for _, m := range []int{1, 3, 7, 8, 9, 24, 50} {
		f := newMatrix(m, k, func(i, _ int) float64 { return factor(i) })
		for _, s := range [][2]float64{{1, 0}, {-0.7, 0.3}} {
			c := newOutput(m, n, func(int, int) float64 { return 0.9 })
			d := newOutput(n, m, func(int, int) float64 { return 0.9 })
			a.be.Gemm(false, true, s[0], f.view(), x.view(), s[1], c.view())
			a.be.Gemm(false, true, s[0], x.view(), f.view(), s[1], d.view())
			for i := range n {
				rows, columns := fmt.Sprintf("%s, %d rows", ps[i].name, m), fmt.Sprintf("%s, %d columns", ps[i].name, m)
				for j := range m {
					w := want[i][j%len(factors)].scaled(s[0], s[1], 0.9)
					gemm.check(rows, c.at(j, i), w, a.acc.Dot(k))
					gemm.check(columns, d.at(i, j), w, a.acc.Dot(k))
				}
			}
		}
	}
	for j, f := range factors {
		v, y := newMatrix(1, k, func(int, int) float64 { return f }), newOutput(1, n, nan)
		a.be.Gemv(false, 1, x.view(), v.data, 0, y.data)
		for i := range n {
			gemv.check(ps[i].name, y.at(0, i), want[i][j], a.acc.Dot(k))
		}
	}
	a.symmetric(k, ps)
	a.residuals(k, ps, want)
}

// symmetric tests the products of all pairs of patterns.
func (a *attacker) symmetric(k int, ps []pattern) {
	ps = append(ps, pattern{"ones", slices.Repeat([]float64{1}, k)})
	n := len(ps)
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	xt := newMatrix(k, n, func(i, j int) float64 { return ps[j].terms[i] })
	rows, columns, gram := newOutput(n, n, nan), newOutput(n, n, nan), newOutput(n, n, nan)
	a.be.Syrk(false, 1, x.view(), 0, rows.view())
	a.be.Syrk(true, 1, xt.view(), 0, columns.view())
	first := n / 3
	a.be.Gram(first, x.view(), gram.view())
	for i := range n {
		for j := range i + 1 {
			if i < n-1 && (i+j)%3 > 0 { // a third of the pairs is enough
				continue
			}
			var w sum
			for l, v := range ps[i].terms {
				w.add(v, ps[j].terms[l])
			}
			what := ps[i].name + " times " + ps[j].name
			a.operation("Syrk along rows").check(what, rows.at(i, j), w, a.acc.Dot(k))
			a.operation("Syrk along columns").check(what, columns.at(i, j), w, a.acc.Sum(k))
			if i >= first {
				a.operation("Gram").check(what, gram.at(i, j), w, a.acc.Dot(k))
			}
		}
	}
}

// residuals tests R in Gradient.
func (a *attacker) residuals(k int, ps []pattern, want [][]sum) {
	n, op := len(ps), a.operation("Gradient, R")
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	for _, q := range []int{1, 2, 3, 4, 7, 8, 9, 16, 24, 33} {
		f := newMatrix(q, k, func(i, _ int) float64 { return factor(i) })
		b := newMatrix(n, q, func(int, int) float64 { return 0.9 })
		for _, with := range []bool{false, true} {
			beta, rhs := 0.0, engine.Matrix{}
			if with {
				beta, rhs = -1, b.view()
			}
			g, r := newOutput(q, k, func(int, int) float64 { return 0 }), newOutput(n, q, nan)
			a.be.Gradient(x.view(), f.view(), rhs, g.view(), r.view())
			for i := range n {
				what := fmt.Sprintf("%s, %d right-hand sides", ps[i].name, q)
				for j := range q {
					op.check(what, r.at(i, j), want[i][j%len(factors)].scaled(1, beta, 0.9), a.acc.Dot(k))
				}
			}
		}
	}
}

// columns tests the products that are not along rows.
func (a *attacker) columns(k int) {
	ps, want := a.patternsOf(k)
	n, left, gemv := len(ps), a.operation("LeftMul"), a.operation("Gemv of columns")
	x := newMatrix(n, k, func(i, j int) float64 { return ps[i].terms[j] })
	xt := newMatrix(k, n, func(i, j int) float64 { return ps[j].terms[i] })
	for _, m := range []int{1, 3, 7, 9, 24, 50} {
		f := newMatrix(m, k, func(i, _ int) float64 { return factor(i) })
		ft := newMatrix(k, m, func(_, j int) float64 { return factor(j) })
		for _, s := range [][2]float64{{1, 0}, {-0.7, 0.3}} {
			for _, c := range []struct {
				name           string
				transA, transB bool
				a, b           *matrix
			}{
				{"Gemm of columns", false, false, f, xt},
				{"Gemm of columns, Aᵀ", true, false, ft, xt},
				{"Gemm of columns, AᵀBᵀ", true, true, ft, x},
			} {
				op, out := a.operation(c.name), newOutput(m, n, func(int, int) float64 { return 0.9 })
				a.be.Gemm(c.transA, c.transB, s[0], c.a.view(), c.b.view(), s[1], out.view())
				for i := range n {
					what := fmt.Sprintf("%s, %d rows", ps[i].name, m)
					for j := range m {
						op.check(what, out.at(j, i), want[i][j%len(factors)].scaled(s[0], s[1], 0.9), a.acc.Sum(k))
					}
				}
			}
		}
		a.inCalls(k, m, want, f, xt, ps)
		if m <= k {
			b := newOutput(k, n, func(i, j int) float64 { return ps[j].terms[i] })
			a.be.LeftMul(f.view(), b.view(), workspace(a.be.LeftMulWork(m, n, k)))
			for i := range n {
				what := fmt.Sprintf("%s, %d rows", ps[i].name, m)
				for j := range m {
					left.check(what, b.at(j, i), want[i][j%len(factors)], a.acc.Sum(k))
				}
			}
		}
	}
	for j, f := range factors {
		v, y := newMatrix(1, k, func(int, int) float64 { return f }), newOutput(1, n, nan)
		a.be.Gemv(true, 1, xt.view(), v.data, 0, y.data)
		for i := range n {
			gemv.check(ps[i].name, y.at(0, i), want[i][j], a.acc.Sum(k))
		}
	}
}

// inCalls tests a product F·Xᵀ whose k terms are split between several calls. Each call adds a few terms. F is m×k,
// and the argument xt is the k×n matrix Xᵀ.
func (a *attacker) inCalls(k, m int, want [][]sum, f, xt *matrix, ps []pattern) {
	op, n := a.operation("Gemm of columns, in calls"), len(ps)
	for _, terms := range []int{1, 4, 7} {
		out := newOutput(m, n, nan)
		for lo := 0; lo < k; lo += terms {
			hi, beta := min(lo+terms, k), 1.0
			if lo == 0 {
				beta = 0
			}
			a.be.Gemm(false, false, 1, f.view().Slice(0, m, lo, hi), xt.view().Slice(lo, hi, 0, n), beta, out.view())
		}
		for i := range n {
			what := fmt.Sprintf("%s, %d rows, %d terms a call", ps[i].name, m, terms)
			for j := range m {
				op.check(what, out.at(j, i), want[i][j%len(factors)], a.acc.Sum(k))
			}
		}
	}
}

// gradients tests the matrix G that Gradient computes from the residuals R. It sets X = 0, so that R = −B is exact.
// Most calls have the number of rows that GradientCall returns, which is at most MaxGradientRows. Some calls have
// more.
func (a *attacker) gradients() {
	tuning, rows := engine.Detect(), []int{7, 64, 200, engine.MaxGradientRows}
	if testing.Short() {
		rows = []int{7, engine.MaxGradientRows}
	}
	thorough := os.Getenv("FDRIDGE_THOROUGH") != ""
	for i, d := range []int{1, 2, 24, 70, 130, 600, 740, 815, 1030} {
		for j, q := range []int{1, 2, 3, 4, 7, 8, 9, 16, 24, 33} {
			if !thorough && (i+j)%3 > 0 {
				continue // each d and each q, but not each pair
			}
			var done []int
			for _, n := range rows {
				n = tuning.GradientCall(n, d, q)
				if !slices.Contains(done, n) {
					a.gradientsOf(n, d, q)
					done = append(done, n)
				}
			}
		}
	}
	for _, q := range []int{1, 4, 9, 16} {
		a.gradientsOf(2*engine.MaxGradientRows+3, 3, q)
		a.gradientsOf(4*engine.MaxGradientRows+1, 70, q)
	}
}

func (a *attacker) gradientsOf(n, d, q int) {
	op, bound := a.operation("Gradient, G"), min(a.acc.Gradients(), a.acc.Sum(n))
	if n > engine.MaxGradientRows {
		op, bound = a.operation("Gradient, G of more rows"), a.acc.Sum(n)
	}
	ps, want := a.patternsOf(n)
	x := newMatrix(n, d, func(_, j int) float64 { return factor(j) })
	zero := newMatrix(q, d, func(int, int) float64 { return 0 })
	for lo := 0; lo < len(ps); lo += q {
		at := func(j int) int { return (lo + j) % len(ps) }
		b := newMatrix(n, q, func(i, j int) float64 { return -ps[at(j)].terms[i] })
		before := float64(lo / q % 2) // the initial G
		g, r := newOutput(q, d, func(int, int) float64 { return before }), newOutput(n, q, nan)
		a.be.Gradient(x.view(), zero.view(), b.view(), g.view(), r.view())
		for j := range q {
			what := fmt.Sprintf("%s, d = %d, %d right-hand sides, beside %g", ps[at(j)].name, d, q, before)
			sums := slices.Clone(want[at(j)])
			for i := range sums {
				sums[i] = sums[i].scaled(1, 1, before)
			}
			for l := range d {
				op.check(what, g.at(j, l), sums[l%len(factors)], bound)
			}
		}
	}
}
