package main

import (
	"fmt"

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

func jobs(names []string, engines []engine.Backend) []entry {
	var all []entry
	add := func(name, unit string, amount float64, setup func() func(be engine.Backend) func(), more ...func() rival) {
		all = append(all, entry{name, func() *job {
			j := &job{unit: unit, amount: amount}
			work := setup()
			for i, be := range engines {
				j.rivals = append(j.rivals, timed(names[i], work(be)))
			}
			for _, m := range more {
				j.rivals = append(j.rivals, m())
			}
			return j
		}})
	}
	for _, n := range []int{512, 1024, 2048} {
		for _, s := range []struct {
			name   string
			ta, tb bool
		}{{"NN", false, false}, {"TN", true, false}, {"NT", false, true}} {
			add(fmt.Sprintf("Gemm/%s/%d", s.name, n), "GFLOP/s", 2e-9*cube(n), func() func(engine.Backend) func() {
				a, b, c := bench.Numbers(n*n), bench.Numbers(n*n), make([]float64, n*n)
				return func(be engine.Backend) func() {
					return func() { be.Gemm(s.ta, s.tb, 1, engine.View(n, n, a), engine.View(n, n, b), 0, engine.View(n, n, c)) }
				}
			})
		}
	}
	for _, s := range [][2]int{{512, 1024}, {256, 4096}, {128, 16384}} {
		n, k := s[0], s[1]
		add(fmt.Sprintf("Syrk/%d×%d", n, k), "GFLOP/s", 1e-9*float64(n*(n+1))*float64(k), func() func(engine.Backend) func() {
			a, c := bench.Numbers(n*k), make([]float64, n*n)
			return func(be engine.Backend) func() {
				return func() { be.Syrk(false, 1, engine.View(n, k, a), 0, engine.View(n, n, c)) }
			}
		})
	}
	// The products of a shrink: the Gram of new rows with kept ones, the rebuild.
	for _, s := range [][2]int{{256, 1024}, {64, 1024}, {128, 4096}, {64, 16384}} {
		m, d := s[0], s[1]
		add(fmt.Sprintf("Gram/%d×%d", m, d), "GFLOP/s", 2e-9*float64(m*m)*float64(d), func() func(engine.Backend) func() {
			a, b, c := bench.Numbers(m*d), bench.Numbers(m*d), make([]float64, m*m)
			return func(be engine.Backend) func() {
				return func() { be.Gemm(false, true, 1, engine.View(m, d, a), engine.View(m, d, b), 0, engine.View(m, m, c)) }
			}
		})
		add(fmt.Sprintf("Rebuild/%d×%d", m, d), "GFLOP/s", 2e-9*float64(m*2*m)*float64(min(512, d)), func() func(engine.Backend) func() {
			u, b, c := bench.Numbers(m*2*m), bench.Numbers(2*m*d), make([]float64, m*d)
			return func(be engine.Backend) func() {
				return func() {
					be.Gemm(false, false, 1, engine.View(m, 2*m, u), engine.Strided(2*m, min(512, d), b, d), 0, engine.Strided(m, min(512, d), c, d))
				}
			}
		})
	}
	for _, trans := range []bool{false, true} {
		add(fmt.Sprintf("Gemv/trans=%v/4096×1024", trans), "GB/s", 8e-9*4096*1024, func() func(engine.Backend) func() {
			a, x, y := bench.Numbers(4096*1024), bench.Numbers(4096), make([]float64, 4096)
			return func(be engine.Backend) func() {
				return func() { be.Gemv(trans, 1, engine.View(4096, 1024, a), x, 0, y) }
			}
		})
	}
	for _, t := range []int{1, 3, 10} {
		const n, d = 100000, 1024
		add(fmt.Sprintf("Gradient/%d×%d/t=%d", n, d, t), "GB/s", 8e-9*n*d, func() func(engine.Backend) func() {
			a, x, y, g, r := ones(n*d), bench.Numbers(t*d), bench.Numbers(n*t), make([]float64, t*d), make([]float64, n*t)
			return func(be engine.Backend) func() {
				return func() {
					clear(g)
					be.Gradient(engine.View(n, d, a), engine.View(t, d, x), engine.View(n, t, y), engine.View(t, d, g), engine.View(n, t, r))
				}
			}
		}, twoGemv(n, d, t)...)
	}
	for _, n := range []int{128, 256, 512} {
		k := n/2 + 1
		spd := gram(n)
		add(fmt.Sprintf("SymEig/%d/%d", n, k), "solves/s", 1, func() func(engine.Backend) func() {
			return func(be engine.Backend) func() {
				a, w, v, work := make([]float64, n*n), make([]float64, n), make([]float64, n*n), make([]float64, be.SymEigWork(n, k))
				return func() {
					copy(a, spd)
					if !be.SymEig(engine.View(n, n, a), w, engine.View(k, n, v), work) {
						panic("no convergence")
					}
				}
			}
		}, dsyevd(n, spd)...)
	}
	for _, n := range []int{1024, 2048} {
		spd := gram(n)
		add(fmt.Sprintf("Cholesky/%d", n), "GFLOP/s", 1e-9*cube(n)/3, func() func(engine.Backend) func() {
			a := make([]float64, n*n)
			return func(be engine.Backend) func() {
				return func() {
					copy(a, spd)
					if _, ok := be.Cholesky(engine.View(n, n, a)); !ok {
						panic("not positive definite")
					}
				}
			}
		})
	}
	add("QR/2048×512", "GFLOP/s", 1e-9*(2*2048*512*512-2.0/3*cube(512)), func() func(engine.Backend) func() {
		const m, n = 2048, 512
		x, a := bench.Numbers(m*n), make([]float64, m*n)
		return func(be engine.Backend) func() {
			work := make([]float64, be.QRWork(m, n))
			return func() {
				copy(a, x)
				be.QR(engine.View(m, n, a), work)
			}
		}
	})
	return all
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
