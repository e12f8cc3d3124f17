//go:build openblas && cgo

package cblas

import (
	"math"
	"os"
	"runtime"
	"sync"
	"testing"
)

func testBackend(t *testing.T) *Backend {
	t.Helper()
	n := runtime.GOMAXPROCS(0)
	mu.Lock()
	if inUse != nil {
		n = threads()
	}
	mu.Unlock()
	b, err := New(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCore: OpenBLAS runs kernels as wide as this CPU's vectors, unless the user
// has chosen others.
func TestCore(t *testing.T) {
	b := testBackend(t)
	c := b.Capabilities()
	if user, set := os.LookupEnv("OPENBLAS_CORETYPE"); set {
		if c["core_repaired"] != "no: OPENBLAS_CORETYPE="+user+" is set" {
			t.Errorf("the user's core was not kept: %v", c)
		}
		return
	}
	if width[c["kernel"]] < width[wanted()] {
		t.Errorf("kernel %s, where the CPU can run %s: %v", c["kernel"], wanted(), c)
	}
}

// TestRepair makes OpenBLAS run the slow kernels and repairs it, as happens on
// CPUs it doesn't know.
func TestRepair(t *testing.T) {
	testBackend(t)
	want := wanted()
	if want == "" || os.Getenv("OPENBLAS_CORETYPE") != "" {
		t.Skip("this CPU, or OPENBLAS_CORETYPE, leaves nothing to repair")
	}
	before := coreName()
	if got, note, err := change("Prescott"); err != nil || got != "Prescott" {
		t.Fatalf("%s, %s, %v", got, note, err)
	}
	defer func() {
		if got, note, err := change(before); err != nil || got != before {
			t.Errorf("%s, %s, %v", got, note, err)
		}
	}()
	c, err := detectCore()
	if err != nil || c.found != "Prescott" || c.used != want || c.note != "yes: "+want+" taken for Prescott" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, set := os.LookupEnv("OPENBLAS_CORETYPE"); set {
		t.Error("the environment was left changed")
	}
	product(t, testBackend(t))
}

// product checks a Gemm of ones.
func product(t *testing.T, b *Backend) {
	t.Helper()
	const n = 200
	a, c := make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i], c[i] = 1, math.NaN()
	}
	b.Gemm(false, true, n, n, n, 1, a, n, a, n, 0, c, n)
	for _, v := range c {
		if v != n {
			t.Errorf("1·1ᵀ has an entry %v, want %d", v, n)
			return
		}
	}
}

func TestOneBackend(t *testing.T) {
	b := testBackend(t)
	if again, err := New(threads()); err != nil || again != b {
		t.Errorf("a second New: %v", err)
	}
	if _, err := New(threads() + 1); err == nil {
		t.Error("another number of threads was accepted")
	}
	if _, err := New(0); err == nil {
		t.Error("no threads were accepted")
	}
}

// TestSlots: at most GOMAXPROCS/threads calls are inside OpenBLAS at a time.
func TestSlots(t *testing.T) {
	b := testBackend(t)
	if got, most := cap(b.slots), max(1, runtime.GOMAXPROCS(0)/threads()); got > most {
		t.Errorf("%d slots, at most %d are to be", got, most)
	}
	var wg sync.WaitGroup
	for range 96 {
		wg.Go(func() { product(t, b) })
	}
	wg.Wait()
}

// TestDimensionsBeyond32Bits panic before they reach OpenBLAS.
func TestDimensionsBeyond32Bits(t *testing.T) {
	b := testBackend(t)
	const big = math.MaxInt32 + 1
	x := []float64{1}
	for name, f := range map[string]func(){
		"lda":      func() { b.Gemm(false, false, 1, 1, 1, 1, x, big, x, 1, 0, x, 1) },
		"k":        func() { b.Syrk(false, 0, big, 1, x, big, 0, x, 1) },
		"gemv":     func() { b.Gemv(false, 1, 1, 1, x, big, x, 0, x) },
		"cholesky": func() { b.Cholesky(1, x, big) },
		"qr":       func() { b.QR(1, 1, x, big, make([]float64, 100)) },
		"symeig":   func() { b.SymEig(1, 1, x, big, x, x, 1, make([]float64, 200)) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
