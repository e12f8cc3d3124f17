//go:build openblas && cgo

package cblas

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// backend makes the process's backend, with one thread so that several calls run
// at once.
func backend(t testing.TB) *Backend {
	t.Helper()
	be, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	return be
}

// TestCore checks that OpenBLAS runs on kernels as wide as this CPU allows,
// whatever it had found, unless the user asked for others.
func TestCore(t *testing.T) {
	be := backend(t)
	if now := coreName(); be.core.used != now {
		t.Errorf("OpenBLAS runs %s, reported is %s", now, be.core.used)
	}
	c := be.Capabilities()
	t.Logf("found %s, runs %s; repaired: %s", c["core_found"], c["kernel"], c["core_repaired"])
	if _, set := os.LookupEnv("OPENBLAS_CORETYPE"); set {
		if be.core.used != be.core.found {
			t.Errorf("OPENBLAS_CORETYPE is set, and yet %s was replaced by %s", be.core.found, be.core.used)
		}
		return
	}
	if want := bestCore(); width[be.core.used] < width[want] {
		t.Errorf("OpenBLAS runs %s, this CPU can run %s; repaired: %s", be.core.used, want, be.core.note)
	}
	if be.core.found == "Prescott" && bestCore() != "" && !strings.HasPrefix(be.core.note, "yes") {
		t.Errorf("Prescott not repaired: %s", be.core.note)
	}
	if be.core.used == be.core.found && be.core.note != "no need" {
		t.Errorf("core %s, repaired: %s", be.core.used, be.core.note)
	}
}

// TestCapabilitiesOfManyCallers: OpenBLAS's own call for its version is not safe for concurrent use.
func TestCapabilitiesOfManyCallers(t *testing.T) {
	be := backend(t)
	want := be.Capabilities()["version"]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5000 {
				if got := be.Capabilities()["version"]; got != want {
					t.Errorf("version %q, was %q", got, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// inProcess runs the tests that match run in a process in which OpenBLAS found the
// given core, and wants its output to hold a sentence.
func inProcess(t *testing.T, run, found, sentence string) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("skipped aloud: OpenBLAS's cores of other architectures are not named here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run="+run, "-test.v")
	cmd.Env = append(os.Environ(), "OPENBLAS_CORETYPE="+found)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), sentence) {
		t.Errorf("no %q: %v\n%s", sentence, err, out)
	}
}

// TestUsersCore runs TestCore in a process whose user asked for a core that every
// x86 CPU can run.
func TestUsersCore(t *testing.T) {
	inProcess(t, "^TestCore$", "Nehalem", "found Nehalem, runs Nehalem; repaired: no: OPENBLAS_CORETYPE=Nehalem is set")
}

// forgetful is set in a process that takes the core for a mistake of OpenBLAS.
const forgetful = "FDRIDGE_TEST_CORE_IS_A_MISTAKE"

func init() {
	if os.Getenv(forgetful) == "" {
		return
	}
	// OpenBLAS read it when it was loaded.
	if err := os.Unsetenv("OPENBLAS_CORETYPE"); err != nil {
		panic(err)
	}
}

// TestMistakenCore runs tests in a process in which OpenBLAS detected a core that is three times slower. OpenBLAS does
// this on CPUs that are newer than OpenBLAS. The backend must repair the choice. Its results must be right, also for
// large matrices and many goroutines.
func TestMistakenCore(t *testing.T) {
	t.Setenv(forgetful, "1")
	want := bestCore()
	if want == "" {
		inProcess(t, "^(TestCore|TestConcurrent|TestLarge)$", "Prescott", "repaired: no need")
		return
	}
	inProcess(
		t,
		"^(TestCore|TestConcurrent|TestLarge)$",
		"Prescott",
		fmt.Sprintf("found Prescott, runs %s; repaired: yes: %[1]s taken for Prescott", want),
	)
}

// TestRepair makes OpenBLAS run the slow kernels and repairs it, in this process.
func TestRepair(t *testing.T) {
	be := backend(t)
	want := bestCore()
	if _, set := os.LookupEnv("OPENBLAS_CORETYPE"); set || want == "" {
		t.Skip("skipped aloud: this CPU, or OPENBLAS_CORETYPE, leaves nothing to repair")
	}
	before := coreName()
	if got, note, err := switchCore("Prescott"); err != nil || got != "Prescott" {
		t.Fatalf("%s, %s, %v", got, note, err)
	}
	defer func() {
		if got, note, err := switchCore(before); err != nil || got != before {
			t.Errorf("%s, %s, %v", got, note, err)
		}
	}()
	c, err := repairCore()
	if err != nil || c.found != "Prescott" || c.used != want || c.note != "yes: "+want+" taken for Prescott" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, set := os.LookupEnv("OPENBLAS_CORETYPE"); set {
		t.Error("the environment was left changed")
	}
	products(t, be, 0)
}

func TestNewTwice(t *testing.T) {
	one := backend(t)
	if two := backend(t); one != two {
		t.Error("two backends in one process")
	}
	for _, n := range []int{-1, 0, 2} {
		be, err := New(n)
		if err == nil || be != nil || !strings.Contains(err.Error(), fmt.Sprint(n)) {
			t.Errorf("New(%d) beside one of 1 thread: %v, %v", n, be, err)
		}
	}
	if got := threads(); got != 1 {
		t.Errorf("OpenBLAS now has %d threads", got)
	}
	if want := runtime.GOMAXPROCS(0); cap(one.slots) != want {
		t.Errorf("%d calls at once, want %d", cap(one.slots), want)
	}
}

// TestMoreThreadsThanBuilt asks for more threads than any build of OpenBLAS supports, with enough CPUs. The backend
// must use and report the number of threads that OpenBLAS has, and allow as many calls at once as the CPUs have room
// for. 2³² + 1 is 1 in OpenBLAS's 32 bits.
func TestMoreThreadsThanBuilt(t *testing.T) {
	be := backend(t)
	defer setThreads(be.requested)
	const cpus = 1000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cpus))
	most := 0
	for _, n := range []int{1 << 20, 1<<32 + 1} {
		setThreads(1)
		many, err := start(n)
		if err != nil {
			t.Fatal(err)
		}
		have := threads()
		if have < 1 || have >= n || most > 0 && have != most || many.requested != n {
			t.Errorf("asked for %d threads, noted %d, OpenBLAS has %d", n, many.requested, have)
		}
		most = have
		if got := many.Capabilities()["threads"]; got != strconv.Itoa(have) {
			t.Errorf("reports %s threads, has %d", got, have)
		}
		if want := max(1, cpus/have); cap(many.slots) != want {
			t.Errorf("%d calls at once on %d threads, want %d", cap(many.slots), have, want)
		}
	}
}

// shared is a backend with one slot and several threads, which has the process's
// OpenBLAS to itself until the test ends.
func shared(t *testing.T) *Backend {
	t.Helper()
	be := backend(t)
	t.Cleanup(func() { setThreads(be.requested) })
	setThreads(2)
	if threads() != 2 {
		t.Skip("skipped aloud: this OpenBLAS has one thread")
	}
	return &Backend{core: be.core, fallback: be.fallback, threads: 2, current: 2, slots: make(chan struct{}, 1)}
}

// TestThreadsOfCall checks that a call alone inside OpenBLAS has the threads that
// suit it, and that calls beside others leave the setting alone.
func TestThreadsOfCall(t *testing.T) {
	be := shared(t)
	for _, want := range []int{1, 2, 1, 1, 2} {
		be.enter(want)
		if got := threads(); got != want {
			t.Errorf("%d threads inside, want %d", got, want)
		}
		be.leave()
		if got := threads(); got != 2 {
			t.Errorf("%d threads outside, want 2", got)
		}
	}
	for n, want := range map[int]int{1: 1, sharedOrder - 1: 1, sharedOrder: 2, 4 * sharedOrder: 2} {
		if got := be.threadsFor(n); got != want {
			t.Errorf("%d threads for order %d, want %d", got, n, want)
		}
	}
	be.slots = make(chan struct{}, 2)
	be.enter(1)
	if got := threads(); got != 2 {
		t.Errorf("%d threads inside, with room for two calls, want the 2 of before", got)
	}
}

// TestGradientOfWholeNumbers takes every way through Gradient, by vectors and by
// products, in one part and in several. Sums of small whole numbers are exact, so
// every entry must be right to the last bit.
func TestGradientOfWholeNumbers(t *testing.T) {
	be := shared(t)
	whole := func(n, step, most int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i*step%most - most/2)
		}
		return x
	}
	const d, pad = 150, 3
	for _, c := range []core{{used: "SkylakeX"}, {used: "Haswell"}} {
		for _, threads := range []int{1, 2} {
			for _, n := range []int{1, maxBlockRows + 1, 5*partRows + 7, 8*maxBlockRows + 3} {
				for _, q := range []int{1, 3, 9, manyVectors + 1} {
					be.core, be.threads = c, threads
					what := fmt.Sprintf(
						"%s, %d threads, n=%d, t=%d, %d parts",
						c.used,
						threads,
						n,
						q,
						be.countParts(n, d, q),
					)
					lda, ldx, ldb, ldg, ldr := d+pad, d+1, q+pad, d+2, q+1
					a, x, b, g := whole(n*lda, 7, 11), whole(q*ldx, 5, 13), whole(n*ldb, 3, 7), whole(q*ldg, 2, 5)
					r, before := make([]float64, n*ldr), append([]float64(nil), g...)
					for i := range r {
						r[i] = math.NaN()
					}
					be.Gradient(
						matrix.Strided(n, d, a, lda),
						matrix.Strided(q, d, x, ldx),
						matrix.Strided(n, q, b, ldb),
						matrix.Strided(q, d, g, ldg),
						matrix.Strided(n, q, r, ldr),
					)
					for i := range n {
						for j := range q {
							want := -b[i*ldb+j]
							for l := range d {
								want += a[i*lda+l] * x[j*ldx+l]
							}
							if !(r[i*ldr+j] == want) {
								t.Fatalf("%s: R (%d, %d) is %v, want %v", what, i, j, r[i*ldr+j], want)
							}
							for l := range d {
								before[j*ldg+l] += want * a[i*lda+l]
							}
						}
						if !math.IsNaN(r[i*ldr+q]) {
							t.Fatalf("%s: written behind row %d of R", what, i)
						}
					}
					for i := range g {
						if !(g[i] == before[i]) {
							t.Fatalf("%s: G (%d, %d) is %v, want %v", what, i/ldg, i%ldg, g[i], before[i])
						}
					}
				}
			}
		}
	}
}

// TestGradientOnThreads repeats a gradient in parts: the sums are the same to the
// last bit, whoever did which part, and nothing is allocated.
func TestGradientOnThreads(t *testing.T) {
	be := shared(t)
	const n, d, q = 1000, 70, 2
	a, x := make([]float64, n*d), make([]float64, q*d)
	for i := range a {
		a[i] = math.Sin(float64(i))
	}
	for i := range x {
		x[i] = math.Cos(float64(i))
	}
	if parts := be.countParts(n, d, q); parts < 3 {
		t.Fatalf("%d parts", parts)
	}
	first, g, r := make([]float64, q*d), make([]float64, q*d), make([]float64, n*q)
	be.Gradient(
		matrix.View(n, d, a),
		matrix.View(q, d, x),
		matrix.Matrix{},
		matrix.View(q, d, first),
		matrix.View(n, q, r),
	)
	gradient := func() {
		clear(g)
		be.Gradient(
			matrix.View(n, d, a),
			matrix.View(q, d, x),
			matrix.Matrix{},
			matrix.View(q, d, g),
			matrix.View(n, q, r),
		)
	}
	for range 200 {
		gradient()
		for i := range g {
			if !(g[i] == first[i]) {
				t.Fatalf("G (%d, %d) is %v, was %v", i/d, i%d, g[i], first[i])
			}
		}
	}
	if n := testing.AllocsPerRun(100, gradient); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if be.team.a.Data != nil {
		t.Error("holds on to the matrix")
	}
}

// calls are all operations that go into OpenBLAS, on small matrices of their own.
func calls(be *Backend) map[string]func() {
	const n = 4
	fill := func() []float64 {
		x := make([]float64, n*n)
		for i := range n {
			x[i*n+i] = float64(i + 1)
		}
		return x
	}
	work := make([]float64, be.SymEigWork(n, n)+be.QRWork(n, n)+be.SVDWork(n, n))
	return map[string]func(){
		"Gemm": func() {
			be.Gemm(false, true, 1, matrix.View(n, n, fill()), matrix.View(n, n, fill()), 0, matrix.View(n, n, fill()))
		},
		"Syrk": func() { be.Syrk(true, 1, matrix.View(n, n, fill()), 0, matrix.View(n, n, fill())) },
		"Gemv": func() { be.Gemv(false, 1, matrix.View(n, n, fill()), make([]float64, n), 0, make([]float64, n)) },
		"Gradient": func() {
			be.Gradient(
				matrix.View(n, n, fill()),
				matrix.View(n, n, fill()),
				matrix.Matrix{},
				matrix.View(n, n, fill()),
				matrix.View(n, n, fill()),
			)
		},
		"SymEig":        func() { be.SymEig(matrix.View(n, n, fill()), make([]float64, n), matrix.View(n, n, fill()), work) },
		"SymEig, k = 0": func() { be.SymEig(matrix.View(n, n, fill()), make([]float64, n), matrix.Matrix{}, work) },
		"SVD":           func() { be.SVD(matrix.View(n, n, fill()), make([]float64, n), matrix.View(n, n, fill()), work) },
		"Cholesky":      func() { be.Cholesky(matrix.View(n, n, fill())) },
		"CholeskySolve": func() { be.CholeskySolve(matrix.View(n, n, fill()), matrix.View(n, n, fill())) },
		"QR":            func() { be.QR(matrix.View(n, n, fill()), work) },
	}
}

// TestSlots checks that every operation waits outside OpenBLAS while all slots are
// taken, goes on when one is given back, and leaves none taken.
func TestSlots(t *testing.T) {
	own := backend(t).fallback
	for name := range calls(backend(t)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				be := &Backend{fallback: own, slots: make(chan struct{}, 2)}
				call := calls(be)[name]
				be.enter(1)
				be.enter(1)
				done := false
				go func() {
					call()
					done = true
				}()
				synctest.Wait()
				if done {
					t.Error("went in past the slots")
				}
				be.leave()
				synctest.Wait()
				if !done {
					t.Error("still waits, with a slot free")
				}
				if taken := len(be.slots); taken != 1 {
					t.Errorf("%d slots taken, want the test's own", taken)
				}
			})
		})
	}
}

// TestConcurrent makes products of small whole numbers from 96 goroutines:
// sums are exact, so every entry must be right to the last bit. A watcher sees the
// slot that the test itself takes first, then never more taken than there are; at
// the end none is.
func TestConcurrent(t *testing.T) {
	be := backend(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	samples, watched := make(chan int), make(chan int, 1)
	go func() {
		most := 0
		for {
			taken := len(be.slots)
			most = max(most, taken)
			select {
			case <-ctx.Done():
				watched <- most
				return
			case samples <- taken:
			default:
				runtime.Gosched()
			}
		}
	}()
	be.enter(1)
	<-samples // it may be older than the call
	if taken := <-samples; taken != 1 {
		t.Fatalf("%d slots taken by a call alone inside, want 1", taken)
	}
	be.leave()
	if taken := len(be.slots); taken != 0 {
		t.Fatalf("%d slots still taken by a call that left", taken)
	}
	var wg sync.WaitGroup
	for g := range 96 {
		wg.Go(func() {
			for range 5 {
				products(t, be, g)
			}
		})
	}
	wg.Wait()
	cancel()
	if most := <-watched; most > cap(be.slots) {
		t.Errorf("up to %d calls at once, with %d slots", most, cap(be.slots))
	}
	if len(be.slots) != 0 {
		t.Errorf("%d slots still taken", len(be.slots))
	}
}

// TestLarge makes products of order 1024, which go through every level of
// blocking and packing, from 16 goroutines. Entries are small whole numbers, so
// all must equal gonum's to the last bit.
func TestLarge(t *testing.T) {
	be := backend(t)
	const n = 1024
	a, b, want := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i], b[i] = float64(i*7%11-5), float64(i*5%13-6)
	}
	var reference gonum.Implementation
	reference.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, b, n, 0, want, n)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			c := make([]float64, n*n)
			for i := range c {
				c[i] = math.NaN()
			}
			be.Gemm(false, true, 1, matrix.View(n, n, a), matrix.View(n, n, b), 0, matrix.View(n, n, c))
			for i := range c {
				if !(c[i] == want[i]) {
					t.Errorf("goroutine %d: (%d, %d) is %v, want %v", g, i/n, i%n, c[i], want[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

// products checks a Gemm of small whole numbers that depend on g.
func products(t *testing.T, be *Backend, g int) {
	t.Helper()
	const m, n, k = 70, 50, 90
	a, b, c := make([]float64, m*k), make([]float64, k*n), make([]float64, m*n)
	for i := range a {
		a[i] = float64((i*7+g)%11 - 5)
	}
	for i := range b {
		b[i] = float64((i*5+g)%13 - 6)
	}
	for i := range c {
		c[i] = math.NaN()
	}
	be.Gemm(false, false, 1, matrix.View(m, k, a), matrix.View(k, n, b), 0, matrix.View(m, n, c))
	for i := range m {
		for j := range n {
			var want float64
			for l := range k {
				want += a[i*k+l] * b[l*n+j]
			}
			if !(c[i*n+j] == want) {
				t.Errorf("goroutine %d: (%d, %d) is %v, want %v", g, i, j, c[i*n+j], want)
				return
			}
		}
	}
}

// TestTooLarge calls with dimensions beyond OpenBLAS's 32 bits: slices too short
// for them, or, where a dimension of zero lets that pass, none. Every call must
// panic with a string, in Go.
func TestTooLarge(t *testing.T) {
	be := backend(t)
	big := math.MaxInt32 + 1
	x := make([]float64, 8)
	for name, call := range map[string]func(){
		"Gemm m": func() {
			be.Gemm(false, false, 1, matrix.View(big, 1, x), matrix.View(1, 1, x), 0, matrix.View(big, 1, x))
		},
		"Gemm n": func() {
			be.Gemm(false, false, 1, matrix.View(1, 1, x), matrix.View(1, big, x), 0, matrix.View(1, big, x))
		},
		"Gemm k": func() {
			be.Gemm(false, false, 1, matrix.View(1, big, x), matrix.View(big, 1, x), 0, matrix.View(1, 1, x))
		},
		"Gemm m, empty": func() {
			be.Gemm(true, false, 1, matrix.View(0, big, nil), matrix.View(0, 0, nil), 0, matrix.View(big, 0, nil))
		},
		"Gemm n, empty": func() {
			be.Gemm(false, false, 1, matrix.View(0, 0, nil), matrix.View(0, big, nil), 0, matrix.View(0, big, nil))
		},
		"Gemm k, empty": func() {
			be.Gemm(false, false, 1, matrix.View(0, big, nil), matrix.View(big, 0, nil), 0, matrix.View(0, 0, nil))
		},
		"Gemm lda": func() {
			be.Gemm(false, false, 1, matrix.Strided(1, 1, x, big), matrix.View(1, 1, x), 0, matrix.View(1, 1, x))
		},
		"Gemm ldb": func() {
			be.Gemm(false, false, 1, matrix.View(1, 1, x), matrix.Strided(1, 1, x, big), 0, matrix.View(1, 1, x))
		},
		"Gemm ldc": func() {
			be.Gemm(false, false, 1, matrix.View(1, 1, x), matrix.View(1, 1, x), 0, matrix.Strided(1, 1, x, big))
		},
		"Syrk n":        func() { be.Syrk(false, 1, matrix.View(big, 1, x), 0, matrix.View(big, big, x)) },
		"Syrk k":        func() { be.Syrk(false, 1, matrix.View(1, big, x), 0, matrix.View(1, 1, x)) },
		"Syrk k, empty": func() { be.Syrk(false, 1, matrix.View(0, big, nil), 0, matrix.View(0, 0, nil)) },
		"Syrk lda":      func() { be.Syrk(false, 1, matrix.Strided(1, 1, x, big), 0, matrix.View(1, 1, x)) },
		"Syrk ldc":      func() { be.Syrk(false, 1, matrix.View(1, 1, x), 0, matrix.Strided(1, 1, x, big)) },
		"Gemv m":        func() { be.Gemv(false, 1, matrix.View(big, 1, x), x, 0, x) },
		"Gemv n, empty": func() { be.Gemv(true, 1, matrix.Strided(0, 0, nil, big), nil, 0, nil) },
		"Gemv lda":      func() { be.Gemv(false, 1, matrix.Strided(1, 1, x, big), x, 0, x) },
		"Gradient n": func() {
			be.Gradient(
				matrix.View(big, 1, x), matrix.View(1, 1, x), matrix.Matrix{}, matrix.View(1, 1, x), matrix.View(big, 1, x),
			)
		},
		"Gradient d, empty": func() {
			be.Gradient(
				matrix.View(0, big, nil), matrix.View(0, big, nil), matrix.Matrix{}, matrix.View(0, big, nil),
				matrix.View(0, 0, nil),
			)
		},
		"Gradient t, empty": func() {
			be.Gradient(
				matrix.View(0, 0, nil), matrix.View(big, 0, nil), matrix.Matrix{}, matrix.View(big, 0, nil),
				matrix.View(0, big, nil),
			)
		},
		"SymEig n": func() { be.SymEig(matrix.View(big, big, x), x, matrix.Matrix{}, x) },
		"SymEig lda": func() {
			be.SymEig(matrix.Strided(1, 1, x, big), x, matrix.Matrix{}, make([]float64, be.SymEigWork(1, 0)))
		},
		"SymEig ldv": func() {
			be.SymEig(matrix.View(1, 1, x), x, matrix.Strided(1, 1, x, big), make([]float64, be.SymEigWork(1, 1)))
		},
		"SVD m":              func() { be.SVD(matrix.View(big, 1, x), x, matrix.View(min(big, 1), 1, x), x) },
		"SVD n":              func() { be.SVD(matrix.View(1, big, x), x, matrix.View(min(1, big), big, x), x) },
		"Cholesky n":         func() { be.Cholesky(matrix.View(big, big, x)) },
		"Cholesky lda":       func() { be.Cholesky(matrix.Strided(1, 1, x, big)) },
		"CholeskySolve n":    func() { be.CholeskySolve(matrix.View(big, big, x), matrix.View(1, big, x)) },
		"CholeskySolve rows": func() { be.CholeskySolve(matrix.View(0, 0, nil), matrix.View(big, 0, nil)) },
		"CholeskySolve ldl":  func() { be.CholeskySolve(matrix.Strided(1, 1, x, big), matrix.View(1, 1, x)) },
		"CholeskySolve ldb":  func() { be.CholeskySolve(matrix.View(1, 1, x), matrix.Strided(1, 1, x, big)) },
		"QR m":               func() { be.QR(matrix.View(big, 1, x), x) },
		"QR n":               func() { be.QR(matrix.View(1, big, x), x) },
		"QR m, empty":        func() { be.QR(matrix.View(big, 0, nil), nil) },
		"QR lda":             func() { be.QR(matrix.Strided(1, 1, x, big), make([]float64, be.QRWork(1, 1))) },
		"SVD lda": func() {
			be.SVD(matrix.Strided(2, 1, x, big), x, matrix.View(1, 1, x), make([]float64, be.SVDWork(2, 1)))
		},
		"beyond int64 as well": func() {
			be.Gemm(
				false, false, 1, matrix.View(math.MaxInt, 1, x), matrix.View(1, math.MaxInt, x), 0,
				matrix.View(math.MaxInt, math.MaxInt, x),
			)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Error("no panic with a string")
				}
				if len(be.slots) != 0 {
					t.Errorf("%d slots still taken", len(be.slots))
				}
			}()
			call()
		})
	}
}

// TestShare: while calls share each has one thread, and as many as there are cores are inside;
// before and after there is one with the threads that it asks for. Who shares waits for who is inside.
func TestShare(t *testing.T) {
	be := shared(t)
	be.sharing.places = make(chan struct{}, 3)
	be.enter(2)
	begun := make(chan struct{})
	go func() {
		be.Share()
		close(begun)
	}()
	select {
	case <-begun:
		t.Fatal("shared beside a call that has all threads")
	case <-time.After(20 * time.Millisecond):
	}
	be.leave()
	<-begun
	be.Share() // a second one is a matter of counting
	for range cap(be.sharing.places) {
		be.enter(2)
	}
	if got := threads(); got != 1 {
		t.Errorf("%d threads of each of several calls, want 1", got)
	}
	if got := be.countParts(8*maxBlockRows, 150, 1); got != 1 {
		t.Errorf("a gradient in %d parts beside other calls", got)
	}
	be.Unshare()
	ended := make(chan struct{})
	go func() {
		be.Unshare()
		close(ended)
	}()
	select {
	case <-ended:
		t.Fatal("threads for one call while others are inside")
	case <-time.After(20 * time.Millisecond):
	}
	for range cap(be.sharing.places) {
		be.leave()
	}
	<-ended
	be.enter(2)
	if got := threads(); got != 2 || len(be.slots) != 1 {
		t.Errorf("%d threads of a call alone, %d slots taken", got, len(be.slots))
	}
	be.leave()
	// Calls and sharing at random: nobody is inside in the wrong way.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				be.Share()
				be.enter(2)
				if got := threads(); got != 1 {
					t.Errorf("%d threads while sharing", got)
				}
				be.leave()
				be.Unshare()
				be.enter(1)
				be.leave()
			}
		})
	}
	all.Wait()
	if len(be.slots) != 0 || len(be.sharing.places) != 0 || threads() != 2 {
		t.Errorf("left: %d slots, %d places, %d threads", len(be.slots), len(be.sharing.places), threads())
	}
}
