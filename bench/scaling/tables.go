package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// A table is one of docs/scaling.md.
type table struct {
	name    string
	columns []string
	rows    [][]string
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case float64:
			row[i] = chart.Digits(v, 2)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	t.rows = append(t.rows, row)
}

func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(t.columns, " | "), strings.Repeat("---:|", len(t.columns)))
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}

// size writes bytes in powers of 1000.
func size(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	k := 0
	for bytes >= 1000 && k < len(units)-1 {
		bytes /= 1000
		k++
	}
	return fmt.Sprintf("%.3g %s", bytes, units[k])
}

// count writes a round number with a power of ten.
func count(x float64) string {
	if x >= 1e4 && math.Mod(x, 1000) == 0 {
		return chart.Digits(x, 2)
	}
	return fmt.Sprintf("%.0f", x)
}

// span writes seconds in the unit that suits.
func span(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 1e-3:
		return chart.Digits(s*1e6, 2) + " µs"
	case s < 1:
		return chart.Digits(s*1e3, 2) + " ms"
	case s < 600:
		return chart.Digits(s, 2) + " s"
	case s < 4*3600:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 3*86400:
		return fmt.Sprintf("%.0f h", s/3600)
	}
	return fmt.Sprintf("%s d", chart.Digits(s/86400, 2))
}

func share(x float64) string {
	if x > 0 && x < 0.01 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// constantsTables show what was measured.
func constantsTables(c *constants) []*table {
	work := &table{name: "constants", columns: []string{"d", "m", "sketch, rows/s", "GF/s", "merge", "shrinks", "write + read", "spectrum", "step, q = 1", "q = 8"}}
	for i, s := range c.Sketch {
		m := c.Merge[i]
		one, eight := c.step(s.M, s.D, 1), "–"
		if r := c.step(s.M, s.D, 8); r.Q == 8 && r.D == s.D {
			eight = span(r.Seconds)
		}
		work.add(count(s.D), s.M, s.Rows, s.Flops/1e9, span(m.Seconds), m.Shrinks, span(m.Bytes/m.Write+m.Bytes/m.Load), span(m.Spectrum), span(one.Seconds), eight)
	}
	pass := &table{name: "passes", columns: []string{"d", "q", "rows/s", "GB/s of rows", "GF/s"}}
	for _, p := range c.Pass {
		pass.add(count(p.D), p.Q, p.Rows, p.Bytes/1e9, p.Flops/1e9)
	}
	for _, p := range c.Sparse {
		pass.add(count(p.D)+fmt.Sprintf(", %.0f nonzeros", p.NNZ), 1, p.Rows, p.Rows*p.NNZ*12/1e9, p.Flops/1e9)
	}
	loop := &table{name: "loopback", columns: []string{"ranks", "bytes", "allreduce"}}
	for _, r := range c.Loopback {
		loop.add(r.Ranks, size(r.Bytes), span(r.Seconds))
	}
	return []*table{work, pass, loop}
}

// volumeTable shows how many bytes a rank holds and sends.
func volumeTable() *table {
	t := &table{name: "volumes", columns: []string{"d", "m", "sketch in memory", "a solve, q = 1", "summary sent", "allreduce a pass, q = 1", "q = 100", "d×d of exact"}}
	for _, d := range []float64{1e3, 1e4, 1e5, 1e6} {
		for _, m := range []float64{64, 256, 1024} {
			if m >= d {
				continue
			}
			t.add(count(d), m, size(sketchBytes(m, d, 1)), size(solveBytes(m, d, 1)), size(meanSummaryBytes(m, d, 1)),
				size(8*reduceNumbers(d, 1)), size(8*reduceNumbers(d, 100)), size(8*d*d))
		}
	}
	return t
}

// etaTable shows mergings at some numbers of parts.
func etaTable(all []merging) *table {
	t := &table{name: "eta", columns: []string{"data", "order", "parts", "shrinks", "per merge", "rows sent / m", "η/‖A‖²", "of one sketch", "bound", "‖K − BᵀB‖/η", "ρ/(γ+ρ)", "contraction", "passes"}}
	var one float64
	for _, m := range all {
		if m.parts == 1 {
			one = m.eta
		}
		switch m.parts {
		case 1, 16, 256, 1024:
			t.add(m.data, m.order, m.parts, m.shrinks, m.merged, m.live, fmt.Sprintf("%.3g", m.eta), fmt.Sprintf("%.3f", m.eta/one), fmt.Sprintf("%.3g", m.bound),
				fmt.Sprintf("%.2f", m.error/m.eta), fmt.Sprintf("%.3f", m.proved), fmt.Sprintf("%.3f", m.contraction), m.passes)
		}
	}
	return t
}

// roundTable shows the round-off of merging, on integers of low rank, whose sketch is exact
// otherwise.
func roundTable(all []merging) *table {
	t := &table{name: "roundoff", columns: []string{"order", "parts", "η/‖A‖²", "‖K − BᵀB‖/‖A‖²", "pad/‖A‖²"}}
	for _, m := range all {
		switch m.parts {
		case 1, 4, 16, 64, 256, 1024:
			t.add(m.order, m.parts, fmt.Sprintf("%.1e", m.eta), fmt.Sprintf("%.1e", m.error), fmt.Sprintf("%.1e", m.pad))
		}
	}
	return t
}
