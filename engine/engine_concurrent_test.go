package engine_test

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// A shop has operands for one of each operation, of sizes that are divided over
// goroutines as well as of sizes that are not.
type shop struct {
	be      engine.Backend
	m, n, k int
	a, b, c []float64 // m×k, k×n, m×n
}

func newShop(be engine.Backend, seed uint64) *shop {
	s := &shop{be: be, m: 20 + int(seed%4)*60, n: 30 + int(seed%3)*35, k: 25 + int(seed%5)*40}
	rng := rand.New(rand.NewPCG(seed, 9))
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	s.a, s.b, s.c = fill(s.m*s.k), fill(s.k*s.n), fill(s.m*s.n)
	return s
}

// work runs every operation and digests all bits that come out. What is not output,
// such as the upper triangles, goes in as it was.
func (s *shop) work() uint64 {
	be, m, n, k := s.be, s.m, s.n, s.k
	h := fnv.New64a()
	digest := func(x []float64) {
		var bytes [8]byte
		for _, v := range x {
			bits := math.Float64bits(v)
			for i := range bytes {
				bytes[i] = byte(bits >> (8 * i))
			}
			h.Write(bytes[:])
		}
	}
	clone := func(x []float64) []float64 { return append([]float64(nil), x...) }
	c, sym := clone(s.c), make([]float64, m*m)
	be.Gemm(false, false, 0.7, engine.View(m, k, s.a), engine.View(k, n, s.b), -1, engine.View(m, n, c))
	digest(c)
	be.Gram(m/3, engine.View(m, k, s.a), engine.View(m, m, sym))
	digest(sym)
	clear(sym)
	be.Syrk(false, 1, engine.View(m, k, s.a), 0, engine.View(m, m, sym))
	for i := range m {
		sym[i*m+i]++
	}
	digest(sym)
	w, v, l := make([]float64, m), make([]float64, m*m), clone(sym)
	if !be.SymEig(engine.View(m, m, sym), w, engine.View(m, m, v), make([]float64, be.SymEigWork(m, m))) {
		panic("no eigenvalues")
	}
	digest(w)
	digest(v)
	if _, ok := be.Cholesky(engine.View(m, m, l)); !ok {
		panic("not positive definite")
	}
	be.CholeskySolve(engine.View(m, m, l), engine.View(n, m, c[:n*m]))
	digest(c)
	y, g, r := make([]float64, m), make([]float64, 3*k), make([]float64, 3*m)
	be.Gemv(false, 1, engine.View(m, k, s.a), s.b, 0, y)
	be.Gradient(
		engine.View(m, k, s.a),
		engine.View(3, k, s.b[:3*k]),
		engine.Matrix{},
		engine.View(3, k, g),
		engine.View(m, 3, r),
	)
	digest(y)
	digest(g)
	digest(r)
	a, sv, vt := clone(s.a), make([]float64, min(m, k)), make([]float64, min(m, k)*k)
	if !be.SVD(engine.View(m, k, a), sv, engine.View(min(m, k), k, vt), make([]float64, be.SVDWork(m, k))) {
		panic("no singular values")
	}
	digest(sv)
	digest(vt)
	a = clone(s.a)
	be.QR(engine.View(m, k, a), make([]float64, be.QRWork(m, k)))
	digest(a[:min(m, k)*k])
	return h.Sum64()
}

// TestCrowd: what many goroutines at a time compute has the bits of what one computes
// alone, and the same goroutines run afterwards as before.
func TestCrowd(t *testing.T) {
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) { crowd(t, be, enginetest.Crowd) })
}

// crowd has so many goroutines work at a time.
func crowd(t *testing.T, be engine.Backend, goroutines int) {
	leaktest.Check(t)
	const seeds = 8 // of sizes and numbers
	alone := make([]uint64, seeds)
	for i := range alone {
		alone[i] = newShop(be, uint64(i)).work()
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			if seed := g % seeds; newShop(be, uint64(seed)).work() != alone[seed] {
				t.Errorf("goroutine %d: other bits than alone, for sizes %d", g, seed)
			}
		})
	}
	wg.Wait()
}

// TestCrowdOfThreads runs TestCrowd in processes with many threads of Go, and with one or four threads of OpenBLAS in
// each call. purego has no such setting, so the run with four threads is for OpenBLAS alone. That run has a third of
// the goroutines: at most a quarter of Crowd calls are inside OpenBLAS at a time, and these mostly wait for each
// other's threads.
func TestCrowdOfThreads(t *testing.T) {
	const inside = "FDRIDGE_TEST_CROWD"
	switch os.Getenv(inside) {
	case "1":
		enginetest.EachInCrowd(t, func(t *testing.T, be engine.Backend) { crowd(t, be, enginetest.Crowd) })
		return
	case "4":
		enginetest.Each(t, func(t *testing.T, be engine.Backend) {
			if be.Name() != "purego" {
				crowd(t, be, enginetest.Crowd/3)
			}
		})
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, threads := range []string{"1", "4"} {
		if i == len(engine.Names()) {
			break // purego has no such setting
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, exe, "-test.run=^TestCrowdOfThreads$", "-test.timeout=4m") // which shows the stacks
		c.Env = append(
			os.Environ(), inside+"="+threads, "GOMAXPROCS="+strconv.Itoa(enginetest.Crowd), "FDRIDGE_THREADS="+threads,
		)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s threads of OpenBLAS: %v: %s", threads, err, out)
		}
	}
}

// TestProcessors: pure Go computes the same bits for every GOMAXPROCS.
func TestProcessors(t *testing.T) {
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		if be.Name() != "purego" {
			return // promised of purego alone
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		for seed := range uint64(8) {
			runtime.GOMAXPROCS(1)
			want := newShop(be, seed).work()
			for _, procs := range []int{2, 3, 7, 96} {
				runtime.GOMAXPROCS(procs)
				if newShop(be, seed).work() != want {
					t.Errorf("GOMAXPROCS %d changes the bits, for sizes %d", procs, seed)
				}
			}
		}
	})
}
