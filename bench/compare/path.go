package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/bench/internal/python"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// gammas is the number of γ, which span [10⁻³, 10³]·‖A‖²_F/d.
const gammas = 50

// paths are jobs that solve for many γ to a relative error of 10⁻⁸. fdridge uses two methods:
//
//   - It sketches the rows, chooses γ by GCV from the sketch, and refines the solutions for all γ in the same passes.
//   - It reduces K = AᵀA to tridiagonal form once, if the d×d matrix K fits into memory.
//
// The rivals compute K, and then a Cholesky decomposition for each γ, or one eigendecomposition of K. The jobs take
// seconds to minutes, so each rival runs once in a round.
func paths(names []string, engines []engine.Backend, py *python.Process, dir string) []entry {
	var all []entry
	for _, p := range []struct {
		stream
		kind string
		rows func(n, d int) []float64
	}{
		{stream{20000, 1024, 256}, "gaussian", bench.Rows},
		{stream{20000, 1024, 256}, "slow", bench.Slow},
		{stream{10000, 4096, 256}, "gaussian", bench.Rows},
		{stream{10000, 4096, 128}, "slow", bench.Slow},
		{stream{5000, 16384, 2048}, "gaussian", bench.Rows},
		{stream{5000, 16384, 256}, "slow", bench.Slow},
	} {
		all = append(all, entry{fmt.Sprintf("path/%s/n=%d,d=%d,m=%d", p.kind, p.n, p.d, p.m), func() *job {
			j := &job{amount: gammas, unit: "γ/s", once: true}
			a := p.rows(p.n, p.d)
			src, err := dataset.FromDense(p.n, p.d, 1, a, bench.Targets(p.n, p.d, a))
			if err != nil {
				log.Fatal(err)
			}
			for i, be := range engines {
				j.rivals = append(j.rivals, rival{names[i], func() time.Duration { return solvePath(src, p.m, be) }})
				if p.d <= 8192 {
					grid := gridOf(p.d, a)
					j.rivals = append(
						j.rivals,
						rival{names[i] + " tridiagonal", func() time.Duration { return solveReduced(src, grid, be) }},
					)
				}
			}
			if py == nil {
				return j
			}
			file := filepath.Join(dir, fmt.Sprintf("%s%dx%d", p.kind, p.n, p.d))
			if err := write(file, a); err != nil {
				log.Fatal(err)
			}
			j.done = func() { os.Remove(file) }
			for _, m := range []string{"cholesky", "eigen"} {
				j.rivals = append(j.rivals, pythonRival(py, "numpy "+m, m, file, p.d, gammas))
			}
			return j
		}})
	}
	return all
}

// gridOf returns the γ of a path.
func gridOf(d int, a []float64) []float64 {
	mean := 0.0
	for _, v := range a {
		mean += v * v / float64(d)
	}
	grid := make([]float64, gammas)
	for i := range grid {
		grid[i] = mean * math.Pow(10, 6*float64(i)/(gammas-1)-3)
	}
	return grid
}

// solveReduced certifies every γ to 10⁻⁸, too.
func solveReduced(src dataset.Source, grid []float64, be engine.Backend) time.Duration {
	begin := time.Now()
	fits, err := ridge.SolveExact(
		context.Background(),
		src,
		grid,
		ridge.ExactOptions{Method: ridge.Tridiagonal, Tol: 1e-8, Backend: be},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range fits {
		if err := f.Status.Err(); err != nil {
			log.Fatal(err)
		}
	}
	return time.Since(begin)
}

func solvePath(src dataset.Source, m int, be engine.Backend) time.Duration {
	ctx, begin := context.Background(), time.Now()
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: m, Backend: be}, nil)
	if err != nil {
		log.Fatal(err)
	}
	grid := choose.Grid(sum, gammas)
	fits, err := sum.Path(grid)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := choose.LeastGCV(fits, 0); err != nil {
		log.Fatal(err)
	}
	if _, err := ridge.SolvePath(ctx, src, sum, grid, ridge.SolveOptions{Method: ridge.Galerkin, MaxPasses: 2000}); err != nil {
		log.Fatal(err)
	}
	return time.Since(begin)
}
