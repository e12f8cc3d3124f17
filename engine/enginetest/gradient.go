package enginetest

import (
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

func gradient(t *testing.T, be engine.Backend, fewer bool) {
	trial := 0
	for _, n := range []int{0, 1, 2, 7, 33, 64, 130} {
		for _, d := range []int{0, 1, 2, 9, 24, 65} {
			for _, q := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 23, 24, 33} {
				trial++
				if fewer && trial%3 > 0 {
					continue
				}
				gradientOnce(t, be, n, d, q, trial%2 == 0, uint64(trial))
			}
		}
	}
	for q := range 71 { // more than the blocks of rows and columns in a backend
		for _, c := range [][2]int{{3, 2}, {9, 23}, {31, 265}, {257, 25}} {
			trial++
			if fewer && trial%5 > 0 {
				continue
			}
			gradientOnce(t, be, c[0], c[1], q, trial%2 == 0, uint64(trial))
		}
	}
}

func gradientOnce(t *testing.T, be engine.Backend, n, d, q int, withB bool, seed uint64) {
	t.Helper()
	rng := random(seed)
	a, x, b := newMatrix(n, d, normal(rng)), newMatrix(q, d, normal(rng)), newMatrix(n, q, normal(rng))
	g, r := newOutput(q, d, normal(rng)), newOutput(n, q, nan)
	rhs := b.view()
	if !withB {
		rhs = engine.Matrix{}
	}
	be.Gradient(a.view(), x.view(), rhs, g.view(), r.view())
	what := fmt.Sprintf("Gradient(%d, %d, %d, b %v)", n, d, q, withB)
	ofR, ofG := what+" R", what+" G"
	for _, m := range []*matrix{a, x, b} {
		m.checkUnchanged(t, what)
	}
	g.checkGuards(t, what, anywhere)
	r.checkGuards(t, what, anywhere)
	for i := range n {
		for j := range q {
			var want sum
			for l := range d {
				want.add(a.was(i, l), x.was(j, l))
			}
			if withB {
				want.add(-1, b.was(i, j))
			}
			checkSum(t, ofR, r.at(i, j), want, promisedBound(be, true, d))
		}
	}
	for j := range q {
		for l := range d {
			var want sum
			want.add(1, g.was(j, l))
			for i := range n { // using the computed R
				want.add(r.at(i, j), a.was(i, l))
			}
			checkSum(t, ofG, g.at(j, l), want, promisedBound(be, false, n))
		}
	}
}
