package main

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fdridge/fdridge/internal/chart"
)

// A table is one of docs/scaling.md.
type table struct {
	name    string
	columns []string
	rows    [][]string
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case float64:
			row[i] = chart.Digits(v, 2)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	t.rows = append(t.rows, row)
}

func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(t.columns, " | "), strings.Repeat("---:|", len(t.columns)))
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}

// size writes bytes in powers of 1000.
func size(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	k := 0
	for bytes >= 1000 && k < len(units)-1 {
		bytes /= 1000
		k++
	}
	return fmt.Sprintf("%.3g %s", bytes, units[k])
}

// count writes a round number with a power of ten.
func count(x float64) string {
	if x >= 1e4 && math.Mod(x, 1000) == 0 {
		return chart.Digits(x, 2)
	}
	return fmt.Sprintf("%.0f", x)
}

// span writes seconds in the unit that suits.
func span(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 1e-3:
		return chart.Digits(s*1e6, 2) + " µs"
	case s < 1:
		return chart.Digits(s*1e3, 2) + " ms"
	case s < 600:
		return chart.Digits(s, 2) + " s"
	case s < 4*3600:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 3*86400:
		return fmt.Sprintf("%.0f h", s/3600)
	}
	return fmt.Sprintf("%s d", chart.Digits(s/86400, 2))
}

func share(x float64) string {
	if x > 0 && x < 0.01 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// constantsTables are what was measured.
func constantsTables(c *constants) []*table {
	work := &table{name: "constants", columns: []string{"d", "m", "sketch, rows/s", "GF/s", "merge", "shrinks", "write + read", "spectrum", "step, q = 1", "q = 8"}}
	for i, s := range c.Sketch {
		m := c.Merge[i]
		one, eight := c.step(s.M, s.D, 1), "–"
		if r := c.step(s.M, s.D, 8); r.Q == 8 && r.D == s.D {
			eight = span(r.Seconds)
		}
		work.add(count(s.D), s.M, s.Rows, s.Flops/1e9, span(m.Seconds), m.Shrinks, span(m.Bytes/m.Write+m.Bytes/m.Load), span(m.Spectrum), span(one.Seconds), eight)
	}
	pass := &table{name: "passes", columns: []string{"d", "q", "rows/s", "GB/s of rows", "GF/s"}}
	for _, p := range c.Pass {
		pass.add(count(p.D), p.Q, p.Rows, p.Bytes/1e9, p.Flops/1e9)
	}
	for _, p := range c.Sparse {
		pass.add(count(p.D)+fmt.Sprintf(", %.0f nonzeros", p.NNZ), 1, p.Rows, p.Rows*p.NNZ*12/1e9, p.Flops/1e9)
	}
	loop := &table{name: "loopback", columns: []string{"ranks", "bytes", "allreduce"}}
	for _, r := range c.Loopback {
		loop.add(r.Ranks, size(r.Bytes), span(r.Seconds))
	}
	return []*table{work, pass, loop}
}

// volumeTable is what a rank holds and sends.
func volumeTable() *table {
	t := &table{name: "volumes", columns: []string{"d", "m", "sketch in memory", "a solve, q = 1", "summary sent", "allreduce a pass, q = 1", "q = 100", "d×d of exact"}}
	for _, d := range []float64{1e3, 1e4, 1e5, 1e6} {
		for _, m := range []float64{64, 256, 1024} {
			if m >= d {
				continue
			}
			t.add(count(d), m, size(sketchBytes(m, d, 1)), size(solveBytes(m, d, 1)), size(meanSummaryBytes(m, d, 1)),
				size(8*reduceNumbers(d, 1)), size(8*reduceNumbers(d, 100)), size(8*d*d))
		}
	}
	return t
}

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

// regimeTable is what they take, with 20 passes of one vector.
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

// halfTable is n/P at which half of the time goes to what P does not divide.
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

// half finds by bisection the rows of a rank at which efficiency is one half.
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

// sizes are those of sketches to choose from.
var sizes = []float64{16, 32, 64, 128, 256, 512, 1024, 2048}

// rivals is what a job of a spectrum takes by each method, with the best m.
type rivals struct {
	m            float64
	passes       int
	fdridge      float64
	plainPasses  int
	plain, exact float64
	bySize       []float64
}

// compare finds the time of each method to 10⁻⁸ at γ = gamma·‖A‖²_F/d, with bounds on
// passes, for λ_j = n·j^−power.
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

// A run is one point of the simulation beside its formula.
type run struct {
	kind     string
	network  string
	slowness string
	ranks    int
	formula  float64 // seconds, for ranks of one speed
	seconds  float64 // simulated; the mean of some draws where they are random
	idle     float64 // share of the time not worked
	divided  float64 // share that P divides, by formula
}

// scenarios of the simulation.
var (
	weak       = job{n: 1e5, d: 16384, m: 256, t: 1, q: 1, passes: 20} // n for each rank
	strong     = job{n: 1e7, d: 16384, m: 256, t: 1, q: 1, passes: 20}
	slownesses = []slowness{
		{name: "even"},
		{name: "one rank at half speed", half: true},
		{name: "ranks differ, σ = 0.1", persistent: 0.1},
		{name: "work varies, σ = 0.1", noise: 0.1},
		{name: "work varies, σ = 0.3", noise: 0.3},
	}
)

// simulations run the scenarios at P = 1, 2, 4, … most.
func simulations(at site, most int) ([]run, error) {
	var out []run
	one := func(kind string, j job, w network, slow slowness) error {
		s := at
		s.net = w
		p := s.predict(j)
		draws := 1
		if slow.persistent > 0 || slow.noise > 0 {
			draws = max(4, 64/j.ranks)
		}
		r := run{kind: kind, network: w.Name, slowness: slow.name, ranks: j.ranks, formula: p.total(), divided: p.efficiency()}
		for draw := range draws {
			c, err := s.simulate(j, slow, uint64(draw))
			if err != nil {
				return err
			}
			r.seconds += c.finish() / float64(draws)
			r.idle += c.idle() / float64(draws)
		}
		out = append(out, r)
		return nil
	}
	for p := 1; p <= most; p *= 2 {
		w, st := weak, strong
		w.n *= float64(p)
		w.ranks, st.ranks = p, p
		for _, net := range networks {
			if err := one("weak", w, net, slownesses[0]); err != nil {
				return nil, err
			}
			if err := one("strong", st, net, slownesses[0]); err != nil {
				return nil, err
			}
		}
		for _, slow := range slownesses[1:] {
			if err := one("weak", w, networks[1], slow); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// simulationTable shows runs of one network, with ranks of one speed.
func simulationTable(runs []run) *table {
	t := &table{name: "simulation", columns: []string{"P", "weak: formula", "simulated", "not working", "strong: formula", "simulated", "speed-up", "not working"}}
	byKind := map[string]map[int]run{"weak": {}, "strong": {}}
	var order []int
	for _, r := range runs {
		if r.network == networks[1].Name && r.slowness == slownesses[0].name {
			byKind[r.kind][r.ranks] = r
			if r.kind == "weak" {
				order = append(order, r.ranks)
			}
		}
	}
	for _, p := range order {
		w, s := byKind["weak"][p], byKind["strong"][p]
		t.add(p, span(w.formula), span(w.seconds), share(w.idle), span(s.formula), span(s.seconds), byKind["strong"][1].seconds/s.seconds, share(s.idle))
	}
	return t
}

// largest is the expected largest of P standard normal numbers, by G. Blom's plotting
// position (1958).
func largest(ranks int) float64 {
	p := float64(ranks)
	return distuv.UnitNormal.Quantile((p - 0.375) / (p + 0.25))
}

// stragglerTable shows the weak runs over that of even ranks.
func stragglerTable(runs []run) *table {
	t := &table{name: "stragglers", columns: []string{"P"}}
	even := map[int]float64{}
	cells := map[int]map[string]float64{}
	var order []int
	for _, r := range runs {
		if r.kind != "weak" || r.network != networks[1].Name {
			continue
		}
		if r.slowness == slownesses[0].name {
			even[r.ranks], cells[r.ranks] = r.seconds, map[string]float64{}
			order = append(order, r.ranks)
		}
		cells[r.ranks][r.slowness] = r.seconds / even[r.ranks]
	}
	for _, s := range slownesses[1:] {
		t.columns = append(t.columns, s.name)
	}
	t.columns = append(t.columns, "exp(0.1·E max)", "exp(0.3·E max)")
	for _, p := range order {
		row := []any{p}
		for _, s := range slownesses[1:] {
			row = append(row, fmt.Sprintf("%.2f", cells[p][s.name]))
		}
		row = append(row, fmt.Sprintf("%.2f", math.Exp(0.1*largest(p))), fmt.Sprintf("%.2f", math.Exp(0.3*largest(p))))
		t.add(row...)
	}
	return t
}

// etaTable shows mergings at some numbers of parts.
func etaTable(all []merging) *table {
	t := &table{name: "eta", columns: []string{"data", "order", "parts", "shrinks", "per merge", "rows sent / m", "η/‖A‖²", "of one sketch", "bound", "‖K − BᵀB‖/η", "ρ/(γ+ρ)", "contraction", "passes"}}
	var one float64
	for _, m := range all {
		if m.parts == 1 {
			one = m.eta
		}
		switch m.parts {
		case 1, 16, 256, 1024:
			t.add(m.data, m.order, m.parts, m.shrinks, m.merged, m.live, fmt.Sprintf("%.3g", m.eta), fmt.Sprintf("%.3f", m.eta/one), fmt.Sprintf("%.3g", m.bound),
				fmt.Sprintf("%.2f", m.error/m.eta), fmt.Sprintf("%.3f", m.proved), fmt.Sprintf("%.3f", m.contraction), m.passes)
		}
	}
	return t
}

// roundTable shows what arithmetic adds, on integers of low rank.
func roundTable(all []merging) *table {
	t := &table{name: "roundoff", columns: []string{"order", "parts", "η/‖A‖²", "‖K − BᵀB‖/‖A‖²", "pad/‖A‖²"}}
	for _, m := range all {
		switch m.parts {
		case 1, 4, 16, 64, 256, 1024:
			t.add(m.order, m.parts, fmt.Sprintf("%.1e", m.eta), fmt.Sprintf("%.1e", m.error), fmt.Sprintf("%.1e", m.pad))
		}
	}
	return t
}
