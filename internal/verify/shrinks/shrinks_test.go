package shrinks

import (
	"os"
	"sort"
	"strconv"
	"testing"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// cases returns the number of random problems of each kind: FDRIDGE_SHRINKS_CASES, or 1,000 if FDRIDGE_THOROUGH is set,
// else 100. all reports whether the largest problems are included.
func cases() (n int, all bool) {
	if n, err := strconv.Atoi(os.Getenv("FDRIDGE_SHRINKS_CASES")); err == nil {
		return n, true
	}
	if thorough() {
		return 1000, false
	}
	return 100, false
}

func thorough() bool {
	return os.Getenv("FDRIDGE_THOROUGH") != "" || os.Getenv("FDRIDGE_SHRINKS_CASES") != ""
}

// first returns the first seed, FDRIDGE_SHRINKS_SEED.
func first() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("FDRIDGE_SHRINKS_SEED"), 10, 64)
	return n
}

// TestSmall checks random sketches of up to 40 columns.
func TestSmall(t *testing.T) {
	n, _ := cases()
	out := NewReport()
	for seed := range uint64(n) {
		Run(first()+seed, out)
	}
	tell(t, out)
}

// TestSpoiled checks random sketches whose eigenpairs are wrong.
func TestSpoiled(t *testing.T) {
	n, _ := cases()
	out := NewReport()
	for seed := range uint64(n) {
		RunSpoiled(first()+seed, out)
	}
	tell(t, out)
}

func tell(t *testing.T, out *Report) {
	t.Helper()
	t.Logf("%d problems, %d bounds, %d refused, %d lost", out.Problems, out.Bounds, out.Refused, out.Lost)
	var names []string
	for name := range out.Worst {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Logf("%-32s %.4f (%s)", name, out.Worst[name], out.At[name])
	}
	for _, f := range out.False {
		t.Error(f)
	}
}

// TestLarge checks sketches of many columns along chosen directions.
func TestLarge(t *testing.T) {
	out := NewReport()
	if !thorough() {
		Large{
			Kind:       "equal then diagonal",
			Rows:       200,
			Size:       0.11155,
			Config:     fd.Config{Dim: 128, Size: 8, ShrinkRows: 1, Store: fd.StoreRows},
			Iterations: 3,
		}.Run(
			1,
			out,
		)
		Large{
			Kind:       "hadamard",
			Rows:       128,
			Size:       1,
			Config:     fd.Config{Dim: 128, Size: 8, ShrinkRows: 8, Store: fd.StoreRows, Shrink: fd.SVD},
			Iterations: 3,
		}.Run(
			1,
			out,
		)
		Large{
			Kind:       "equal then diagonal",
			Rows:       200,
			Size:       0.11155,
			Config:     fd.Config{Dim: 128, Size: 8, ShrinkRows: 8, Store: fd.StoreScatter},
			Iterations: 3,
		}.Run(
			1,
			out,
		)
		tell(t, out)
		return
	}
	seed, sizes := first(), []int{64, 128}
	if _, all := cases(); all {
		sizes = append(sizes, 320, 640, 1600)
	}
	for _, d := range sizes {
		for _, kind := range []string{
			"equal", "equal then diagonal", "hadamard", "lattice", "repeated", "graded rows", "growing rows", "nearly equal",
			"rank one",
		} {
			for _, c := range configurations(d) {
				seed++
				if d == 128 && len(sizes) == 2 && seed%3 > 0 {
					continue // a third of them, as there are as many of 64 columns
				}
				n := d + 64
				if d > 400 && kind != "equal then diagonal" {
					n = 300
				}
				Large{
					Kind: kind, Rows: n, Size: 0.11155, Config: c, Iterations: 4,
					Decay: []float64{0, 0, 0.5, 0x1p-40}[seed%4], Encode: seed%3 == 0, Halves: seed%5 == 0,
				}.Run(seed, out)
			}
		}
		t.Logf("%d columns: %d bounds", d, out.Bounds)
	}
	tell(t, out)
}

// configurations returns the configurations that TestLarge tries for d columns.
func configurations(d int) (out []fd.Config) {
	for _, m := range []int{1, 8, 40} {
		for _, p := range []int{1, 8, m, 2 * m} {
			if d > 400 && m == 40 && p == 1 {
				continue
			}
			out = append(out, fd.Config{Dim: d, Size: m, ShrinkRows: p, Store: fd.StoreRows})
		}
		if d <= 640 {
			out = append(out, fd.Config{Dim: d, Size: m, ShrinkRows: 2 * m, Store: fd.StoreRows, Shrink: fd.SVD})
		}
	}
	if d <= 640 {
		out = append(
			out,
			fd.Config{Dim: d, Size: d, ShrinkRows: 8, Store: fd.StoreScatter},
			fd.Config{Dim: d, Size: d, Store: fd.StoreScatter},
		)
	}
	if d <= 128 {
		out = append(
			out,
			fd.Config{Dim: d, Size: d, ShrinkRows: 8, Store: fd.StoreRows},
			fd.Config{Dim: d, Size: d, ShrinkRows: 4 * d, Store: fd.StoreRows},
			fd.Config{Dim: d, Size: d, ShrinkRows: 8, Store: fd.StoreRows, Shrink: fd.SVD},
		)
	}
	return out
}

// TestHuge checks the sketches of the issue that found pads exceeded, and one of 4096 columns.
func TestHuge(t *testing.T) {
	if _, all := cases(); !all {
		t.Skip("takes minutes")
	}
	out := NewReport()
	for i, l := range []Large{
		{Rows: 64 + 3200, Config: fd.Config{Dim: 3200, Size: 50, ShrinkRows: 8, Store: fd.StoreRows}},
		{Rows: 64 + 3200, Config: fd.Config{Dim: 3200, Size: 8, ShrinkRows: 1, Store: fd.StoreRows}},
		{Rows: 64 + 4096, Config: fd.Config{Dim: 4096, Size: 20, Store: fd.StoreRows}},
		{Rows: 64 + 1600, Config: fd.Config{Dim: 1600, Size: 1600, ShrinkRows: 8, Store: fd.StoreScatter}},
		{Rows: 64 + 3200, Config: fd.Config{Dim: 3200, Size: 3200, ShrinkRows: 8, Store: fd.StoreScatter}},
		{Rows: 64 + 4096, Config: fd.Config{Dim: 4096, Size: 4096, Store: fd.StoreScatter}},
	} {
		l.Kind, l.Size, l.Iterations = "equal then diagonal", 0.11155, 3
		l.Run(uint64(i), out)
		t.Logf("%v", l)
		tell(t, out)
	}
}

// TestWhole checks the spectra of matrices.
func TestWhole(t *testing.T) {
	out := NewReport()
	sizes, seeds := []int{1, 2, 3, 16, 33, 130}, uint64(1)
	if thorough() {
		sizes, seeds = []int{1, 2, 3, 4, 5, 8, 16, 24, 33, 40, 64, 80, 130, 256, 300, 640}, 3
	}
	for _, d := range sizes {
		for kind := range len(inputs) + 1 {
			for seed := range seeds {
				if d > 200 && seed > 0 || d > 60 && seeds == 1 && kind < len(inputs) {
					continue
				}
				Whole(d, kind, first()+seed, out)
			}
		}
	}
	tell(t, out)
}

// TestReduced checks what is said of a reduction to tridiagonal form.
func TestReduced(t *testing.T) {
	out := NewReport()
	sizes, seeds := []int{1, 2, 3, 8, 20}, uint64(1)
	if thorough() {
		sizes, seeds = []int{1, 2, 3, 4, 5, 8, 13, 20, 33}, 6
	}
	if _, all := cases(); all {
		sizes = append(sizes, 64, 130, 300)
	}
	for _, d := range sizes {
		for kind := range inputs {
			for seed := range seeds {
				if d > 100 && (seed > 1 || kind%3 != 1 && kind != 9 && kind > 1) {
					continue
				}
				for _, wrong := range []bool{false, true} {
					Reduced(ridge.Tridiagonal, 2*d+10, d, kind, seed%2 == 1, wrong, first()+seed, out)
					Reduced(ridge.Dual, d/2+2, d+1, kind, seed%2 == 1, wrong, first()+seed, out)
				}
			}
		}
	}
	tell(t, out)
}

// TestLoss checks the measure of orthogonality.
func TestLoss(t *testing.T) {
	out := NewReport()
	shapes := [][2]int{{1, 1}, {1, 1000}, {2, 64}, {40, 513}}
	if thorough() {
		shapes = append(
			shapes,
			[][2]int{{1, 4096}, {2, 4096}, {257, 512}, {300, 1025}, {20, 4096}, {520, 600}, {256, 2049}}...)
	}
	for _, s := range shapes {
		for kind := range 7 {
			Loss(s[0], s[1], kind, first(), out)
		}
	}
	tell(t, out)
}
