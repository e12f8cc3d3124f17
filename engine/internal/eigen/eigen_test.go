package eigen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// reporter has the methods of testing.T and rapid.T that these tests use.
type reporter interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
}

const guard = 1234.5

// tolerance bounds residual and orthogonality in units of eps·n.
const tolerance = 10

// guarded returns NaNs with a guard after them.
func guarded(size int) []float64 {
	x := make([]float64, size+1)
	for i := range x {
		x[i] = math.NaN()
	}
	x[size] = guard
	return x[:size]
}

func checkGuard(t reporter, what string, x []float64) {
	t.Helper()
	if x[:len(x)+1][len(x)] != guard {
		t.Errorf("wrote past the end of %s", what)
	}
}

// run calls Sym on a copy of the lower triangle of a. The copy has leading dimension n+pad and is NaN elsewhere, and
// the workspace has exactly the size Work(n, k). run returns the results in compact slices.
func run(t reporter, n, k, pad int, a []float64) (w, v []float64, ok bool) {
	t.Helper()
	ld := n + pad
	ac := guarded(max(0, (n-1)*ld+n))
	for i := range n {
		copy(ac[i*ld:i*ld+i+1], a[i*n:])
	}
	w, vc, work := guarded(n), guarded(max(0, (k-1)*ld+n)), guarded(Work(n, k))
	ok = symOf(matrix.Strided(n, n, ac, max(1, ld)), w, matrix.Strided(k, n, vc, max(1, ld)), work)
	checkGuard(t, "a", ac)
	checkGuard(t, "w", w)
	checkGuard(t, "v", vc)
	checkGuard(t, "work", work)
	v = make([]float64, k*n)
	for i := range k {
		copy(v[i*n:(i+1)*n], vc[i*ld:])
		if i < k-1 {
			for _, x := range vc[i*ld+n : (i+1)*ld] {
				if !math.IsNaN(x) {
					t.Error("wrote between the rows of v")
				}
			}
		}
	}
	return w, v, ok
}

// scaled returns x·2ᵉˣᵖ.
func scaled(x []float64, exp int) []float64 {
	y := slices.Clone(x)
	matrix.Scale(y, exp)
	return y
}

// quality returns the largest error of the eigenvalues w and the k eigenvectors vᵢ, the rows of V, of the n×n matrix
// a. For the vectors these are max ‖a·vᵢ − wᵢ·vᵢ‖/(eps·n·‖a‖) and max ‖(V·Vᵀ −
// I)ᵢ‖/(eps·n). For the eigenvalues these are |Σwᵢ² − ‖a‖_F²|/(eps·n·‖a‖_F²) and |Σwᵢ − tr
// a|/(eps·n·‖a‖_F). The result is +Inf if w is not descending.
func quality(n, k int, a, w, v []float64) float64 {
	if n == 0 {
		return 0
	}
	var top float64
	for _, x := range a {
		top = max(top, math.Abs(x))
	}
	_, exp := math.Frexp(top)
	a, w = scaled(a, -exp), scaled(w, -exp)
	for i := 1; i < n; i++ {
		if !(w[i-1] >= w[i]) {
			return math.Inf(1)
		}
	}
	var frobenius2, trace, sum, sum2 float64
	for i := range n { // row by row: n² roundings of one sum would show
		var row float64
		for _, x := range a[i*n : (i+1)*n] {
			row += x * x
		}
		frobenius2 += row
		trace += a[i*n+i]
	}
	for _, x := range w {
		sum += x
		sum2 += x * x
	}
	unit := eps * float64(n)
	norm := max(math.Abs(w[0]), math.Abs(w[n-1]))
	var worst float64
	switch {
	case top > 0:
		worst = max(math.Abs(sum2-frobenius2)/(unit*frobenius2), math.Abs(sum-trace)/(unit*math.Sqrt(frobenius2)))
	case norm == 0:
		norm = 1
	default:
		return math.Inf(1)
	}
	if k == 0 {
		return worst
	}
	r, g := make([]float64, k*n), make([]float64, k*k)
	gonumKernels{}.Gemm(false, false, 1, matrix.View(k, n, v), matrix.View(n, n, a), 0, matrix.View(k, n, r))
	gonumKernels{}.Gemm(false, true, 1, matrix.View(k, n, v), matrix.View(k, n, v), 0, matrix.View(k, k, g))
	for i := range k {
		var residual, skew float64
		for j := range n {
			residual += square(r[i*n+j] - w[i]*v[i*n+j])
		}
		g[i*k+i]--
		for j := range k {
			skew += square(g[i*k+j])
		}
		worst = max(worst, math.Sqrt(residual)/(unit*norm), math.Sqrt(skew)/unit)
	}
	return worst
}

func square(x float64) float64 { return x * x }

func check(t reporter, n, k int, a, w, v []float64, ok bool) float64 {
	t.Helper()
	if !ok {
		t.Errorf("n=%d k=%d: not converged", n, k)
		return 0
	}
	q := quality(n, k, a, w, v)
	if !(q <= tolerance) {
		t.Errorf("n=%d k=%d: %g times eps·n", n, k, q)
	}
	return q
}

// leading returns the numbers of vectors worth asking for.
func leading(n int) []int {
	ks := []int{0, min(1, n), n / 2, min(n/2+1, n), max(0, n-1), n}
	slices.Sort(ks)
	return slices.Compact(ks)
}

// TestFamilies tries each order up to 27, which the QL iteration solves alone. It tries every fifth of the larger
// orders, which are divided: every order if FDRIDGE_THOROUGH is set, every tenth with -short.
func TestFamilies(t *testing.T) {
	step, large := 5, []int{127, 128, 129}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		step, large = 1, []int{127, 128, 129, 255, 256, 257}
	}
	if testing.Short() {
		step, large = 10, []int{129}
	}
	for f, family := range families {
		t.Run(family.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, uint64(f)))
			var worst float64
			for n := 0; n <= 70; n++ {
				if n > 27 && n%step > 0 {
					continue
				}
				a := family.make(rnd, n)
				for _, k := range leading(n) {
					w, v, ok := run(t, n, k, n%3, a)
					worst = max(worst, check(t, n, k, a, w, v, ok))
				}
			}
			for _, n := range large {
				a := family.make(rnd, n)
				w, v, ok := run(t, n, n, 1, a)
				worst = max(worst, check(t, n, n, a, w, v, ok))
			}
			t.Logf("worst %.3g", worst)
		})
	}
}

// TestLarge tries one of two orders for every eighth family, and one of them for each where
// FDRIDGE_THOROUGH is set.
func TestLarge(t *testing.T) {
	thorough := os.Getenv("FDRIDGE_THOROUGH") != ""
	if testing.Short() {
		t.Skip("-short: orders 512 and 513 take minutes where the processor is emulated")
	}
	for f, family := range families {
		t.Run(family.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(2, uint64(f)))
			for i, n := range []int{512, 513} {
				if f%16 != 8*i && !(thorough && f%2 == i) {
					continue
				}
				a, k := family.make(rnd, n), n/(i+1)
				w, v, ok := run(t, n, k, 0, a)
				t.Logf("n=%d: %.3g", n, check(t, n, k, a, w, v, ok))
			}
		})
	}
}

// The scale of the matrix must not matter, and by a power of two not a bit.
func TestScale(t *testing.T) {
	for f, family := range families {
		t.Run(family.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, uint64(f)))
			for _, n := range []int{1, 2, 5, 40, 100} {
				a := family.make(rnd, n)
				if family.name == "wildly graded" {
					matrix.Scale(a, -512)
				}
				for _, s := range []float64{1e150, 1e-150, 1e-300} {
					b := slices.Clone(a)
					for i := range b {
						b[i] *= s
					}
					w, v, ok := run(t, n, n, 0, b)
					if !(slices.Max(append(b, 1)) <= math.MaxFloat64) {
						t.Fatal("bad test")
					}
					check(t, n, n, b, w, v, ok)
				}
			}
		})
	}
	rnd := rand.New(rand.NewPCG(4, 4))
	const n = 90
	a := families[0].make(rnd, n)
	w, v, _ := run(t, n, n, 0, a)
	for _, exp := range []int{-900, -13, 1, 800} {
		w2, v2, ok := run(t, n, n, 0, scaled(a, exp))
		if !ok || !slices.Equal(scaled(w, exp), w2) || !slices.Equal(v, v2) {
			t.Errorf("2^%d: not the same bits", exp)
		}
	}
}

func TestScalingFactor(t *testing.T) {
	for exp := -1100; exp <= 1100; exp++ {
		for _, x := range []float64{1, -0x1p-1074, 0x1p1000, 3} {
			if got, want := scaled([]float64{x}, exp)[0], math.Ldexp(x, exp); got != want {
				t.Fatalf("%g·2^%d = %g, want %g", x, exp, got, want)
			}
		}
	}
}

// The ends of the range of float64.
func TestExtremes(t *testing.T) {
	const tiny = 0x1p-1074
	w, v, ok := run(t, 2, 2, 0, []float64{tiny, 0, 0, -3 * tiny})
	if !ok || w[0] != tiny || w[1] != -3*tiny || math.Abs(v[0]) != 1 || math.Abs(v[3]) != 1 {
		t.Errorf("denormals: %v %v %v", w, v, ok)
	}
	const huge = math.MaxFloat64
	if w, _, ok := run(t, 2, 2, 0, []float64{huge, 0, 0, -huge}); !ok || w[0] != huge || w[1] != -huge {
		t.Errorf("largest: %v %v", w, ok)
	}
	if _, _, ok := run(t, 2, 2, 0, []float64{huge, huge, huge, huge}); ok {
		t.Error("an eigenvalue of 2·MaxFloat64 went unnoticed")
	}
}

func TestNonFinite(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, n := range []int{1, 2, 30, 65} {
			for range 5 {
				a := families[0].make(rnd, n)
				i := rnd.IntN(n)
				a[i*n+rnd.IntN(i+1)] = bad
				if _, ok := matrix.Normalise(matrix.View(n, n, slices.Clone(a)), true); ok {
					t.Errorf("n=%d: %g got past the door", n, bad)
				}
				for _, k := range []int{0, 1, n} {
					if _, _, ok := run(t, n, k, 0, a); ok {
						t.Errorf("n=%d k=%d: %g accepted", n, k, bad)
					}
				}
			}
		}
	}
}

// TestAgainstGonum: the eigenvalues agree with the eigenvalues of gonum's QL iteration, and do not depend on k beyond
// rounding.
func TestAgainstGonum(t *testing.T) {
	for f, family := range families {
		rnd := rand.New(rand.NewPCG(6, uint64(f)))
		for _, n := range []int{3, 26, 61, 150} {
			a := family.make(rnd, n)
			var top float64
			for _, x := range a {
				top = max(top, math.Abs(x))
			}
			_, exp := math.Frexp(top)
			a = scaled(a, -exp)
			want, work := make([]float64, n), make([]float64, 66*n)
			if !(lapackgonum.Implementation{}).Dsyev(lapack.EVNone, 'L', n, slices.Clone(a), n, want, work, len(work)) {
				t.Fatal("Dsyev failed")
			}
			slices.Reverse(want)
			norm := max(math.Abs(want[0]), math.Abs(want[n-1]))
			for _, k := range leading(n) {
				w, _, ok := run(t, n, k, 0, a)
				for i, x := range w {
					if !ok || !(math.Abs(x-want[i]) <= tolerance*eps*float64(n)*norm) {
						t.Errorf("%s n=%d k=%d: w[%d] = %g, want %g", family.name, n, k, i, x, want[i])
						break
					}
				}
			}
		}
	}
}

// The known spectrum 2 − 2·cos(jπ/(n+1)).
func TestToeplitz(t *testing.T) {
	for _, n := range []int{1, 2, 50, 300} {
		a := banded(n, func(int) float64 { return 2 }, func(int) float64 { return -1 })
		w, _, ok := run(t, n, n, 0, a)
		for i, x := range w {
			want := 2 - 2*math.Cos(float64(n-i)*math.Pi/float64(n+1))
			if !ok || !(math.Abs(x-want) <= 20*eps) {
				t.Errorf("n=%d: w[%d] = %.17g, want %.17g", n, i, x, want)
			}
		}
	}
}

// Any mixture of families, block sizes and scales.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 120).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		draw := func(label string) []float64 {
			f := rapid.IntRange(0, len(families)-1).Draw(t, label)
			return families[f].make(rnd, n)
		}
		a, b := draw("family"), draw("added")
		// A sum with a small multiple of another family brings near
		// degeneracies of all sizes.
		factor := math.Pow(10, rapid.Float64Range(-280, 0).Draw(t, "factor"))
		for i := range a {
			a[i] += factor * b[i]
		}
		w, v, ok := run(t, n, k, rapid.IntRange(0, 3).Draw(t, "pad"), a)
		check(t, n, k, a, w, v, ok)
	})
}

// Small integers make exact ties, zeros and splits.
func TestSmallIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "n")
		entry := rapid.IntRange(-1, 1)
		a := symmetric(n, func(i, j int) float64 {
			if i-j > 2 {
				return 0
			}
			return float64(entry.Draw(t, "entry"))
		})
		w, v, ok := run(t, n, n, 0, a)
		check(t, n, n, a, w, v, ok)
	})
}

func TestDeterministic(t *testing.T) {
	const n, k = 300, 150
	a := sketchGram(rand.New(rand.NewPCG(8, 8)), n)
	w, v, _ := run(t, n, k, 0, a)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		w2, v2, ok := run(t, n, k, 0, a)
		if !ok || !slices.Equal(w, w2) || !slices.Equal(v, v2) {
			t.Errorf("GOMAXPROCS=%d changes the result", procs)
		}
	}
}

// plainKernels allocate nothing, unlike gonum's Dgemm.
type plainKernels struct{ gonumKernels }

func (plainKernels) Gemm(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
	m, n, k := matrix.CheckProduct(transA, transB, &a, &b, &c)
	for i := range m {
		for j := range n {
			var sum float64
			for l := range k {
				ail, blj := i*a.Stride+l, l*b.Stride+j
				if transA {
					ail = l*a.Stride + i
				}
				if transB {
					blj = j*b.Stride + l
				}
				sum += a.Data[ail] * b.Data[blj]
			}
			sum *= alpha
			if beta != 0 {
				sum += beta * c.Row(i)[j]
			}
			c.Row(i)[j] = sum
		}
	}
}

func (plainKernels) Gemmt(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
	lower(plainKernels{}, transA, transB, alpha, a, b, beta, c)
}

func TestNoAllocation(t *testing.T) {
	const n = 100
	a := families[0].make(rand.New(rand.NewPCG(9, 9)), n)
	var kr Kernels = plainKernels{}
	for _, k := range []int{0, 51, n} {
		ac, w, v, work := make([]float64, n*n), make([]float64, n), make([]float64, k*n), make([]float64, Work(n, k))
		allocs := testing.AllocsPerRun(3, func() {
			copy(ac, a)
			if !Sym(kr, plainLoops{}, matrix.View(n, n, ac), w, matrix.View(k, n, v), work) {
				t.Error("not converged")
			}
		})
		if allocs != 0 {
			t.Errorf("k=%d: %v allocations", k, allocs)
		}
	}
}

// symOf calls Sym with the kernels of these tests.
func symOf(sym matrix.Matrix, w []float64, vectors matrix.Matrix, work []float64) bool {
	return Sym(gonumKernels{}, plainLoops{}, sym, w, vectors, work)
}

func TestPanics(t *testing.T) {
	const n, k = 5, 2
	x := func(size int) []float64 { return make([]float64, size) }
	for i, f := range []func(){
		func() {
			symOf(matrix.Strided(-1, n, x(25), n), x(n), matrix.Strided(0, n, x(10), n), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n), x(n), matrix.Strided(-1, n, x(10), n), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n), x(n), matrix.Strided(n+1, n, x(30), n), x(Work(n, n)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n-1), x(n), matrix.Strided(k, n, x(10), n), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n), x(n), matrix.Strided(k, n, x(10), n-1), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(24), n), x(n), matrix.Strided(k, n, x(10), n), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n), x(n-1), matrix.Strided(k, n, x(10), n), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n), x(n), matrix.Strided(k, n, x(9), n), x(Work(n, k)))
		},
		func() {
			symOf(matrix.Strided(n, n, x(25), n), x(n), matrix.Strided(k, n, x(10), n), x(Work(n, k)-1))
		},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if _, constant := recover().(string); !constant {
					t.Error("no panic with a string")
				}
			}()
			f()
		})
	}
}
