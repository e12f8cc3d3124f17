// Command digits counts how many decimal digits numpy, scikit-learn and fdridge get right,
// and how many fdridge certifies:
//
//	go run ./bench/digits [-markdown] [-into docs/accuracy.md]
//
// The problems are the linear ones of NIST's Statistical Reference Datasets (γ = 0) and ten
// ridge regressions made from a fixed seed. Every answer is compared with the exact solution
// for the data as they are in float64, from 512-bit arithmetic. Digits are −log₁₀ of
// ‖x̂ − x*‖/‖x*‖ over the weights; of NIST's also of the worst relative error of a coefficient,
// the intercept too. A certificate that does not hold ends the program with an error.
//
// The peers are run by python3, where it has numpy, scipy and scikit-learn; where it has
// not, their rows are "-". -into writes the tables into a page, between the lines
// "<!-- digits -->" and "<!-- end of digits -->".
package main

import (
	"bytes"
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
	markdown := flag.Bool("markdown", false, "print tables in Markdown")
	into := flag.String("into", "", "write them into this page, between its two marks")
	flag.Parse()
	if err := run(os.Stdout, *markdown, *into); err != nil {
		log.Fatalf("digits: %v", err)
	}
}

// run prints the tables to w, or writes them into a page.
func run(w io.Writer, markdown bool, into string) error {
	dir, err := os.MkdirTemp("", "digits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rivals, versions, err := peers(dir)
	switch {
	case err != nil && into != "":
		return fmt.Errorf("%s is left as it is without Python's solvers: %w", into, err)
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
		return write(w, head, tables, markdown)
	}
	var b bytes.Buffer
	if err := write(&b, head, tables, true); err != nil {
		return err
	}
	return insert(into, b.String())
}

// compare has all problems solved by these solvers, NIST's by those that take γ = 0.
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
	return []table{
		ofNIST.table("NIST's problems, digits of the weights together (certified in parentheses):", weights),
		ofNIST.table("NIST's problems, digits of the worst coefficient or intercept:", least),
		describe(ten),
		ofTen.table("The graded problems, digits of the weights together (certified in parentheses):", weights),
		ofTen.table("The graded problems, reads of the rows by fdridge:", passes),
	}, nil
}

func write(w io.Writer, head string, tables []table, markdown bool) error {
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	for _, t := range tables {
		form := t.text
		if markdown {
			form = t.markdown
		}
		if err := form(w); err != nil {
			return err
		}
	}
	return nil
}

// insert puts text between the two marks of a page, in place of what is there.
func insert(page, text string) error {
	const begin, end = "<!-- digits -->\n", "<!-- end of digits -->\n"
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644)
}
