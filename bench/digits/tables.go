package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A table has a caption, a header and rows with the same number of cells.
type table struct {
	caption string
	rows    [][]string
	detail  bool // not part of the page
}

// markdown returns the table in Markdown.
func (t table) markdown() string {
	text := "\n" + t.caption + "\n\n"
	for i, row := range t.rows {
		text += "| " + strings.Join(row, " | ") + " |\n"
		if i == 0 {
			text += strings.Repeat("| --- ", len(row)) + "|\n"
		}
	}
	return text
}

// A contest holds the grades of all solvers on all problems, with a row for each solver.
type contest struct {
	problems []*problem
	solvers  []solver
	grades   [][]grade
}

// hold solves every problem with every solver.
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

// table returns a table with a column for each problem and a row for each solver. cell formats a grade. A solver with
// only empty cells is left out.
func (c *contest) table(caption string, cell func(grade) string) table {
	header, kappa := []string{""}, []string{"condition number of A"}
	for _, p := range c.problems {
		header, kappa = append(header, p.name), append(kappa, power(p.kappa))
	}
	t := table{caption: caption, rows: [][]string{header, kappa}}
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

// weights formats the digits of the coefficients, followed by the certified digits in parentheses.
func weights(g grade) string {
	if math.IsNaN(g.certified) {
		return text(g.weights)
	}
	return text(g.weights) + " (" + text(g.certified) + ")"
}

// passes formats the number of passes over the rows, or "" if they were not counted.
func passes(g grade) string {
	if g.passes == 0 {
		return ""
	}
	return strconv.Itoa(g.passes)
}

// least formats the digits of the worst coefficient.
func least(g grade) string { return text(g.least) }

// describe returns a table that describes the problems.
func describe(problems []*problem) table {
	t := table{
		caption: "The graded problems, by number:",
		rows:    [][]string{{"", "rows × features", "", "γ", "condition number of AᵀA + γI"}},
	}
	for _, p := range problems {
		size := fmt.Sprintf("%d × %d", len(p.x), len(p.x[0]))
		t.rows = append(t.rows, []string{p.name, size, p.about, power(p.gamma), power(p.kappaOfH)})
	}
	return t
}

// power formats x with two digits: 3.2e5.
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
