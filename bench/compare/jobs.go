package main

import (
	"slices"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/engine"
)

// An entry is a job by name, set up when its turn comes.
type entry struct {
	name string
	make func() *job
}

// contenders are the engines that do every job, ours first.
func contenders(threads int) (names []string, engines []engine.Backend, err error) {
	t, err := engine.DefaultTuning()
	if err != nil {
		return nil, nil, err
	}
	t.Threads.Value = threads
	names = engine.Names()
	if names[0] != "purego" {
		names[0], names[1] = names[1], names[0]
	}
	for _, name := range names {
		be, err := engine.New(name, t)
		if err != nil {
			return nil, nil, err
		}
		engines = append(engines, be)
	}
	return append(names, "gonum"), append(engines, gonum{Backend: engines[0]}), nil
}

// A work returns what a backend is timed at. The backends that do the same work share its
// operands.
type work func(be engine.Backend) func()

// jobs are the operations of a backend, each done by all engines in turn.
func jobs(names []string, engines []engine.Backend) []entry {
	who := competitors{names, engines}
	return slices.Concat(who.products(), who.passes(), who.factorisations())
}

// competitors are the engines that do a job, by their names.
type competitors struct {
	names   []string
	engines []engine.Backend
}

// entry is a job for all engines, and for more rivals that are no backends. amount is what
// one run does, in units times seconds. setup makes the operands, when the job's turn comes.
func (who competitors) entry(name, unit string, amount float64, setup func() work, more ...func() rival) entry {
	return entry{name, func() *job {
		j := &job{unit: unit, amount: amount}
		w := setup()
		for i, be := range who.engines {
			j.rivals = append(j.rivals, timed(who.names[i], w(be)))
		}
		for _, m := range more {
			j.rivals = append(j.rivals, m())
		}
		return j
	}}
}

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// ones are cheap numbers around one, for large matrices.
func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + float64(i%7)/8
	}
	return x
}

// gram is a positive definite matrix of order n.
func gram(n int) []float64 {
	x, c := bench.Numbers(2*n*n), make([]float64, n*n)
	gonum{}.Syrk(false, 1, engine.View(n, 2*n, x), 0, engine.View(n, n, c))
	return c
}
