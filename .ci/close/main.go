// Command close compares files that fdridge fit --coef wrote with the first of them:
//
//	close TOL A.npy B.npy...
//
// It fails unless ‖b − a‖ ≤ TOL·‖a‖ for the row of each γ and target, intercept included.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "close:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: close TOL A.npy B.npy")
	}
	tol, err := strconv.ParseFloat(args[0], 64)
	if err != nil {
		return err
	}
	a, err := read(args[1])
	if err != nil {
		return err
	}
	for _, name := range args[2:] {
		b, err := read(name)
		if err != nil {
			return err
		}
		rows, cols := a.Dims()
		if r, c := b.Dims(); r != rows || c != cols {
			return fmt.Errorf("%s is %d×%d, %s is %d×%d", args[1], rows, cols, name, r, c)
		}
		var worst float64
		for i := range rows {
			distance := floats.Distance(b.RawRowView(i), a.RawRowView(i), 2) / floats.Norm(a.RawRowView(i), 2)
			if !(distance <= tol) {
				return fmt.Errorf("row %d of %s differs from that of %s by %.3g, relative; at most %g are allowed", i, name, args[1], distance, tol)
			}
			worst = max(worst, distance)
		}
		fmt.Printf("%s: within %.3g of %s\n", name, worst, args[1])
	}
	return nil
}

func read(name string) (*mat.Dense, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var x mat.Dense
	if err := npyio.Read(f, &x); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &x, nil
}
