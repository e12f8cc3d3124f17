package outside

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// example returns a trial with unpenalised columns, and γ chosen among gammas.
func example(x, y [][]float64, free []int, selects string, gammas ...float64) *trial {
	t := &trial{x: x, y: y, auto: true, gammas: gammas, method: "auto", selects: selects}
	for range x[0] {
		t.p = append(t.p, 1)
	}

	for _, j := range free {
		t.p[j] = 0
		t.free = append(t.free, "x"+strconv.Itoa(j))
	}

	return t
}

// TestExamples reconstructs tables whose brackets once left out the truth.
func TestExamples(t *testing.T) {
	binary := command(t)
	trials := map[string]*trial{}

	five := example([][]float64{{0, -1, 0, 0}, {0, 0, -1, 0}, {1, 0, 1, 2}, {0, 1, 1, 0}, {-1, 1, -1, -2}},
		[][]float64{{-1}, {-1}, {4}, {2}, {-3}}, []int{1, 2, 3}, "loo", 0.000322, 0.1446)
	five.method, five.noIcpt = "exact", true
	trials["the target in the span of the unpenalised columns"] = five

	r := rand.New(rand.NewPCG(7, 44))

	// The target of nine rows lies nearly in the span of the unpenalised columns.
	var x, y [][]float64
	for range 9 {
		row := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		x = append(x, row)
		y = append(y, []float64{2*row[1] - row[2] + 1e-8*r.NormFloat64()})
	}

	for _, method := range []string{"exact", "qr", "cholesky", "cg"} {
		nine := example(x, y, []int{1, 2}, "loo", 1e-3, 1, 100)
		nine.method = method
		trials["nine rows by "+method] = nine
	}

	// y = 2³⁰z + a − b with tiny candidates.
	x, y = nil, nil
	for range 12 {
		a, b, z := small(r), small(r), small(r)+r.Float64()
		z = math.Round(z*1024) / 1024
		x = append(x, []float64{a, b, z})
		y = append(y, []float64{0x1p30*z + a - b})
	}

	for _, selects := range []string{"gcv", "loo"} {
		trials["2³⁰z by "+selects] = example(x, y, []int{2}, selects, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13)
	}

	// Hourly Unix time without a penalty.
	x, y = nil, nil
	for i := range 24 {
		a, b := r.NormFloat64(), r.NormFloat64()
		x = append(x, []float64{a, b, 1.7e9 + 3600*float64(i)})
		y = append(y, []float64{a - b + 1e-4*float64(i) + r.NormFloat64()})
	}

	trials["hourly time"] = example(x, y, []int{2}, "loo", 0.1, 1, 10)

	// Columns and targets of about 10⁸.
	x, y = nil, nil
	for range 9 {
		row, targets := make([]float64, 4), make([]float64, 3)
		for j := range row {
			row[j] = 1e8 + small(r)
		}

		for k := range targets {
			targets[k] = 1e8 + small(r)
		}

		x, y = append(x, row), append(y, targets)
	}

	for _, v := range []struct {
		method string
		size   int
	}{{"one-shot", 4}, {"newton", 3}, {"cholesky", 0}, {"qr", 0}} {
		far := example(x, y, []int{0, 1, 3}, "", 1)
		far.auto, far.method, far.size = false, v.method, v.size
		trials["columns of 1e8 by "+v.method] = far
	}

	checks := 0

	for name, trial := range trials {
		counts := map[string]int{}
		faults, code, message := attack(t, binary, t.TempDir(), trial, counts)

		for _, n := range counts {
			checks += n
		}

		if len(faults) > 0 || code != 0 && code != 3 || len(counts) == 0 {
			t.Errorf("%s: exit code %d, %s\n%s", name, code, message, strings.Join(faults, "\n"))
		}
	}

	t.Logf("%d tables, %d checks", len(trials), checks)
}

// TestScaledColumns attacks fits that scale columns: entries of scaled columns are rounded, and all bounds must be
// about the columns of the file.
func TestScaledColumns(t *testing.T) {
	binary := command(t)
	folder, counts := t.TempDir(), map[string]int{}
	runs := 40

	if testing.Short() {
		runs = 10
	}

	for i := range runs {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		trial := draw(r)
		trial.standard, trial.bands = i%2 == 0, ""

		if i%2 == 1 {
			trial.penalty = true

			for j := range trial.p {
				if trial.p[j] != 0 {
					trial.p[j] = pick(r, 3, 10, 0.1, 7, 1e6)
				}
			}
		}

		faults, code, _ := attack(t, binary, folder, trial, counts)
		if len(faults) > 0 {
			t.Errorf(
				"run %d: exit code %d: fdridge %s\n%s",
				i,
				code,
				strings.Join(trial.arguments(), " "),
				strings.Join(faults, "\n"),
			)
		}
	}

	total := 0
	for _, n := range counts {
		total += n
	}

	if total == 0 {
		t.Fatal("nothing was checked")
	}

	t.Logf("%d checks", total)
}
