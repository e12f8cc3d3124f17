package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/fdridge/fdridge/internal/twofold"
)

// wide returns n numbers of different size, zeros among them.
func (g *guarded) wide(n int) []float64 {
	x := g.normal(n)
	for i := range x {
		x[i] *= math.Exp2(float64(g.rng.IntN(60) - 30))
		if g.rng.IntN(8) == 0 {
			x[i] = 0
		}
	}
	return x
}

// twins runs loop with the kernel under test and with the kernel in Go, on copies of the vectors in, and compares the
// results. The operands of the kernel under test lie in guarded memory.
func (g *guarded) twins(what string, in [][]float64, loop func(k *Twofold, p []*float64)) {
	g.Helper()
	var want [][]float64
	var here, there []*float64
	for i, x := range in {
		want = append(want, slices.Clone(x))
		there = append(there, unsafe.SliceData(want[i]))
		if i < len(g.areas) {
			in[i] = g.put(i, x)
		}
		here = append(here, unsafe.SliceData(in[i]))
	}
	loop(&g.kernel.Twofold, here)
	loop(&twofoldGo, there)
	for i := range in {
		g.equal(fmt.Sprint(what, ", operand ", i), in[i], want[i])
	}
	for i, a := range g.areas {
		if !a.intact() {
			g.fail("%s wrote outside of operand %d", what, i)
		}
	}
}

func TestTwofoldMax(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			for _, lda := range []int{n, n + 5} {
				g.begin("n %d, lda %d", n, lda)
				a := g.wide(4*lda + n)[:extent(4, n, lda)]
				c := g.normal(n)
				for j := range c {
					c[j] = math.Abs(c[j])
				}
				g.twins(
					"Maxima",
					[][]float64{slices.Clone(a), g.normal(4), slices.Clone(c)},
					func(k *Twofold, p []*float64) { k.Maxima(n, p[0], lda, p[1], p[2]) },
				)
				g.twins(
					"ColMax",
					[][]float64{a, {0.5, 1, 0, 0x1p90}, c},
					func(k *Twofold, p []*float64) { k.ColMax(n, p[1], p[0], lda, p[2]) },
				)
			}
		}
	})
}

// TestTwofoldSums begins, adds to and ends sums of two numbers, each to the bits of the
// twin, but for bounds of errors: these are added up with other roundings.
func TestTwofoldSums(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			g.begin("n %d", n)
			c, a, coef := make([]float64, n), g.normal(4*n+4), g.normal(8)
			for j := range c {
				c[j] = 1 + 4*g.rng.Float64()
			}
			for i := range 4 {
				coef[4+i] = coef[i] * 0x1p-55
			}
			const sigma, eps = 10, 0x1p-80
			g.twins(
				"Open",
				[][]float64{slices.Clone(c), g.normal(n), g.normal(n)},
				func(k *Twofold, p []*float64) { k.Open(n, sigma, p[0], p[1], p[2]) },
			)
			h, l := make([]float64, n), make([]float64, n)
			openGo(n, sigma, unsafe.SliceData(c), unsafe.SliceData(h), unsafe.SliceData(l))
			g.twins(
				"Axpys",
				[][]float64{h, l, a[:4*n], coef},
				func(k *Twofold, p []*float64) { k.Axpys(n, p[3], p[2], n, p[0], p[1]) },
			)
			axpysTwofoldGo(n, unsafe.SliceData(coef), unsafe.SliceData(a), n, unsafe.SliceData(h), unsafe.SliceData(l))
			gh, gl := g.normal(n), make([]float64, n)
			bounds := [2][]float64{make([]float64, n), make([]float64, n)}
			at := 0
			g.twins("Close", [][]float64{gh, gl, slices.Clone(c), h, l}, func(k *Twofold, p []*float64) {
				k.Close(n, sigma, eps, p[2], p[3], p[4], p[0], p[1], unsafe.SliceData(bounds[at]))
				at++
			})
			g.twins(
				"Add",
				[][]float64{g.normal(n), make([]float64, n), slices.Clone(gh), slices.Clone(gl), slices.Clone(c)},
				func(k *Twofold, p []*float64) {
					at = (at + 1) % 2
					k.Add(n, p[2], p[3], p[4], p[0], p[1], unsafe.SliceData(bounds[1-at]))
				},
			)
			for j := range bounds[0] {
				g.near("bound", j, bounds[0][j], bounds[1][j], bounds[1][j], 8)
			}
		}
	})
}

func TestTwofoldDots(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.eachRows(func(n, lda int, a, x []float64) {
			base, s, want := make([]float64, 4), g.blank(2, 8), make([]float64, 8)
			for r := range base {
				_, size := dot2(n, row(a, r, n, lda), 1, x, 1)
				base[r] = Base(size * (1 + 0x1p-40))
			}
			g.kernel.Twofold.Dots(n, unsafe.SliceData(base), unsafe.SliceData(a), lda, unsafe.SliceData(x), &s[0])
			dotsTwofoldGo(n, unsafe.SliceData(base), unsafe.SliceData(a), lda, unsafe.SliceData(x), &want[0])
			g.written(1, 8, 9, s)
			for r := range 4 {
				d, e := twofold.Sum(s[r], -want[r])
				if off := d + (e + (s[4+r] - want[4+r])); !(math.Abs(off) <= base[r]*float64(n*n)*0x1p-105) {
					g.fail("row %d is off by %g of %g", r, off, base[r])
				}
			}
		})
	})
}
