package outside

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// trial is one table with the flags of one run.
type trial struct {
	x        [][]float64 // all rows, held-out rows too
	y        [][]float64
	labels   []string // of --classes
	weights  []float64
	p        []float64 // penalty of each column
	penalty  bool      // --penalty
	free     []string  // --unpenalized
	bands    string
	gammas   []float64 // list; also of auto:
	auto     bool
	grid     bool // auto without a list
	method   string
	selects  string
	size     int
	lanes    int
	standard bool
	each     bool // --per-target
	balanced bool
	noIcpt   bool
	holdout  float64
	predict  bool
	solve    bool // --save-sketch, then solve
	passes   int
}

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func small(r *rand.Rand) float64 { return float64(r.IntN(11) - 5) }

// draw draws a table and flags.
func draw(r *rand.Rand) *trial {
	t := &trial{}
	n := 2 + r.IntN(11)
	d := 1 + r.IntN(6)
	t.x = make([][]float64, n)

	for i := range t.x {
		t.x[i] = make([]float64, d)
	}

	t.drawColumns(r, n, d)
	t.drawPenalties(r, d)
	t.drawTargets(r, n, d)
	t.drawFlags(r, n, d)

	return t
}

func (t *trial) drawColumns(r *rand.Rand, n, d int) {
	kind := r.IntN(8)

	for j := range d {
		k := kind
		if kind == 7 {
			k = r.IntN(7)
		}

		scale := 1.0
		offset := 0.0

		switch k {
		case 1:
			offset = 1e8
		case 2:
			scale = math.Ldexp(1, r.IntN(81)-40)
		case 3:
			scale = pick(r, 0.1, 0.3, 1e-3, 1.0/3)
		case 4:
			scale = pick(r, 1, 1, 1e-160, 1e-170, 1e-90)
		case 5:
			offset = pick(r, 0, 1e4, 1.7e9, 1e10)
			scale = pick(r, 1, 3600, 0.25)
		}

		for i := range n {
			t.x[i][j] = (offset + small(r)) * scale
		}

		switch {
		case j > 0 && chance(r, 0.05):
			from := r.IntN(j)
			for i := range n {
				t.x[i][j] = t.x[i][from]
			}
		case j > 0 && chance(r, 0.04):
			from := r.IntN(j)
			for i := range n {
				t.x[i][j] = t.x[i][from] + math.Ldexp(small(r), -20)
			}
		case chance(r, 0.04):
			for i := range n {
				t.x[i][j] = t.x[0][j]
			}
		}
	}

	if chance(r, 0.01) {
		for i := range n {
			for j := range d {
				t.x[i][j] = t.x[0][0]
			}
		}
	}
}

func (t *trial) drawPenalties(r *rand.Rand, d int) {
	t.p = make([]float64, d)
	for j := range t.p {
		t.p[j] = 1
	}

	if chance(r, 0.45) {
		for j := range d {
			if chance(r, 0.4) {
				t.p[j] = 0
				t.free = append(t.free, "x"+strconv.Itoa(j))
			}
		}
	}

	if chance(r, 0.15) {
		t.penalty = true

		for j := range t.p {
			if t.p[j] != 0 {
				t.p[j] = pick(r, 1, 4, 0.25, 2, 3, 10, 0.01, 1e6, 1e-6)
			}
		}

		return
	}

	if d >= 2 && chance(r, 0.06) {
		at := 1 + r.IntN(d-1)
		low := pick(r, 1.0, 2, 100)
		high := pick(r, 1.0, 3, 1000)
		t.bands = fmt.Sprintf("1-%d=%g,%d-%d=%g", at, low, at+1, d, high)

		for j := range t.p {
			value := high
			if j < at {
				value = low
			}

			if t.p[j] != 0 {
				t.p[j] = value
			}
		}
	}
}

func (t *trial) drawTargets(r *rand.Rand, n, d int) {
	if len(t.free) == 0 && chance(r, 0.15) {
		k := 2 + r.IntN(2)
		t.labels = make([]string, n)

		for i := range t.labels {
			t.labels[i] = string(rune('a' + r.IntN(k)))
		}

		return
	}

	targets := 1
	if chance(r, 0.3) {
		targets = 2 + r.IntN(2)
	}

	t.y = make([][]float64, n)
	for i := range t.y {
		t.y[i] = make([]float64, targets)
	}

	for k := range targets {
		kind := r.IntN(10)
		c := make([]float64, d)

		for j := range c {
			c[j] = small(r)
			if (kind == 1 || kind == 2) && t.p[j] != 0 {
				c[j] = 0
			}
		}

		shift := pick(r, 0, small(r), 0, 1e8)
		for i := range n {
			v := shift

			switch kind {
			case 0, 1, 2, 3: // in the span, or nearly
				for j := range c {
					v += c[j] * t.x[i][j]
				}

				if kind >= 2 {
					v += small(r) * pick(r, 1, 1e-3)
				}
			case 4:
				v = 1e8 + small(r)
			case 5:
				v = small(r) * 1e-160
			case 6:
				v = shift
			case 7:
				v = t.x[i][0]
			default:
				v = small(r)
			}

			t.y[i][k] = v
		}
	}
}

func (t *trial) drawFlags(r *rand.Rand, n, d int) {
	t.gammas = []float64{}
	count := 1 + r.IntN(4)

	for len(t.gammas) < count {
		g := pick(r, 1, 0.1, 10, 100, 1e-3, 1e-6, 1e-10, 1e4, 3, 0.3, 1e-14, math.Ldexp(1, r.IntN(80)-40))
		seen := false

		for _, v := range t.gammas {
			seen = seen || v == g
		}

		if !seen {
			t.gammas = append(t.gammas, g)
		}
	}

	t.auto = chance(r, 0.6)
	t.grid = t.auto && chance(r, 0.15)
	t.noIcpt = chance(r, 0.3)
	t.standard = chance(r, 0.15)

	t.method = pick(r, "auto", "auto", "auto", "one-shot", "cg", "galerkin", "newton", "exact", "exact",
		"cholesky", "qr", "tridiagonal", "dual")

	if chance(r, 0.5) {
		t.size = 1 + r.IntN(6)
	}

	if chance(r, 0.3) {
		t.lanes = 1 + r.IntN(3)
	}

	if chance(r, 0.25) {
		t.weights = make([]float64, n)
		kind := r.IntN(5)

		for i := range t.weights {
			switch kind {
			case 0, 1:
				t.weights[i] = pick(r, 1.0, 4, 0.25, 1)
			case 2:
				t.weights[i] = pick(r, 1e5, 3e7, 123456.7, 1e11, 1)
			default:
				t.weights[i] = pick(r, 1.0, 2, 3, 0.5, 0, 0.1, 1e3)
			}
		}
	}

	if t.auto {
		t.selects = pick(r, "", "gcv", "loo", "loo", "gcv", "cv")
	}

	if !t.auto && len(t.gammas) == 1 && chance(r, 0.1) {
		t.gammas[0] = 0
	}

	targets := 1
	if t.y != nil {
		targets = len(t.y[0])
	}

	if targets > 1 && len(t.free) == 0 && t.bands == "" && t.auto && chance(r, 0.6) {
		t.each = true
		t.method = "auto"

		if t.selects == "loo" && chance(r, 0.3) {
			t.selects = "gcv"
		}
	}

	if t.labels != nil {
		t.balanced = chance(r, 0.3)
		if t.selects == "" || chance(r, 0.3) {
			t.selects = pick(r, "", "accuracy", "balanced-accuracy")
			if !t.auto {
				t.selects = ""
			}
		}
	}

	if n >= 5 && chance(r, 0.2) {
		t.holdout = pick(r, 0.2, 0.3, 0.5)
	}

	t.predict = len(t.free) == 0 && !t.each && chance(r, 0.3)

	t.solve = len(t.free) == 0 && t.labels == nil && !t.each && !t.grid && t.selects != "loo" &&
		(t.method == "auto" || t.method == "one-shot") && chance(r, 0.5)

	if chance(r, 0.1) {
		t.passes = 1 + r.IntN(4)
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// write writes the files of the trial to folder.
func (t *trial) write(folder string) error {
	var b strings.Builder

	for j := range t.x[0] {
		fmt.Fprintf(&b, "x%d,", j)
	}

	if t.labels != nil {
		b.WriteString("label")
	} else {
		b.WriteString(strings.Join(t.targets(), ","))
	}

	if t.weights != nil {
		b.WriteString(",w")
	}

	b.WriteString("\n")

	for i, row := range t.x {
		var cells []string
		for _, v := range row {
			cells = append(cells, number(v))
		}

		if t.labels != nil {
			cells = append(cells, t.labels[i])
		} else {
			for _, v := range t.y[i] {
				cells = append(cells, number(v))
			}
		}

		if t.weights != nil {
			cells = append(cells, number(t.weights[i]))
		}

		b.WriteString(strings.Join(cells, ",") + "\n")
	}

	err := os.WriteFile(filepath.Join(folder, "rows.csv"), []byte(b.String()), 0o600)
	if err != nil || !t.penalty {
		return err
	}

	var p strings.Builder
	for _, v := range t.p {
		p.WriteString(number(v) + "\n")
	}

	return os.WriteFile(filepath.Join(folder, "penalty.csv"), []byte(p.String()), 0o600)
}

func (t *trial) targets() []string {
	if t.labels != nil {
		return []string{"label"}
	}

	var names []string
	for k := range t.y[0] {
		names = append(names, "y"+strconv.Itoa(k))
	}

	return names
}

// arguments returns the command line of fit.
func (t *trial) arguments() []string {
	args := []string{"fit", "--data", "rows.csv", "--header", "yes", "--target", strings.Join(t.targets(), ",")}

	var list []string
	for _, g := range t.gammas {
		list = append(list, number(g))
	}

	switch {
	case t.grid:
		args = append(args, "--gamma", "auto")
	case t.auto:
		args = append(args, "--gamma", "auto:"+strings.Join(list, ","))
	default:
		args = append(args, "--gamma", strings.Join(list, ","))
	}

	option := func(use bool, words ...string) {
		if use {
			args = append(args, words...)
		}
	}

	option(t.method != "auto", "--method", t.method)
	option(t.selects != "", "--select", t.selects)
	option(t.size > 0, "--size", strconv.Itoa(t.size))
	option(t.lanes > 0, "--lanes", strconv.Itoa(t.lanes))
	option(t.passes > 0, "--max-passes", strconv.Itoa(t.passes))
	option(t.noIcpt, "--intercept=false")
	option(t.standard, "--standardize")
	option(t.weights != nil, "--weights", "w")
	option(t.penalty, "--penalty", "penalty.csv")
	option(t.bands != "", "--bands", t.bands)
	option(len(t.free) > 0 && !t.penalty, "--unpenalized", strings.Join(t.free, ","))
	option(t.each, "--per-target")
	option(t.labels != nil, "--classes")
	option(t.balanced, "--class-weight", "balanced")
	option(t.holdout > 0, "--holdout", number(t.holdout))

	option(t.solve, "--save-sketch", "rows.fds")

	return append(args, "--threads", "1", "--log-format", "none", "--json", "--out", "model.json")
}

// isHeld reports whether the row with this index is held out (held.py).
func (t *trial) isHeld(index int) bool {
	if t.holdout == 0 {
		return false
	}

	z := (uint64(index) + 1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31

	return float64(z>>11)*0x1p-53 < t.holdout
}
