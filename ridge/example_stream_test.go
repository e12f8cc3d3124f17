package ridge_test

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge"
)

// learn takes rows "x₁ x₂ y" as they come, forgets old ones, and answers whenever a
// line says "fit": what scikit-learn's partial_fit is used for, with a certificate.
func learn(in io.Reader, sum *ridge.Summary) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 1 && fields[0] == "fit" {
			f, err := sum.Fit(1e-6)
			if err != nil {
				return err
			}
			fmt.Printf(
				"after %d rows: y = %.1f + %.1f·x₁ + %.1f·x₂\n",
				sum.Rows(),
				f.Targets[0].Intercept,
				f.Targets[0].Coef[0],
				f.Targets[0].Coef[1],
			)
			continue
		}
		row := make([]float64, len(fields))
		for i, s := range fields {
			var err error
			row[i], err = strconv.ParseFloat(s, 64)
			if err != nil {
				return err
			}
		}
		if len(row) != 3 {
			return fmt.Errorf("%q: want x₁ x₂ y", lines.Text())
		}
		if err := sum.Decay(0.5); err != nil { // every row halves the weights of earlier rows
			return err
		}
		if err := sum.Append(mat.NewDense(1, 2, row[:2]), mat.NewDense(1, 1, row[2:]), nil); err != nil {
			return err
		}
	}
	return lines.Err()
}

// A stream on standard input (here a string) whose law changes on the way: the fit
// follows. A program would pass os.Stdin.
func ExampleSummary_Decay() {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	var in strings.Builder
	for i := range 60 {
		x1, x2 := float64(i%5), float64(i%7)
		fmt.Fprintln(&in, x1, x2, 1+2*x1-x2)
	}
	fmt.Fprintln(&in, "fit")
	for i := range 60 {
		x1, x2 := float64(i%5), float64(i%7)
		fmt.Fprintln(&in, x1, x2, 4-x1+3*x2)
	}
	fmt.Fprintln(&in, "fit")
	if err := learn(strings.NewReader(in.String()), sum); err != nil {
		log.Fatal(err)
	}
	// Output:
	// after 60 rows: y = 1.0 + 2.0·x₁ + -1.0·x₂
	// after 120 rows: y = 4.0 + -1.0·x₁ + 3.0·x₂
}
