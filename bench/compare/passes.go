package main

import (
	"fmt"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/engine"
)

// passes go once through a matrix that no cache holds: products with a vector, and the
// gradient of a pass over the rows.
func (who competitors) passes() []entry {
	var all []entry
	for _, trans := range []bool{false, true} {
		all = append(all, who.entry(fmt.Sprintf("Gemv/trans=%v/4096×1024", trans), "GB/s", 8e-9*4096*1024, func() work {
			a, x, y := bench.Numbers(4096*1024), bench.Numbers(4096), make([]float64, 4096)
			return func(be engine.Backend) func() {
				return func() { be.Gemv(trans, 1, engine.View(4096, 1024, a), x, 0, y) }
			}
		}))
	}
	for _, t := range []int{1, 3, 10} {
		const n, d = 100000, 1024
		all = append(all, who.entry(fmt.Sprintf("Gradient/%d×%d/t=%d", n, d, t), "GB/s", 8e-9*n*d, func() work {
			a, x, y, g, r := ones(n*d), bench.Numbers(t*d), bench.Numbers(n*t), make([]float64, t*d), make([]float64, n*t)
			return func(be engine.Backend) func() {
				return func() {
					clear(g)
					be.Gradient(engine.View(n, d, a), engine.View(t, d, x), engine.View(n, t, y), engine.View(t, d, g), engine.View(n, t, r))
				}
			}
		}, twoGemv(n, d, t)...))
	}
	return all
}
