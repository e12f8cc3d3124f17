package main

import (
	"fmt"
	"math"
)

// regimes are problems from a rack to the largest machines.
var regimes = []job{
	{n: 1e9, d: 1e3, m: 256, ranks: 100},
	{n: 1e10, d: 1e4, m: 256, ranks: 1000},
	{n: 1e12, d: 1e3, m: 256, ranks: 10000},
	{n: 1e11, d: 1e4, m: 256, ranks: 10000},
	{n: 1e10, d: 1e5, m: 64, ranks: 10000},
	{n: 1e9, d: 1e6, m: 64, ranks: 10000},
	{n: 1e8, d: 1e6, m: 1024, ranks: 10000},
	{n: 1e9, d: 1e6, nnz: 100, m: 64, ranks: 1000},
	{n: 1e12, d: 1e6, nnz: 100, m: 16, ranks: 10000},
}

// regimeTable is the time of each regime, with 20 passes of one vector.
func regimeTable(s site) *table {
	t := &table{name: "regimes", columns: []string{"n", "d", "m", "P", "rows/rank", "of bytes", "sketch", "merge", "broadcast", "a pass", "allreduce", "step", "in all", "divided by P"}}
	for _, j := range regimes {
		j.t, j.q, j.passes = 1, 1, 20
		r := s.predict(j)
		d := count(j.d)
		if j.nnz > 0 {
			d += fmt.Sprintf(", %.0f nonzero", j.nnz)
		}
		rows := j.n / float64(j.ranks)
		t.add(count(j.n), d, j.m, count(float64(j.ranks)), count(rows), size(rows*j.rowBytes()), span(r.sketch), span(r.merge), span(r.broadcast),
			span(r.gradient), span(r.reduce), span(r.step), span(r.total()), share(r.efficiency()))
	}
	return t
}

// halfTable is the rows of a rank, n/P, at which half of the time goes to work that does not
// get less with more ranks.
func halfTable(c *constants, at site) *table {
	t := &table{name: "half", columns: []string{"d", "m", "P"}}
	for _, w := range networks {
		t.columns = append(t.columns, "n/P, "+w.Name)
	}
	for _, d := range []float64{1e3, 1e4, 1e5, 1e6} {
		for _, m := range []float64{64, 256} {
			for _, ranks := range []int{64, 4096} {
				row := []any{count(d), m, ranks}
				for _, w := range networks {
					s := at
					s.c, s.net = c, w
					row = append(row, count(s.half(job{d: d, m: m, t: 1, q: 1, ranks: ranks, passes: 20})))
				}
				t.add(row...)
			}
		}
	}
	return t
}

// half finds by bisection the rows of a rank at which the efficiency is one half.
func (s site) half(j job) float64 {
	lo, hi := 0.0, 12.0
	for range 50 {
		mid := (lo + hi) / 2
		j.n = math.Pow(10, mid) * float64(j.ranks)
		if s.predict(j).efficiency() < 0.5 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Round(math.Pow(10, hi))
}

// gridTable is a pass for q vectors at once: the systems of a grid of γ, or targets.
func gridTable(s site) *table {
	t := &table{name: "grid", columns: []string{"d", "q", "allreduce a rank", "gradient", "allreduce", "step", "a pass, per vector", "divided by P"}}
	for _, d := range []float64{1e3, 1e4, 1e5} {
		for _, q := range []float64{1, 8, 64} {
			j := job{n: 1e9 * 1e3 / d, d: d, m: 256, t: 1, q: q, ranks: 1024, passes: 20}
			p := s.predict(j)
			pass := p.gradient + p.reduce + p.step
			t.add(count(d), q, size(8*reduceNumbers(d, q)), span(p.gradient), span(p.reduce), span(p.step), span(pass/q), share(p.gradient/pass))
		}
	}
	return t
}
