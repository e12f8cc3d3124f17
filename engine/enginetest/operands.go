package enginetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// canary is a special NaN. It fills memory that no operation may read or write.
var canary = math.Float64frombits(0x7ff8_c0ff_ee00_beef)

// A matrix is an r×c matrix with guard values after each row and after its end. A backend must not change the guard
// values.
type matrix struct {
	r, c, ld int
	data     []float64 // the slice passed to the backend, no longer than necessary
	all      []float64
	before   []float64
}

func newMatrix(r, c int, f func(i, j int) float64) *matrix { return newSpaced(r, c, 3, f) }

// newOutput returns an r×c matrix with the elements f(i, j). The gaps between its rows are wider than the gaps in
// matrices of newMatrix. So results and arguments have different leading dimensions.
func newOutput(r, c int, f func(i, j int) float64) *matrix { return newSpaced(r, c, 5, f) }

func newSpaced(r, c, gap int, f func(i, j int) float64) *matrix {
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

// view returns m as an operand.
func (m *matrix) view() engine.Matrix { return engine.Strided(m.r, m.c, m.data, m.ld) }

func (m *matrix) at(i, j int) float64  { return m.data[i*m.ld+j] }
func (m *matrix) was(i, j int) float64 { return m.before[i*m.ld+j] }

func normal(rng *rand.Rand) func(i, j int) float64 {
	return func(int, int) float64 { return rng.NormFloat64() }
}

func nan(int, int) float64 { return math.NaN() }

// lowerOnly replaces the strict upper triangle by canaries.
func lowerOnly(f func(i, j int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if j > i {
			return canary
		}
		return f(i, j)
	}
}

// checkGuards fails the test if an element has changed although mayChange returns false for this element.
func (m *matrix) checkGuards(t *testing.T, what string, mayChange func(i, j int) bool) {
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

func (m *matrix) checkUnchanged(t *testing.T, what string) {
	t.Helper()
	m.checkGuards(t, what, func(int, int) bool { return false })
}

func anywhere(int, int) bool { return true }
func lower(i, j int) bool    { return j <= i }

// workspace returns n elements, all NaN.
func workspace(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.NaN()
	}
	return w[:n:n]
}

// norm returns ‖M‖_F.
func (m *matrix) norm() float64 {
	s := 0.0
	for i := range m.r {
		for j := range m.c {
			s = math.Hypot(s, m.was(i, j))
		}
	}
	return s
}
