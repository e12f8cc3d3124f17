package engine_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/fdridge/fdridge/engine"
)

// The normal equations of a small least-squares problem, Aᵀ·A·x = Aᵀ·b, by whatever
// backend the build has chosen.
func Example() {
	be, err := engine.Default()
	if err != nil {
		log.Fatal(err)
	}
	a := engine.View(3, 2, []float64{
		1, 1,
		1, 2,
		1, 3,
	})
	b := []float64{1, 3, 5}
	gram := engine.View(2, 2, make([]float64, 4))
	x := engine.View(1, 2, make([]float64, 2)) // right-hand sides are rows
	be.Syrk(true, 1, a, 0, gram)
	be.Gemv(true, 1, a, b, 0, x.Data)
	if pivot, ok := be.Cholesky(gram); !ok {
		log.Fatalf("column %d depends on those before", pivot)
	}
	be.CholeskySolve(gram, x)
	fmt.Printf("intercept %.3f, slope %.3f\n", x.Row(0)[0], x.Row(0)[1])
	// Output:
	// intercept -1.000, slope 2.000
}

// A block without targets makes of Gradient the product with AᵀA; the same of sparse rows
// is a method of theirs.
func ExampleCSR() {
	s := engine.CSR{
		Rows: 2, Cols: 3,
		RowPtr: []int{0, 2, 3},
		ColIdx: []int32{0, 2, 1},
		Val:    []float64{1, 2, 3},
	}
	x, g := engine.View(1, 3, []float64{1, 1, 1}), engine.View(1, 3, make([]float64, 3))
	r := engine.View(2, 1, make([]float64, 2))
	s.Gradient(x, engine.Matrix{}, g, r)
	fmt.Println("A·x =", r.Data, "and AᵀA·x =", g.Data)
	// Output:
	// A·x = [3 3] and AᵀA·x = [3 9 6]
}

// Views of the same memory: a block of rows and columns.
func ExampleMatrix_Slice() {
	m := engine.View(3, 4, []float64{
		1, 2, 3, 4,
		5, 6, 7, 8,
		9, 10, 11, 12,
	})
	s := m.Slice(1, 3, 0, 2)
	fmt.Println(s.Rows, s.Cols, s.Stride, s.Row(1))
	// Output:
	// 2 2 4 [9 10]
}

// A program may hold several backends and tune each: here the kernel written in Go, in
// blocks of 64 terms. Every value tells where it came from.
func ExampleTuning() {
	t := engine.Detect()
	if err := t.Override(func(name string) (string, bool) { return "generic", name == "FDRIDGE_KERNEL" }); err != nil {
		log.Fatal(err)
	}
	t.L1 = engine.Cache{Size: 32 << 10, Ways: 8, Sets: 64, Line: 64, Origin: "the data sheet"}
	t.KC = engine.Setting{Value: 64, Origin: "measured"}
	be, err := engine.New("purego", t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(be.Name(), be.Capabilities()["kernel"])
	fmt.Println("L1:", t.L1)
	fmt.Println("kc:", t.KC.Value, t.KC.Origin)
	// Output:
	// purego generic, tile 4×4
	// L1: 32 KiB, 8 ways × 64 sets × 64 B
	// kc: 64 measured
}

// How far a sum of 10 000 products may be off, in units of eps·Σ|xᵢyᵢ|: added up in
// strips of 512, and one after the other.
func ExampleAccuracy() {
	a := engine.Accuracy{Strip: 512, Sums: 4}
	fmt.Println(a.Dot(10000)+engine.Roundings, a.Sum(10000)+engine.Roundings)
	// Output:
	// 1508 5002
}

// What `fdridge doctor` shows.
func ExampleReport() {
	r, err := engine.NewReport()
	if err != nil {
		log.Fatal(err)
	}
	be, err := engine.Default()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Backend == be.Name(), r.Backends[0] == r.Backend, r.Tuning.ISA != "")
	// Output:
	// true true true
}

// How near matrix products come to what the processor can do.
func ExampleMeasurement() {
	be, err := engine.Default()
	if err != nil {
		log.Fatal(err)
	}
	m, err := engine.Measure(context.Background(), be, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f of %.0f GFLOP/s, reading %.0f GB/s\n", m.Gemm, m.Peak, m.Bandwidth)
}
