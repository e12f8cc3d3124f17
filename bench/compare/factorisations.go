package main

import (
	"fmt"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/engine"
)

// factorisations are the eigenvalues of a shrink and what an exact fit takes.
func (who competitors) factorisations() []entry {
	var all []entry
	for _, n := range []int{128, 256, 512} {
		k := n/2 + 1
		spd := gram(n)
		all = append(all, who.entry(fmt.Sprintf("SymEig/%d/%d", n, k), "solves/s", 1, func() work {
			return func(be engine.Backend) func() {
				a, w, v, work := make([]float64, n*n), make([]float64, n), make([]float64, n*n), make([]float64, be.SymEigWork(n, k))
				return func() {
					copy(a, spd)
					if !be.SymEig(engine.View(n, n, a), w, engine.View(k, n, v), work) {
						panic("no convergence")
					}
				}
			}
		}, dsyevd(n, spd)...))
	}
	for _, n := range []int{1024, 2048} {
		spd := gram(n)
		all = append(all, who.entry(fmt.Sprintf("Cholesky/%d", n), "GFLOP/s", 1e-9*cube(n)/3, func() work {
			a := make([]float64, n*n)
			return func(be engine.Backend) func() {
				return func() {
					copy(a, spd)
					if _, ok := be.Cholesky(engine.View(n, n, a)); !ok {
						panic("not positive definite")
					}
				}
			}
		}))
	}
	all = append(all, who.entry("QR/2048×512", "GFLOP/s", 1e-9*(2*2048*512*512-2.0/3*cube(512)), func() work {
		const m, n = 2048, 512
		x, a := bench.Numbers(m*n), make([]float64, m*n)
		return func(be engine.Backend) func() {
			work := make([]float64, be.QRWork(m, n))
			return func() {
				copy(a, x)
				be.QR(engine.View(m, n, a), work)
			}
		}
	}))
	return all
}
