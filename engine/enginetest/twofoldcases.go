package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

// twofoldCases returns test cases of every kind for each of several shapes. The shapes are near the sizes of
// blocks.
func twofoldCases() []twofoldCase {
	var cases []twofoldCase
	shapes := [][3]int{
		{3, 0, 1},
		{1, 1, 1},
		{3, 2, 1},
		{4, 7, 2},
		{5, 8, 1},
		{7, 17, 3},
		{33, 5, 1},
		{64, 31, 2},
		{130, 70, 1},
		{40, 520, 1},
		{9, 1100, 2},
		{300, 12, 5},
	}
	for i, s := range shapes {
		for _, kind := range []func(rng *rand.Rand, c *twofoldCase){
			ordinary, scaled, cancelling, shifted, outliers, graded, small, large, faint, faintX,
		} {
			c := twofoldCase{n: s[0], d: s[1], t: s[2]}
			kind(random(uint64(i)), &c)
			c.name = fmt.Sprintf("%s, n = %d, d = %d, t = %d", c.name, c.n, c.d, c.t)
			cases = append(cases, c)
		}
	}
	return cases
}

// exactTwofolds returns the test cases with their exact results. It computes them once for all backends.
var exactTwofolds = sync.OnceValue(func() []twofoldCase {
	cases := twofoldCases()
	for i := range cases {
		cases[i].want = cases[i].exact()
	}
	return cases
})

// table computes f once for each element of a rows×cols matrix. It returns a function that looks up these values.
func table(rows, cols int, f func(i, j int) float64) func(i, j int) float64 {
	x := make([]float64, rows*cols)
	for i := range x {
		x[i] = f(i/max(1, cols), i%max(1, cols))
	}
	return func(i, j int) float64 { return x[i*cols+j] }
}

func ordinary(rng *rand.Rand, c *twofoldCase) {
	c.name = "normal"
	c.a, c.x, c.b = table(c.n, c.d, normal(rng)), table(c.t, c.d, normal(rng)), table(c.n, c.t, normal(rng))
	c.g = table(c.t, c.d, normal(rng))
}

// scaled sets operands whose rows, columns and weights have very different sizes.
func scaled(rng *rand.Rand, c *twofoldCase) {
	c.name = "scales of rows and columns, weights"
	power := func() float64 { return math.Exp2(float64(rng.IntN(200) - 100)) }
	row, col := table(c.n, 1, func(int, int) float64 { return power() }),
		table(c.d, 1, func(int, int) float64 { return power() })
	c.a = table(c.n, c.d, func(i, j int) float64 { return rng.NormFloat64() * row(i, 0) * col(j, 0) })
	c.x = table(c.t, c.d, func(_, j int) float64 { return rng.NormFloat64() / col(j, 0) })
	c.b = table(c.n, c.t, func(i, _ int) float64 { return rng.NormFloat64() * row(i, 0) })
	c.w = table(c.n, 1, func(i, _ int) float64 { return 1 / row(i, 0) / row(i, 0) * rng.Float64() })
}

// cancelling sets targets B that are A·Xᵀ rounded to float64. The residuals A·Xᵀ − B then have the size of a
// rounding error.
func cancelling(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name = "residuals of a rounding"
	a, x := c.a, c.x
	c.b = table(c.n, c.t, func(i, q int) float64 {
		var s sum
		for j := range c.d {
			s.add(a(i, j), x(q, j))
		}
		return s.value()
	})
	c.g = nil
}

// shifted adds large constants to all elements of the block A and the targets B. Its shift c cancels these
// constants in the residuals A·Xᵀ − B + 1·cᵀ. So the residuals are about as large as without the constants.
func shifted(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name = "far from zero, and shifted"
	a, x, b := c.a, c.x, c.b
	c.a = func(i, j int) float64 { return 1e9 + a(i, j) }
	c.b = func(i, q int) float64 { return 1e6 + b(i, q) }
	c.shift = table(c.t, 1, func(q, _ int) float64 {
		s := 1e6
		for j := range c.d {
			s -= 1e9 * x(q, j)
		}
		return s
	})
}

// outliers makes a few rows and entries of A much larger than the others.
func outliers(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name, c.rough = "outliers", true
	c.a = table(c.n, c.d, func(i, j int) float64 {
		switch {
		case i%7 == 0:
			return 1e18 * rng.NormFloat64()
		case (i+j)%11 == 0:
			return 1e9
		case j%5 == 0:
			return 0
		}
		return rng.NormFloat64()
	})
	c.w = table(c.n, 1, func(i, _ int) float64 {
		if i%7 == 0 {
			return 1e-30
		}
		return 1
	})
}

// graded chooses A so that the terms of a residual cancel. The residuals are about 10⁻³⁰ times as large as their
// terms.
func graded(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name, c.rough = "condition 1e30", true
	x := c.x
	c.a = func() func(i, j int) float64 {
		a := make([][]float64, c.n)
		for i := range a {
			a[i] = make([]float64, c.d)
			s := newExact(0)
			for j := range a[i] {
				size := math.Exp2(float64(-100*j) / float64(c.d))
				a[i][j] = rng.NormFloat64() * size
				if j > c.d/2 { // cancels most of the sum so far
					v, _ := s.Float64()
					a[i][j] = -v / x(0, j)
				}
				s.Add(s, times(a[i][j], x(0, j)))
			}
		}
		return func(i, j int) float64 { return a[i][j] }
	}()
	c.b, c.g = nil, nil
}

func small(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name = "near underflow"
	a, b := c.a, c.b
	c.a = func(i, j int) float64 { return a(i, j) * 0x1p-530 }
	c.b = func(i, j int) float64 { return b(i, j) * 0x1p-520 }
	c.g = nil
}

// faint sets targets so small that the residuals R are near the smallest positive float64. Large entries of A
// multiply the underflow errors of R in the products RᵀA.
func faint(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name, c.rough = "targets that are all but 0", true
	a, b := c.a, c.b
	c.a = func(i, j int) float64 { return a(i, j) * 0x1p300 }
	c.b = func(i, j int) float64 { return b(i, j) * 0x1p-1012 }
	c.x, c.g = func(int, int) float64 { return 0 }, nil
}

// faintX sets a matrix X with elements near the smallest positive float64. The rows of A have different sizes.
func faintX(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name, c.rough = "x that is all but 0", true
	a, x := c.a, c.x
	c.a = func(i, j int) float64 { return a(i, j) * math.Exp2(float64(300+17*(i%7))) }
	c.x = func(i, j int) float64 { return x(i, j) * 0x1p-1060 }
	c.b, c.g = nil, nil
}

func large(rng *rand.Rand, c *twofoldCase) {
	ordinary(rng, c)
	c.name = "near overflow"
	a := c.a
	c.a = func(i, j int) float64 { return a(i, j) * 0x1p500 }
}
