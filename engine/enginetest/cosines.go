package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// cosines checks Cosines and SparseCosines against the formula of engine.CosineMap, and against the bits of the
// portable kernel. The bits of a row must not depend on the other rows of its block. They must also be the same
// whether the row is dense or sparse.
func cosines(t *testing.T, be engine.Backend) {
	generic, err := engine.New("purego", engine.Tuning{ISA: "generic"})
	if err != nil {
		t.Fatal(err)
	}
	// The three numbers are the dimensions of the map and its rows. The number of outputs is near multiples of the
	// panel width. In some cases, inputs and rows are numerous enough for several parts.
	for i, s := range [][3]int{{1, 1, 1}, {3, 0, 5}, {4, 2, 128}, {5, 3, 127}, {7, 9, 129}, {9, 17, 260}, {33, 300, 70}, {6, 600, 200}, {300, 5, 129}, {0, 3, 4}, {3, 3, 0}} {
		c := newCosineCase(random(uint64(i)), s[0], s[1], s[2])
		t.Run(c.name, func(t *testing.T) {
			c.formula(t, be)
			c.bits(t, be, generic)
		})
	}
	t.Run("OutOfRange", func(t *testing.T) { cosinesOutOfRange(t, be) })
	t.Run("Panics", func(t *testing.T) { cosinesPanics(t, be) })
}

// A cosineCase is a CosineMap with n rows of d inputs, to which the map is applied. D is the number of outputs. The
// rows and weights include zeros of both signs.
type cosineCase struct {
	name    string
	n, d, D int
	scale   float64
	x, w    *matrix
	u       []float64
	m       *engine.CosineMap
}

func newCosineCase(rng *rand.Rand, n, d, components int) *cosineCase {
	c := &cosineCase{
		name:  fmt.Sprintf("n = %d, d = %d, D = %d", n, d, components),
		n:     n,
		d:     d,
		D:     components,
		scale: 0.3,
	}
	c.x = newMatrix(n, d, func(int, int) float64 {
		switch rng.IntN(6) {
		case 0:
			return 0
		case 1:
			return math.Copysign(0, -1)
		}
		return 3 * rng.NormFloat64()
	})
	c.w = newMatrix(d, components, normal(rng))
	for range components {
		c.u = append(c.u, 2*math.Pi*rng.Float64())
	}
	if components > 1 {
		c.u[0], c.u[1] = math.Copysign(0, -1), 3e9 // a zero, and a number too large for the fast reduction
	}
	c.m = engine.NewCosineMap(d, c.u, c.scale)
	for j := range d {
		c.m.SetWeights(j, c.w.view().Row(j))
	}
	return c
}

func (c *cosineCase) compute(t *testing.T, be engine.Backend) *matrix {
	z := newOutput(c.n, c.D, nan)
	if !be.Cosines(c.m, c.x.view(), z.view()) {
		t.Fatal("reported as not finite")
	}
	z.checkGuards(t, c.name, anywhere)
	c.x.checkUnchanged(t, c.name)
	return z
}

func (c *cosineCase) formula(t *testing.T, be engine.Backend) {
	z := c.compute(t, be)
	for i := range c.n {
		for j := range c.D {
			s := c.u[j]
			for l := range c.d {
				s = math.FMA(c.x.at(i, l), c.w.at(l, j), s)
			}
			if want := c.scale * math.Cos(s); !(math.Abs(z.at(i, j)-want) <= 4*0x1p-53*c.scale) {
				t.Fatalf("element (%d, %d) is %v, want %v", i, j, z.at(i, j), want)
			}
		}
	}
}

func (c *cosineCase) bits(t *testing.T, be, generic engine.Backend) {
	want := c.compute(t, generic)
	equal := func(what string, z *matrix, first int) {
		t.Helper()
		for i := range z.r {
			for j := range z.c {
				if got, want := z.at(i, j), want.at(first+i, j); math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%s: element (%d, %d) is %x, want %x", what, first+i, j, got, want)
				}
			}
		}
	}
	equal("this kernel", c.compute(t, be), 0)
	rng := random(9)
	for what, keep := range map[string]func() bool{
		"no zeros":   noZeros,
		"all zeros":  func() bool { return true },
		"some zeros": func() bool { return rng.IntN(2) == 0 },
	} {
		s := toCSR(c.x.view(), keep)
		z := newOutput(c.n, c.D, nan)
		if !be.SparseCosines(c.m, s.RowPtr, s.ColIdx, s.Val, z.view()) {
			t.Fatal("reported as not finite")
		}
		z.checkGuards(t, what, anywhere)
		equal("sparse, "+what, z, 0)
		for i := range min(c.n, 9) {
			row := s.Slice(i, i+1)
			z := newOutput(1, c.D, nan)
			be.SparseCosines(c.m, row.RowPtr, row.ColIdx, row.Val, z.view())
			equal("a sparse row alone, "+what, z, i)
		}
	}
	for first := range min(c.n, 5) {
		z := newOutput(c.n-first, c.D, nan)
		be.Cosines(c.m, engine.Strided(c.n-first, c.d, c.x.data[min(first*c.x.ld, len(c.x.data)):], c.x.ld), z.view())
		equal("fewer rows", z, first)
	}
}

// cosinesOutOfRange checks that an infinite, NaN or huge input gives NaN only in its own row, and that Cosines then
// returns false.
func cosinesOutOfRange(t *testing.T, be engine.Backend) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		c := newCosineCase(random(5), 9, 4, 70)
		for j := range c.d {
			c.m.SetWeights(j, slices.Repeat([]float64{2}, c.D))
		}
		c.x.data[3*c.x.ld+2] = v
		z := newOutput(c.n, c.D, nan)
		if be.Cosines(c.m, c.x.view(), z.view()) {
			t.Errorf("%v in row 3: reported as finite", v)
		}
		s := toCSR(c.x.view(), noZeros)
		if be.SparseCosines(c.m, s.RowPtr, s.ColIdx, s.Val, newOutput(c.n, c.D, nan).view()) {
			t.Errorf("%v in sparse row 3: reported as finite", v)
		}
		for i := range c.n {
			for j := range c.D {
				if math.IsNaN(z.at(i, j)) != (i == 3) {
					t.Fatalf("%v in row 3: element (%d, %d) is %v", v, i, j, z.at(i, j))
				}
			}
		}
	}
}

func cosinesPanics(t *testing.T, be engine.Backend) {
	m := engine.NewCosineMap(2, make([]float64, 3), 1)
	x, z := engine.View(4, 2, make([]float64, 8)), engine.View(4, 3, make([]float64, 12))
	ptr, idx, val := []int{0, 1, 1, 2, 3}, []int32{0, 1, 1}, []float64{1, 2, 3}
	mustPanic(t, map[string]func(){
		"negative inputs":     func() { engine.NewCosineMap(-1, nil, 1) },
		"short weights":       func() { m.SetWeights(0, make([]float64, 2)) },
		"other inputs":        func() { be.Cosines(m, engine.View(4, 3, make([]float64, 12)), z) },
		"other components":    func() { be.Cosines(m, x, engine.View(4, 2, make([]float64, 8))) },
		"other rows":          func() { be.Cosines(m, x, engine.View(3, 3, make([]float64, 9))) },
		"short x":             func() { be.Cosines(m, engine.View(4, 2, make([]float64, 7)), z) },
		"no row pointers":     func() { be.SparseCosines(m, nil, idx, val, z) },
		"other sparse rows":   func() { be.SparseCosines(m, ptr[:4], idx, val, z) },
		"decreasing pointers": func() { be.SparseCosines(m, []int{0, 2, 1, 3, 3}, idx, val, z) },
		"negative pointers":   func() { be.SparseCosines(m, []int{-1, 1, 1, 2, 3}, idx, val, z) },
		"few values":          func() { be.SparseCosines(m, ptr, idx, val[:2], z) },
		"few columns":         func() { be.SparseCosines(m, ptr, idx[:2], val, z) },
		"column behind":       func() { be.SparseCosines(m, ptr, []int32{0, 2, 1}, val, z) },
		"negative column":     func() { be.SparseCosines(m, ptr, []int32{0, -1, 1}, val, z) },
	})
}
