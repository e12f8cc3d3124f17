package dataset_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// TestFourierOfSeed: W and u are drawn from the seed as they always were, and what is inside
// the cosine is the chain of fused multiply-adds that engine.CosineMap promises.
func TestFourierOfSeed(t *testing.T) {
	const d, components, gamma, seed = 3, 200, 0.7, 11
	rng := rand.New(rand.NewPCG(seed, 0x466f7572696572))
	draw := func(n int, f func() float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f()
		}
		return x
	}
	u := draw(components, func() float64 { return 2 * math.Pi * rng.Float64() })
	w := draw(d*components, func() float64 { return math.Sqrt(2*gamma) * rng.NormFloat64() })
	rows := [][]float64{{1, -2, 0.5}, {0, 3, 0}, {0, 0, 0}, {1e3, 1e-3, -7}}
	f, err := dataset.Fourier{Components: components, Gamma: gamma, Seed: seed}.Apply(dense(t, rows...), nil)
	if err != nil {
		t.Fatal(err)
	}
	scale := math.Sqrt(2. / components)
	for i, z := range mustRead(t, f).x {
		for c, got := range z {
			s := u[c]
			for j, x := range rows[i] {
				s = math.FMA(x, w[j*components+c], s)
			}
			if want := scale * math.Cos(s); !(math.Abs(got-want) <= 4*0x1p-53*scale) {
				t.Fatalf("row %d, feature %d is %v, want %v", i, c, got, want)
			}
		}
	}
}

// TestFourierBits: features have the same bits on every backend of the build and on the kernel
// in Go, of dense and of sparse rows, and wherever a pass begins.
func TestFourierBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, 700)
	for i := range rows {
		rows[i] = make([]float64, 30)
		for j := range rows[i] {
			if rng.IntN(4) == 0 {
				rows[i][j] = rng.NormFloat64()
			}
		}
	}
	apply := func(src dataset.Source, be engine.Backend) dataset.Source {
		f, err := dataset.Fourier{Components: 300, Gamma: 0.3, Seed: 7}.Apply(src, be)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	backend := func(name string, tuning engine.Tuning) engine.Backend {
		be, err := engine.New(name, tuning)
		if err != nil {
			t.Fatal(err)
		}
		return be
	}
	want := mustRead(t, apply(dense(t, rows...), backend("purego", engine.Tuning{ISA: "generic"}))).x
	equal := func(what string, first int, got [][]float64) {
		t.Helper()
		if len(got) != len(rows)-first {
			t.Fatalf("%s: %d rows, want %d", what, len(got), len(rows)-first)
		}
		for i, z := range got {
			for c, v := range z {
				if math.Float64bits(v) != math.Float64bits(want[first+i][c]) {
					t.Fatalf("%s: row %d, feature %d is %x, want %x", what, first+i, c, v, want[first+i][c])
				}
			}
		}
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range engine.Names() {
		be := backend(name, tuning)
		equal(name+", dense", 0, mustRead(t, apply(dense(t, rows...), be)).x)
		equal(name+", sparse", 0, mustRead(t, apply(sparse(t, rows...), be)).x)
		for _, first := range []int{1, 333, 699} {
			equal(
				name+", the last rows",
				first,
				mustRead(t, part(t, apply(sparse(t, rows...), be), int64(first), int64(len(rows)))).x,
			)
			equal(
				name+", of the last rows",
				first,
				mustRead(t, apply(part(t, dense(t, rows...), int64(first), int64(len(rows))), be)).x,
			)
		}
	}
}
