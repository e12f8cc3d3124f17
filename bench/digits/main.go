// Command digits counts how many decimal digits numpy, scikit-learn and fdridge get right, and how many digits
// fdridge certifies:
//
//	go run ./bench/digits [-into bench/digits/RESULTS.md]
//
// The problems are the linear problems of NIST's Statistical Reference Datasets (γ = 0) and ten ridge regressions from
// a fixed seed. Answers are compared with the exact solution for the float64 data, computed with 512 bits. Digits are
// −log₁₀ of ‖x̂ − x*‖/‖x*‖ for the coefficients x̂ of an answer and the exact ones x*. For NIST's
// problems the largest relative error of a coefficient or intercept is also given. A false certificate ends the program
// with an error.
//
// The peers need a python3 with numpy, scipy and scikit-learn; otherwise their rows are "-". -into writes the tables
// into a page, between the lines "<!-- digits -->" and "<!-- end of digits -->".
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/nist"
)

func main() {
	log.SetFlags(0)
	into := flag.String("into", "", "write the main tables into this page, between its two marks")
	flag.Parse()
	if err := run(os.Stdout, *into); err != nil {
		log.Fatalf("digits: %v", err)
	}
}

// run prints the tables to w. If into is not empty, run writes the tables into the page with this file name instead.
func run(w io.Writer, into string) error {
	dir, err := os.MkdirTemp("", "digits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rivals, versions, err := peers(dir)
	switch {
	case err != nil && into != "":
		return fmt.Errorf("%s is unchanged, because Python's solvers are missing: %w", into, err)
	case err != nil:
		log.Printf("digits: without Python's solvers: %v", err)
		rivals, versions = absent(), "no Python"
	}
	be, err := engine.Default()
	if err != nil {
		return err
	}
	head := fmt.Sprintf("fdridge on %s; %s.", be.Name(), versions)
	tables, err := compare(append(rivals, ours()...))
	if err != nil {
		return err
	}
	if into == "" {
		return write(w, head, tables)
	}
	var b strings.Builder
	page := slices.DeleteFunc(tables, func(t table) bool { return t.detail })
	if err := write(&b, head, page); err != nil {
		return err
	}
	return insert(into, b.String())
}

// compare solves all problems by the given solvers. NIST's problems are only solved by solvers for γ = 0.
func compare(solvers []solver) ([]table, error) {
	var sets, ten []*problem
	for _, name := range nist.Names {
		p, err := nistProblem(name)
		if err != nil {
			return nil, err
		}
		sets = append(sets, p)
	}
	for i := range recipes {
		p, err := gradedProblem(i)
		if err != nil {
			return nil, err
		}
		ten = append(ten, p)
	}
	leastSquares := slices.DeleteFunc(slices.Clone(solvers), func(s solver) bool { return s.penalised })
	ofNIST, err := hold(sets, append([]solver{nistItself()}, leastSquares...))
	if err != nil {
		return nil, err
	}
	ofTen, err := hold(ten, solvers)
	if err != nil {
		return nil, err
	}
	worst := ofNIST.table("NIST's problems, digits of the worst coefficient or intercept:", least)
	reads := ofTen.table("The graded problems, reads of the rows by fdridge:", passes)
	worst.detail, reads.detail = true, true
	return []table{
		ofNIST.table("NIST's problems, digits of the coefficients together (certified in parentheses):", weights),
		worst,
		describe(ten),
		ofTen.table("The graded problems, digits of the coefficients together (certified in parentheses):", weights),
		reads,
	}, nil
}

// write writes the tables in Markdown.
func write(w io.Writer, head string, tables []table) error {
	text := head + "\n"
	for _, t := range tables {
		text += t.markdown()
	}
	_, err := io.WriteString(w, text)
	return err
}

// insert replaces the text between the two marks of a page.
func insert(page, text string) error {
	const begin, end = "<!-- digits -->\n", "<!-- end of digits -->\n"
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s lacks the lines %q and %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644)
}
