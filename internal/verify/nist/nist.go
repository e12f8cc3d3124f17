// Package nist contains the linear regression problems of the Statistical Reference Datasets (NIST StRD,
// https://www.itl.nist.gov/div898/strd/, public domain).
package nist

import (
	"embed"
	"fmt"
	"math"
	"strconv"
	"strings"
)

//go:embed *.dat
var files embed.FS

// Names lists the names of the problems in the order of NIST, which begins with the easiest.
var Names = []string{
	"Norris",
	"Pontius",
	"NoInt1",
	"NoInt2",
	"Filip",
	"Longley",
	"Wampler1",
	"Wampler2",
	"Wampler3",
	"Wampler4",
	"Wampler5",
}

// A Set is a regression problem. The fit of Y is a linear combination of the columns of X. The solution certified
// by NIST is for the decimal numbers in the file, which float64 may have to round.
type Set struct {
	X, Y      [][]float64 // n×d and n×1, rounded to float64
	Intercept bool
	Certified []float64 // coefficients B0, B1, …; the intercept, if any, is first
	RSS       float64   // residual sum of squares
}

// Read returns the problem with the given name. If the problem is to fit a polynomial, X has a column for each
// power of the variable. The powers are rounded to float64.
func Read(name string) (*Set, error) {
	text, err := files.ReadFile(name + ".dat")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	set := new(Set)
	for _, part := range []struct {
		title string
		take  func([]string) error
	}{{"Certified", set.values}, {"Data", set.rows}} {
		section, err := find(lines, part.title)
		if err == nil {
			err = part.take(section)
		}
		if err != nil {
			return nil, fmt.Errorf("nist: %s: %w", name, err)
		}
	}
	return set, nil
}

// find returns the lines of the section called title. The first lines of the file tell the place of each section,
// for example "Data (lines 31 to 55)".
func find(lines []string, title string) ([]string, error) {
	for _, line := range lines[:min(10, len(lines))] {
		before, numbers, found := strings.Cut(line, "(lines")
		if !found || !strings.Contains(before, title) {
			continue
		}
		var first, last int
		if _, err := fmt.Sscanf(numbers, "%d to %d)", &first, &last); err != nil {
			return nil, fmt.Errorf("section %q: %w", title, err)
		}
		if first < 1 || last < first || last > len(lines) {
			return nil, fmt.Errorf("section %q: lines %d to %d of %d", title, first, last, len(lines))
		}
		return lines[first-1 : last], nil
	}
	return nil, fmt.Errorf("there is no section %q", title)
}

// values parses the certified coefficients and the certified residual sum of squares.
func (s *Set) values(lines []string) error {
	for _, line := range lines {
		w := strings.Fields(line)
		switch {
		case len(w) >= 2 && w[0][0] == 'B':
			v, err := strconv.ParseFloat(w[1], 64)
			if err != nil {
				return err
			}
			s.Intercept = s.Intercept || w[0] == "B0"
			s.Certified = append(s.Certified, v)
		case len(w) == 4 && w[0] == "Residual":
			v, err := strconv.ParseFloat(w[2], 64)
			if err != nil {
				return err
			}
			s.RSS = v
		}
	}
	if len(s.Certified) == 0 || s.Intercept && len(s.Certified) == 1 {
		return fmt.Errorf("there are %d parameters", len(s.Certified))
	}
	return nil
}

// rows parses the observations; each starts with y.
func (s *Set) rows(lines []string) error {
	d := len(s.Certified)
	if s.Intercept {
		d--
	}
	for _, line := range lines {
		var row []float64
		for _, w := range strings.Fields(line) {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				return err
			}
			row = append(row, v)
		}
		switch len(row) {
		case d + 1:
		case 2:
			for j := 2; j <= d; j++ {
				row = append(row, math.Pow(row[1], float64(j)))
			}
		default:
			return fmt.Errorf("a line has %d numbers, but there are %d predictors", len(row), d)
		}
		s.Y, s.X = append(s.Y, row[:1]), append(s.X, row[1:])
	}
	return nil
}
