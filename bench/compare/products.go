package main

import (
	"fmt"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/engine"
)

// products are those of two matrices: general ones, and those of a sketch.
func (who competitors) products() []entry {
	var all []entry
	for _, n := range []int{512, 1024, 2048} {
		for _, s := range []struct {
			name   string
			ta, tb bool
		}{{"NN", false, false}, {"TN", true, false}, {"NT", false, true}} {
			all = append(all, who.entry(fmt.Sprintf("Gemm/%s/%d", s.name, n), "GFLOP/s", 2e-9*cube(n), func() work {
				a, b, c := bench.Numbers(n*n), bench.Numbers(n*n), make([]float64, n*n)
				return func(be engine.Backend) func() {
					return func() { be.Gemm(s.ta, s.tb, 1, engine.View(n, n, a), engine.View(n, n, b), 0, engine.View(n, n, c)) }
				}
			}))
		}
	}
	for _, s := range [][2]int{{512, 1024}, {256, 4096}, {128, 16384}} {
		n, k := s[0], s[1]
		all = append(all, who.entry(fmt.Sprintf("Syrk/%d×%d", n, k), "GFLOP/s", 1e-9*float64(n*(n+1))*float64(k), func() work {
			a, c := bench.Numbers(n*k), make([]float64, n*n)
			return func(be engine.Backend) func() {
				return func() { be.Syrk(false, 1, engine.View(n, k, a), 0, engine.View(n, n, c)) }
			}
		}))
	}
	// The products of a shrink: the Gram of new rows with kept ones, the rebuild.
	for _, s := range [][2]int{{256, 1024}, {64, 1024}, {128, 4096}, {64, 16384}} {
		m, d := s[0], s[1]
		all = append(all, who.entry(fmt.Sprintf("Gram/%d×%d", m, d), "GFLOP/s", 2e-9*float64(m*m)*float64(d), func() work {
			a, b, c := bench.Numbers(m*d), bench.Numbers(m*d), make([]float64, m*m)
			return func(be engine.Backend) func() {
				return func() { be.Gemm(false, true, 1, engine.View(m, d, a), engine.View(m, d, b), 0, engine.View(m, m, c)) }
			}
		}))
		all = append(all, who.entry(fmt.Sprintf("Rebuild/%d×%d", m, d), "GFLOP/s", 2e-9*float64(m*2*m)*float64(min(512, d)), func() work {
			u, b, c := bench.Numbers(m*2*m), bench.Numbers(2*m*d), make([]float64, m*d)
			return func(be engine.Backend) func() {
				return func() {
					be.Gemm(false, false, 1, engine.View(m, 2*m, u), engine.Strided(2*m, min(512, d), b, d), 0, engine.Strided(m, min(512, d), c, d))
				}
			}
		}))
	}
	return all
}
