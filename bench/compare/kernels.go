package main

import (
	"fmt"
	"log"
	"time"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/engine"
)

// kernels are the jobs of the engines alone: products, gradients and factorisations. Their rates are flops per second
// of processor time.
func kernels(names []string, engines []engine.Backend) []entry {
	var all []entry
	add := func(name string, flops float64, prepare func(be engine.Backend) func()) {
		all = append(all, entry{name, func() *job {
			j := &job{amount: flops / 1e9, unit: "GFLOP/s"}
			for i, be := range engines {
				j.rivals = append(j.rivals, rival{names[i], processorTimed(prepare(be))})
			}
			return j
		}})
	}
	for _, p := range products {
		add(p.String(), p.flops(), p.prepare)
	}
	for _, g := range gradients {
		add(g.String(), 4*float64(g.n)*float64(g.d)*float64(g.t), g.prepare)
	}
	for _, n := range []int{128, 256, 384, 512} {
		k := n/2 + 1
		add(
			fmt.Sprintf("SymEig/%d", n), float64(8*n*n*n/3+2*n*n*k),
			func(be engine.Backend) func() { return symEig(be, n, k) },
		)
	}
	for _, n := range []int{1024, 2048} {
		add(
			fmt.Sprintf("Cholesky/%d", n), float64(n)*float64(n)*float64(n)/3,
			func(be engine.Backend) func() { return cholesky(be, n) },
		)
	}
	const m, n = 2048, 512
	add(fmt.Sprintf("QR/%d×%d", m, n), 2*m*n*n-2*n*n*n/3, func(be engine.Backend) func() { return qr(be, m, n) })
	return all
}

// processorTimed returns a function that measures the processor time of f, which other programs disturb less than
// elapsed time. It repeats f for 20 ms.
func processorTimed(f func()) func() time.Duration {
	reps := 0
	return func() time.Duration {
		if reps == 0 { // the first call warms up and counts
			f()
			for begin := bench.ProcessorTime(); reps == 0 || bench.ProcessorTime()-begin < 20*time.Millisecond; reps++ {
				f()
			}
		}
		begin := bench.ProcessorTime()
		for range reps {
			f()
		}
		return (bench.ProcessorTime() - begin) / time.Duration(reps)
	}
}

// A multiplication is C = A·op(B), where op(B) is B or Bᵀ, or the lower triangle of C = A·Aᵀ.
type multiplication struct {
	kind    string // NN, NT or Syrk
	m, n, k int
}

var products = []multiplication{
	{"NN", 512, 512, 512}, {"NN", 1024, 1024, 1024}, {"NN", 2048, 2048, 2048}, {"NT", 1024, 1024, 1024},
	{"NT", 256, 256, 1024}, {"NT", 64, 64, 16384}, {"NN", 256, 512, 512}, {"NN", 64, 256, 128},
	{"Syrk", 512, 512, 1024}, {"Syrk", 256, 256, 4096}, {"Syrk", 128, 128, 16384},
}

func (p multiplication) String() string {
	return fmt.Sprintf("Gemm/%s/%d×%d×%d", p.kind, p.m, p.n, p.k)
}

func (p multiplication) flops() float64 {
	if p.kind == "Syrk" {
		return float64(p.n) * float64(p.n+1) * float64(p.k)
	}
	return 2 * float64(p.m) * float64(p.n) * float64(p.k)
}

func (p multiplication) prepare(be engine.Backend) func() {
	a, b, c := matrix(p.m, p.k), matrix(p.k, p.n), matrix(p.m, p.n)
	switch p.kind {
	case "NT":
		b = engine.View(p.n, p.k, b.Data)
		return func() { be.Gemm(false, true, 1, a, b, 0, c) }
	case "Syrk":
		return func() { be.Syrk(false, 1, a, 0, c) }
	}
	return func() { be.Gemm(false, false, 1, a, b, 0, c) }
}

// A pass is a gradient of n rows of d columns for t right-hand sides, in calls of at most engine.MaxGradientRows rows.
type pass struct {
	kind    string // plain or twofold
	n, d, t int
}

var gradients = []pass{
	{"plain", 32768, 1024, 1}, {"plain", 32768, 1024, 3}, {"plain", 32768, 1024, 10},
	{"plain", 8192, 4096, 1}, {"plain", 8192, 4096, 16}, {"plain", 8192, 4096, 48},
	{"twofold", 32768, 1024, 1}, {"twofold", 8192, 4096, 1}, {"twofold", 8192, 4096, 16},
}

func (p pass) String() string { return fmt.Sprintf("Gradient/%s/%d×%d/t=%d", p.kind, p.n, p.d, p.t) }

func (p pass) prepare(be engine.Backend) func() {
	a, x, b := matrix(p.n, p.d), matrix(p.t, p.d), matrix(p.n, p.t)
	g, r := twofold(p.t, p.d), twofold(p.n, p.t)
	return func() {
		for lo := 0; lo < p.n; lo += engine.MaxGradientRows {
			hi := min(p.n, lo+engine.MaxGradientRows)
			rows, targets := a.Slice(lo, hi, 0, p.d), b.Slice(lo, hi, 0, p.t)
			if p.kind == "plain" {
				be.Gradient(rows, x, targets, g.Hi, r.Hi.Slice(lo, hi, 0, p.t))
				continue
			}
			residuals := engine.Twofold{
				Hi:  r.Hi.Slice(lo, hi, 0, p.t),
				Lo:  r.Lo.Slice(lo, hi, 0, p.t),
				Err: r.Err.Slice(lo, hi, 0, p.t),
			}
			be.GradientTwofold(rows, x, targets, nil, nil, g, residuals)
		}
	}
}

func symEig(be engine.Backend, n, k int) func() {
	spd, a := positiveDefinite(be, n), zeros(n, n)
	w, v, work := make([]float64, n), zeros(k, n), make([]float64, be.SymEigWork(n, k))
	return func() {
		copy(a.Data, spd.Data)
		if !be.SymEig(a, w, v, work) {
			log.Fatal("compare: SymEig does not converge")
		}
	}
}

func cholesky(be engine.Backend, n int) func() {
	spd, a := positiveDefinite(be, n), zeros(n, n)
	return func() {
		copy(a.Data, spd.Data)
		_, ok := be.Cholesky(a)
		if !ok {
			log.Fatal("compare: a positive definite matrix has no Cholesky factor")
		}
	}
}

func qr(be engine.Backend, m, n int) func() {
	x, a, work := matrix(m, n), zeros(m, n), make([]float64, be.QRWork(m, n))
	return func() {
		copy(a.Data, x.Data)
		be.QR(a, work)
	}
}

func zeros(m, n int) engine.Matrix { return engine.View(m, n, make([]float64, m*n)) }

// matrix returns an m×n matrix of random numbers.
func matrix(m, n int) engine.Matrix { return engine.View(m, n, bench.Numbers(m*n)) }

func twofold(m, n int) engine.Twofold {
	return engine.Twofold{Hi: zeros(m, n), Lo: zeros(m, n), Err: zeros(m, n)}
}

// positiveDefinite returns XXᵀ for a random n×2n matrix X.
func positiveDefinite(be engine.Backend, n int) engine.Matrix {
	a := zeros(n, n)
	be.Syrk(false, 1, matrix(n, 2*n), 0, a)
	return a
}
