package kernel

import (
	"fmt"
	"math"
	"testing"
)

// BenchmarkKernels measures each kernel on data that stays in the first-level
// cache: the products in flops per second, a multiply-add being two, the copies in
// bytes read and written.
func BenchmarkKernels(b *testing.B) {
	const steps, n = 96, 512 // of a tile and of a row
	for _, k := range All() {
		unit, nr := k.Unit, k.NR()
		x, y, c := make([]float64, n), make([]float64, n), make([]float64, unit*nr)
		a, p := make([]float64, max(4*n, steps*unit)), make([]float64, steps*nr)
		v, s := make([]float64, n*len(k.Dots)), make([]float64, 4*len(k.Dots))
		for i := range a {
			a[i] = 1 / float64(i+1)
		}
		run := func(name, per string, work int, f func()) {
			b.Run(k.Name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(work)*float64(b.N)/b.Elapsed().Seconds()/1e9, per)
			})
		}
		for u, tile := range k.Tile {
			cols := (u + 1) * unit
			run(fmt.Sprintf("Tile%d×%d", unit, cols), "GFLOP/s", 2*steps*unit*cols, func() {
				tile(steps, 1, &a[0], &p[0], &c[0], nr, true)
			})
			run(fmt.Sprintf("TileRowsA%d×%d", unit, cols), "GFLOP/s", 2*steps*unit*cols, func() {
				k.TileRowsA[u](steps, 1, &a[0], steps, &p[0], &c[0], nr, true)
			})
			run(fmt.Sprintf("TileRowsB%d×%d", unit, cols), "GFLOP/s", 2*steps*unit*cols, func() {
				k.TileRowsB[u](steps, 1, &a[0], &p[0], cols, &c[0], nr, true)
			})
		}
		for u, pack := range k.Pack {
			cols := (u + 1) * unit
			run(fmt.Sprint("Pack", cols), "GB/s", 2*8*steps*cols, func() { pack(steps, &a[0], unit, &p[0], nr) })
		}
		run("PackT", "GB/s", 2*8*steps*unit, func() { k.PackT(steps, &a[0], steps, &p[0], nr) })
		run("Dot1", "GFLOP/s", 2*n, func() { k.Dot1(n, &a[0], &x[0]) })
		run("Dot4", "GFLOP/s", 8*n, func() { k.Dot4(n, &a[0], n, &x[0]) })
		run("Axpy1", "GFLOP/s", 2*n, func() { k.Axpy1(n, 1, &a[0], &y[0]) })
		run("Axpy4", "GFLOP/s", 8*n, func() { k.Axpy4(n, 1, 1, 1, 1, &a[0], n, &y[0]) })
		rows := []int32{0, 1, 2, 3}
		run("AxpyRows", "GFLOP/s", 8*n, func() { k.AxpyRows(n, 4, &x[0], &rows[0], 0, &a[0], n, &y[0]) })
		for u := 1; u <= len(k.Dots); u++ {
			run(fmt.Sprint("Dots", u), "GFLOP/s", 8*n*u, func() { k.Dots[u-1](n, &a[0], n, &v[0], n, &s[0], u) })
			run(fmt.Sprint("Axpys", u), "GFLOP/s", 8*n*u, func() { k.Axpys[u-1](n, &s[0], u, &a[0], n, &v[0], n) })
		}
		run("Symv4", "GFLOP/s", 16*n, func() { k.Symv4(n, 1, 1, 1, 1, &a[0], n, &x[0], &y[0]) })
	}
}

// BenchmarkCosines measures the cosines of numbers in the first-level cache. It also measures the sums that are the
// arguments of cosines: of a sparse row of 12 entries and of four dense rows, with 128 components.
func BenchmarkCosines(b *testing.B) {
	const n, entries, inputs = 128, 12, 100
	x, w, u, z := make([]float64, 4*inputs), make([]float64, inputs*n), make([]float64, n), make([]float64, 4*n)
	columns := make([]int32, entries)
	for i := range columns {
		columns[i] = int32(7 * i)
	}
	for i := range u {
		u[i] = float64(i) / 10
	}
	measure := func(name string, work int, unit string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(work)*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
		})
	}
	v, y := make([]float64, 512), make([]float64, 512)
	for i := range v {
		v[i] = float64(i) / 10
	}
	for _, k := range All() {
		measure(k.Name+"/Cos", len(v), "Gcos/s", func() { k.Cos(len(v), 1, &v[0], &y[0]) })
		measure(
			k.Name+"/Chain",
			2*n*entries,
			"GFLOP/s",
			func() { k.Cosines.Chain(n, entries, &x[0], &columns[0], &w[0], &u[0], &z[0]) },
		)
		measure(
			k.Name+"/Chain4",
			8*n*inputs,
			"GFLOP/s",
			func() { k.Cosines.Chain4(n, inputs, &x[0], inputs, &w[0], &u[0], 0, &z[0], n) },
		)
	}
	measure("math.Cos", len(v), "Gcos/s", func() {
		for j, x := range v {
			y[j] = math.Cos(x)
		}
	})
}
