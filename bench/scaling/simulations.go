package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A run is one point of the simulation beside its formula.
type run struct {
	kind     string
	network  string
	slowness string
	ranks    int
	formula  float64 // seconds, for ranks of one speed
	seconds  float64 // simulated, the mean of several draws where the slowness is random
	idle     float64 // share of the time in which ranks do not work
	divided  float64 // share of the work that is divided by P, by formula
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

// stragglerTable shows the time of weak runs over that with ranks of one speed.
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
