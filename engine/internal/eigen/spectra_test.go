package eigen

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// gonumKernels are the kernels of these tests.
type gonumKernels struct{}

func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

func (gonumKernels) Gemm(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
	m, n, k := matrix.CheckProduct(transA, transB, &a, &b, &c)
	gonum.Implementation{}.Dgemm(
		trans(transA),
		trans(transB),
		m,
		n,
		k,
		alpha,
		a.Data,
		a.Stride,
		b.Data,
		b.Stride,
		beta,
		c.Data,
		c.Stride,
	)
}

func (gonumKernels) Gemmt(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
	lower(gonumKernels{}, transA, transB, alpha, a, b, beta, c)
}

// lower computes a lower triangle row by row.
func lower(kr Kernels, transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
	for i := range c.Rows {
		kr.Gemm(
			transA,
			transB,
			alpha,
			matrix.Span(transA, a, i, i+1),
			matrix.Span(!transB, b, 0, i+1),
			beta,
			c.Slice(i, i+1, 0, i+1),
		)
	}
}

func (gonumKernels) Gemv(transA bool, alpha float64, a matrix.Matrix, x []float64, beta float64, y []float64) {
	gonum.Implementation{}.Dgemv(trans(transA), a.Rows, a.Cols, alpha, a.Data, a.Stride, x, 1, beta, y, 1)
}

func (gonumKernels) Symv(a matrix.Matrix, x, y []float64) {
	gonum.Implementation{}.Dsymv(blas.Lower, a.Rows, 1, a.Data, a.Stride, x, 1, 0, y, 1)
}

// plainLoops are the loops of these tests.
type plainLoops struct{}

func (plainLoops) Poles(
	down bool,
	origin, tau float64,
	d, zz, delta []float64,
) (sum, slope, partials float64) {
	for k := range d {
		i := k
		if down {
			i = len(d) - 1 - k
		}
		delta[i] = (d[i] - origin) - tau
		sum += zz[i] / delta[i]
		slope += zz[i] / delta[i] / delta[i]
		partials += sum
	}
	return sum, slope, partials
}

func (plainLoops) ScaleQuotients(pole float64, delta, d, y []float64) {
	for i := range y {
		y[i] *= delta[i] / (d[i] - pole)
	}
}

// A family makes symmetric n×n matrices, both triangles filled.
type family struct {
	name string
	make func(rnd *rand.Rand, n int) []float64
}

var families = []family{
	{"random", func(rnd *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 { return rnd.NormFloat64() })
	}},
	{"zero", func(_ *rand.Rand, n int) []float64 { return make([]float64, n*n) }},
	{"identity", func(_ *rand.Rand, n int) []float64 {
		return withSpectrum(nil, n, func(int) float64 { return 1 })
	}},
	{"diagonal", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(nil, n, func(int) float64 { return rnd.NormFloat64() })
	}},
	{"uniform spectrum", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(i int) float64 { return float64(i) })
	}},
	{"all equal", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(int) float64 { return -3 })
	}},
	{"clustered at eps", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(i int) float64 { return 1 + float64(i)*eps })
	}},
	{"three clusters", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(i int) float64 { return float64(i%3-1) + 1e-9*rnd.Float64() })
	}},
	{"repeated", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(i int) float64 { return float64(i / 4) })
	}},
	{"graded spectrum", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(i int) float64 { return math.Pow(0.5, float64(i)) })
	}},
	{"one large", func(rnd *rand.Rand, n int) []float64 {
		return withSpectrum(rnd, n, func(i int) float64 {
			if i == 0 {
				return 1
			}
			return 1e-16
		})
	}},
	{"graded down", func(rnd *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 { return rnd.NormFloat64() * math.Pow(10, -float64(i+j)/2) })
	}},
	{"graded up", func(rnd *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 { return rnd.NormFloat64() * math.Pow(10, float64(i+j-2*n)/2) })
	}},
	{"wildly graded", func(rnd *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 { return rnd.NormFloat64() * math.Pow(10, 600*(rnd.Float64()-0.5)) })
	}},
	{"rank one", func(rnd *rand.Rand, n int) []float64 { return gram(rnd, n, 1) }},
	{"rank deficient", func(rnd *rand.Rand, n int) []float64 { return gram(rnd, n, n/2+1) }},
	{"sketch", sketchGram},
	{"arrowhead", func(rnd *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 {
			if i == j || i == n-1 || j == 0 {
				return rnd.NormFloat64()
			}
			return 0
		})
	}},
	{"tridiagonal", func(rnd *rand.Rand, n int) []float64 {
		return banded(n, func(int) float64 { return rnd.NormFloat64() }, func(int) float64 { return rnd.NormFloat64() })
	}},
	{"1-2-1", func(_ *rand.Rand, n int) []float64 {
		return banded(n, func(int) float64 { return 2 }, func(int) float64 { return -1 })
	}},
	{"zero diagonal", func(_ *rand.Rand, n int) []float64 {
		return banded(n, func(int) float64 { return 0 }, func(int) float64 { return 1 })
	}},
	{"Wilkinson", func(_ *rand.Rand, n int) []float64 {
		return banded(
			n,
			func(i int) float64 { return math.Abs(float64(n-1)/2 - float64(i)) },
			func(int) float64 { return 1 },
		)
	}},
	{"glued Wilkinson", func(_ *rand.Rand, n int) []float64 {
		return banded(n, func(i int) float64 { return math.Abs(float64(10 - i%21)) }, func(i int) float64 {
			if i%21 == 20 {
				return 1e-14
			}
			return 1
		})
	}},
	{"tiny couplings", func(rnd *rand.Rand, n int) []float64 {
		return banded(n, func(int) float64 { return 0 }, func(int) float64 { return math.Pow(10, -320*rnd.Float64()) })
	}},
	{"two scales", func(rnd *rand.Rand, n int) []float64 {
		size := func(i int) float64 {
			if i <= n/8 {
				return 1
			}
			return 1e-310
		}
		return banded(
			n,
			func(i int) float64 { return size(i) * rnd.NormFloat64() },
			func(i int) float64 { return size(i) * rnd.NormFloat64() },
		)
	}},
	{"blocks", func(rnd *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 {
			if i/7 != j/7 {
				return 0
			}
			return rnd.NormFloat64()
		})
	}},
	{"ones", func(_ *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 { return 1 })
	}},
	{"Hilbert", func(_ *rand.Rand, n int) []float64 {
		return symmetric(n, func(i, j int) float64 { return 1 / float64(i+j+1) })
	}},
}

// symmetric fills both triangles from f, called with i >= j.
func symmetric(n int, f func(i, j int) float64) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = f(i, j)
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

func banded(n int, diag, off func(i int) float64) []float64 {
	return symmetric(n, func(i, j int) float64 {
		switch i - j {
		case 0:
			return diag(i)
		case 1:
			return off(j)
		}
		return 0
	})
}

// withSpectrum returns the diagonal matrix of the spectrum, seen through six
// random reflections when rnd is not nil.
func withSpectrum(rnd *rand.Rand, n int, spectrum func(i int) float64) []float64 {
	a := banded(n, spectrum, func(int) float64 { return 0 })
	if rnd == nil || n == 0 {
		return a
	}
	v, av := make([]float64, n), make([]float64, n)
	for range 6 {
		var norm2, vav float64
		for i := range v {
			v[i] = rnd.NormFloat64()
			norm2 += v[i] * v[i]
		}
		gonumKernels{}.Gemv(false, 1, matrix.View(n, n, a), v, 0, av)
		for i := range v {
			vav += v[i] * av[i]
		}
		for i := range n {
			for j := range i + 1 {
				a[i*n+j] += 2 / norm2 * (2/norm2*vav*v[i]*v[j] - v[i]*av[j] - av[i]*v[j])
				a[j*n+i] = a[i*n+j]
			}
		}
	}
	return a
}

// gram returns B·Bᵀ for a random n×r matrix B.
func gram(rnd *rand.Rand, n, r int) []float64 {
	b := make([]float64, n*r)
	for i := range b {
		b[i] = rnd.NormFloat64()
	}
	a := make([]float64, n*n)
	if n > 0 {
		gonumKernels{}.Gemm(false, true, 1, matrix.View(n, r, b), matrix.View(n, r, b), 0, matrix.View(n, n, a))
	}
	return a
}

// sketchGram returns what Frequent Directions feeds the solver: the Gram matrix
// of n/2 orthogonal rows of decaying norm over as many new rows.
func sketchGram(rnd *rand.Rand, n int) []float64 {
	m := n / 2
	return symmetric(n, func(i, j int) float64 {
		switch {
		case i == j:
			return 3 * float64(n) * math.Pow(0.97, float64(i))
		case i < m:
			return 0
		}
		return rnd.NormFloat64() * math.Pow(0.985, float64(j))
	})
}
