package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A table has a caption, a header and rows of as many cells.
type table struct {
	caption string
	rows    [][]string
}

// text writes it in aligned columns.
func (t table) text(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s\n", t.caption); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		if _, err := fmt.Fprintln(tab, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return tab.Flush()
}

// markdown writes it as such.
func (t table) markdown(w io.Writer) error {
	rows := append([][]string{t.rows[0], nil}, t.rows[1:]...)
	for range t.rows[0] {
		rows[1] = append(rows[1], "---")
	}
	if _, err := fmt.Fprintf(w, "\n%s\n\n", t.caption); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
	}
	return nil
}

// A contest is how good the answers of some solvers to some problems are: grades has a
// row for each solver.
type contest struct {
	problems []*problem
	solvers  []solver
	grades   [][]grade
}

// hold has every problem solved by every solver.
func hold(problems []*problem, solvers []solver) (*contest, error) {
	c := &contest{problems, solvers, make([][]grade, len(solvers))}
	for i, s := range solvers {
		for _, p := range problems {
			a, err := s.solve(p)
			if err != nil {
				return nil, err
			}
			c.grades[i] = append(c.grades[i], p.grade(a))
		}
	}
	return c, nil
}

// table has a column for each problem; cell is what to say of a grade. Solvers of which there
// is nothing to say are left out.
func (c *contest) table(caption string, cell func(grade) string) table {
	header, kappa := []string{""}, []string{"condition number of A"}
	for _, p := range c.problems {
		header, kappa = append(header, p.name), append(kappa, power(p.kappa))
	}
	t := table{caption, [][]string{header, kappa}}
	for i, s := range c.solvers {
		row := []string{s.name}
		for _, g := range c.grades[i] {
			if g.failed != "" {
				row = append(row, g.failed)
			} else {
				row = append(row, cell(g))
			}
		}
		if strings.Join(row[1:], "") != "" {
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// weights are the digits of the weights, and those that are certified in parentheses.
func weights(g grade) string {
	if math.IsNaN(g.certified) {
		return text(g.weights)
	}
	return text(g.weights) + " (" + text(g.certified) + ")"
}

// passes are the reads of the rows, nothing where they were not counted.
func passes(g grade) string {
	if g.passes == 0 {
		return ""
	}
	return strconv.Itoa(g.passes)
}

// least are the digits of the worst coefficient.
func least(g grade) string { return text(g.least) }

// describe says what the problems are.
func describe(problems []*problem) table {
	t := table{"The graded problems, by number:", [][]string{{"", "rows × features", "", "γ", "condition number of AᵀA + γI"}}}
	for _, p := range problems {
		size := fmt.Sprintf("%d × %d", len(p.x), len(p.x[0]))
		t.rows = append(t.rows, []string{p.name, size, p.about, power(p.gamma), power(p.kappaOfH)})
	}
	return t
}

// power is x to two digits, as people write it: 3.2e5.
func power(x float64) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	s := strconv.FormatFloat(x, 'e', 1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return s
	}
	if n == 0 {
		return strings.TrimSuffix(mantissa, ".0")
	}
	return strings.TrimSuffix(mantissa, ".0") + "e" + strconv.Itoa(n)
}
