package main

import (
	"fmt"
	"math"
)

// sizes are those of sketches to choose from.
var sizes = []float64{16, 32, 64, 128, 256, 512, 1024, 2048}

// rivals are the seconds that a job takes by each method; fdridge has the best size m.
type rivals struct {
	m            float64
	passes       int
	fdridge      float64
	plainPasses  int
	plain, exact float64
	bySize       []float64
}

// compare predicts the time that each method takes to reach 10⁻⁸ at γ = gamma·‖A‖²_F/d. The
// passes are bounds that follow from the spectrum.
func (s site) compare(j job, spectrum decay, gamma float64) rivals {
	g := gamma * spectrum.mean(j.d)
	r := rivals{fdridge: math.Inf(1)}
	for _, m := range sizes {
		if m >= j.d {
			break
		}
		k := j
		k.m, k.passes = m, passesOf(1+spectrum.shrinkage(m, j.d)/g, 1e-8)
		total := s.predict(k).total()
		r.bySize = append(r.bySize, total)
		if total < r.fdridge {
			r.m, r.passes, r.fdridge = m, k.passes, total
		}
	}
	j.passes, j.m = passesOf(1+1/g, 1e-8), 16
	r.plainPasses, r.plain, r.exact = j.passes, s.plainSeconds(j), s.exactSeconds(j, 1)
	return r
}

// comparisonTable compares with exact and with plain CG.
func comparisonTable(s site) *table {
	t := &table{name: "rivals", columns: []string{"λⱼ", "γ·d/‖A‖²", "n", "d", "P", "best m", "passes", "fdridge", "passes of plain CG", "plain CG", "exact", "its memory"}}
	for _, power := range []float64{1, 2} {
		for _, gamma := range []float64{1, 0.01} {
			for _, j := range []job{{n: 1e9, d: 1e3, ranks: 64}, {n: 1e9, d: 1e4, ranks: 256}, {n: 1e8, d: 1e5, ranks: 1024}, {n: 1e7, d: 1e6, ranks: 1024}} {
				j.t, j.q = 1, 1
				r := s.compare(j, decay{power}, gamma)
				t.add(fmt.Sprintf("n/j%s", map[float64]string{1: "", 2: "²"}[power]), gamma, count(j.n), count(j.d), j.ranks,
					r.m, r.passes, span(r.fdridge), r.plainPasses, span(r.plain), span(r.exact), size(8*j.d*j.d))
			}
		}
	}
	return t
}

// sparseTable is the same for rows of 100 nonzeros.
func sparseTable(s site) *table {
	t := &table{name: "sparse", columns: []string{"n", "d", "P", "γ·d/‖A‖²", "sketch of the least m", "a pass", "fdridge", "plain CG", "passes of plain CG"}}
	for _, d := range []float64{1e4, 1e5, 1e6} {
		for _, gamma := range []float64{1, 0.01} {
			j := job{n: 1e9, d: d, nnz: 100, t: 1, q: 1, ranks: 1024}
			r := s.compare(j, decay{1}, gamma)
			j.m, j.passes = sizes[0], 1
			p := s.predict(j)
			t.add(count(j.n), count(d), j.ranks, gamma, span(p.sketch), span(p.gradient), span(r.fdridge), span(r.plain), r.plainPasses)
		}
	}
	return t
}
