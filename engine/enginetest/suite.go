// Package enginetest holds engine backends to their contract. A backend adds one
// line to be tested:
//
//	enginetest.Run(t, backend)
//
// Everything is checked by invariants, never against stored output: components of
// products against a compensated reference, factorisations by residual and
// orthogonality in units of eps·dimension·norm. Outputs and workspaces hold NaN
// on entry, workspaces have exactly the size asked for, matrices have leading
// dimensions larger than their width, and what lies between their rows and behind
// their ends must come back untouched.
package enginetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

const eps = 0x1p-52

// Each runs a test on every backend of the build, as sub-tests of their names.
func Each(t *testing.T, f func(t *testing.T, be engine.Backend)) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range engine.Names() {
		be, err := engine.New(name, tuning)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { f(t, be) })
	}
}

// Run runs the whole suite on one backend.
func Run(t *testing.T, be engine.Backend) {
	t.Run("Describes", func(t *testing.T) { describes(t, be) })
	t.Run("Gemm", func(t *testing.T) { gemm(t, be, few) })
	t.Run("Syrk", func(t *testing.T) { syrk(t, be, few) })
	t.Run("Gram", func(t *testing.T) { gram(t, be, few) })
	t.Run("LeftMul", func(t *testing.T) { leftMul(t, be, few) })
	t.Run("Gemv", func(t *testing.T) { gemv(t, be, few) })
	t.Run("Gradient", func(t *testing.T) { gradient(t, be) })
	t.Run("GradientTwofold", func(t *testing.T) { gradientTwofold(t, be) })
	t.Run("Promises", func(t *testing.T) { promises(t, be) })
	t.Run("SymEig", func(t *testing.T) { symEig(t, be) })
	t.Run("SVD", func(t *testing.T) { svd(t, be) })
	t.Run("Cholesky", func(t *testing.T) { cholesky(t, be) })
	t.Run("QR", func(t *testing.T) { qr(t, be) })
	t.Run("Concurrent", func(t *testing.T) { concurrent(t, be) })
	t.Run("Allocations", func(t *testing.T) { allocations(t, be) })
	t.Run("Panics", func(t *testing.T) { panics(t, be) })
}

// Edges runs the products for every m <= rows and n <= cols, k taking one of the
// edge sizes in turn: give it 2·MR+1 and 2·NR+1 of a micro-kernel.
func Edges(t *testing.T, be engine.Backend, rows, cols int) {
	all := func(f func(trial, m, n, k int)) {
		for m := range rows + 1 {
			for n := range cols + 1 {
				trial := m*(cols+1) + n
				f(trial, m, n, pick(sizes, trial))
			}
		}
	}
	t.Run("Gemm", func(t *testing.T) { gemm(t, be, all) })
	t.Run("Gemv", func(t *testing.T) { gemv(t, be, all) })
	t.Run("LeftMul", func(t *testing.T) { leftMul(t, be, all) })
	turned := func(f func(trial, n, first, k int)) {
		all(func(trial, m, n, k int) { f(trial, n, m, k) })
	}
	t.Run("Syrk", func(t *testing.T) { syrk(t, be, turned) })
	t.Run("Gram", func(t *testing.T) { gram(t, be, turned) })
}

func describes(t *testing.T, be engine.Backend) {
	if be.Name() == "" {
		t.Error("no name")
	}
	c := be.Capabilities()
	for _, key := range []string{"kernel", "version", "threads"} {
		if c[key] == "" {
			t.Errorf("no capability %q", key)
		}
	}
}

// sizes are the edge sizes of kernels: around vector lengths, tiles and blocks.
var sizes = []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 47, 49, 63, 64, 65, 97, 129}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// canary fills what no operation may touch.
var canary = math.Float64frombits(0x7ff8_c0ff_ee00_beef)

// A matrix is an r×c window with gaps of canaries between rows and behind the end.
type matrix struct {
	r, c, ld int
	data     []float64 // what the backend gets, no longer than it may need
	all      []float64
	before   []float64
}

func newMatrix(r, c int, f func(i, j int) float64) *matrix { return spaced(r, c, 3, f) }

// newOutput is newMatrix with other gaps, so that the leading dimension of a result is
// not by chance that of an argument.
func newOutput(r, c int, f func(i, j int) float64) *matrix { return spaced(r, c, 5, f) }

func spaced(r, c, gap int, f func(i, j int) float64) *matrix {
	m := &matrix{r: r, c: c, ld: c + gap}
	m.all = make([]float64, r*m.ld+3)
	for i := range m.all {
		m.all[i] = canary
	}
	for i := range r {
		for j := range c {
			m.all[i*m.ld+j] = f(i, j)
		}
	}
	n := 0
	if r > 0 && c > 0 {
		n = (r-1)*m.ld + c
	}
	m.data = m.all[:n:n]
	m.before = append([]float64(nil), m.all...)
	return m
}

// view is m as a backend gets it.
func (m *matrix) view() engine.Matrix { return engine.Strided(m.r, m.c, m.data, m.ld) }

func (m *matrix) at(i, j int) float64  { return m.data[i*m.ld+j] }
func (m *matrix) was(i, j int) float64 { return m.before[i*m.ld+j] }

func normal(rng *rand.Rand) func(i, j int) float64 {
	return func(int, int) float64 { return rng.NormFloat64() }
}

func nan(int, int) float64 { return math.NaN() }

// lowerOnly hides the strict upper triangle behind NaN.
func lowerOnly(f func(i, j int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if j > i {
			return canary
		}
		return f(i, j)
	}
}

// guarded fails when anything outside the entries that may change has changed.
func (m *matrix) guarded(t *testing.T, what string, mayChange func(i, j int) bool) {
	t.Helper()
	for k, v := range m.all {
		i, j := k/m.ld, k%m.ld
		if i < m.r && j < m.c && mayChange(i, j) {
			continue
		}
		if math.Float64bits(v) != math.Float64bits(m.before[k]) {
			t.Fatalf("%s: element %d, row %d column %d of %d×%d, was written", what, k, i, j, m.r, m.c)
		}
	}
}

func (m *matrix) unchanged(t *testing.T, what string) {
	t.Helper()
	m.guarded(t, what, func(int, int) bool { return false })
}

func anywhere(int, int) bool { return true }
func lower(i, j int) bool    { return j <= i }

// workspace is NaN throughout, of exactly n elements.
func workspace(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.NaN()
	}
	return w[:n:n]
}

// sum adds products to about twice working precision, and their magnitudes.
type sum struct{ s, c, abs float64 }

func (a *sum) add(x, y float64) {
	p := x * y
	a.c += math.FMA(x, y, -p)
	t := a.s + p
	z := t - a.s
	a.c += (a.s - (t - z)) + (p - z)
	a.s = t
	a.abs += math.Abs(p)
}

func (a *sum) value() float64 { return a.s + a.c }

// within checks a computed sum against its reference and what is promised of it:
// |computed − exact| ≤ (bound + Roundings)·eps·Σ|products|.
func within(t *testing.T, what string, got float64, want sum, bound float64) {
	t.Helper()
	allowed := (bound + engine.Roundings) * eps * want.abs
	if off := math.Abs(got - want.value()); !(off <= allowed) {
		t.Fatalf("%s: %v, want %v, off by %g of the allowed %g", what, got, want.value(), off, allowed)
	}
}

// norm is ‖M‖_F.
func (m *matrix) norm() float64 {
	s := 0.0
	for i := range m.r {
		for j := range m.c {
			s = math.Hypot(s, m.was(i, j))
		}
	}
	return s
}
