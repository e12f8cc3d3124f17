package dataset_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

func polynomial(t *testing.T, src dataset.Source, degree int) dataset.Source {
	t.Helper()
	s, err := dataset.Polynomial{Degree: degree}.Apply(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPolynomialOrder: the columns of scikit-learn 1.2's
// PolynomialFeatures(degree, include_bias=False).get_feature_names_out() for three
// inputs, as products of primes, which tell every monomial apart.
func TestPolynomialOrder(t *testing.T) {
	want := []float64{
		2, 3, 5, // a b c
		4, 6, 10, 9, 15, 25, // a² ab ac b² bc c²
		8, 12, 20, 18, 30, 50, 27, 45, 75, 125, // a³ a²b a²c ab² abc ac² b³ b²c bc² c³
		16, 24, 40, 36, 60, 100, 54, 90, 150, 250, 81, 135, 225, 375, 625,
	}
	for degree, columns := range map[int]int{1: 3, 2: 9, 3: 19, 4: 34} {
		src := polynomial(t, dense(t, []float64{2, 3, 5}, []float64{1, 1, 1}), degree)
		if _, d, _ := src.Dims(); d != columns {
			t.Errorf("degree %d: %d columns, want %d", degree, d, columns)
		}
		got := mustRead(t, src)
		for j := range columns {
			if got.x[0][j] != want[j] || got.x[1][j] != 1 {
				t.Errorf("degree %d, column %d: %v and %v, want %v and 1", degree, j, got.x[0][j], got.x[1][j], want[j])
			}
		}
	}
}

// TestPolynomialNames: the monomial that each name says has the value that stands in
// its place.
func TestPolynomialNames(t *testing.T) {
	value := map[string]float64{"x1": 2, "latitude": 3, "c": 5}
	for degree := 1; degree <= 5; degree++ {
		names := dataset.Polynomial{Degree: degree}.Names([]string{"x1", "latitude", "c"})
		got := mustRead(t, polynomial(t, dense(t, []float64{2, 3, 5}), degree))
		if len(names) != len(got.x[0]) {
			t.Fatalf("degree %d: %d names for %d columns", degree, len(names), len(got.x[0]))
		}
		for j, name := range names {
			product := 1.0
			for _, factor := range strings.Split(name, "*") {
				of, power, raised := strings.Cut(factor, "^")
				k := 1
				if raised {
					k, _ = strconv.Atoi(power)
				}
				product *= math.Pow(value[of], float64(k))
			}
			if product != got.x[0][j] {
				t.Errorf("degree %d: %s is %v, column %d %v", degree, name, product, j+1, got.x[0][j])
			}
		}
	}
	if got := (dataset.Polynomial{Degree: 2}).Names([]string{"a", "b"}); !slices.Equal(got, []string{"a", "b", "a^2", "a*b", "b^2"}) {
		t.Error(got)
	}
}

// TestPolynomialOfSparse: as of the same rows dense, targets too, over the ends of
// blocks.
func TestPolynomialOfSparse(t *testing.T) {
	rows := make([][]float64, 3000)
	for i := range rows {
		rows[i] = make([]float64, 4)
		if i%5 != 0 {
			rows[i][i%4], rows[i][i*7%4] = float64(i), 0.5
		}
	}
	for degree := 1; degree <= 3; degree++ {
		want := mustRead(t, polynomial(t, dense(t, rows...), degree))
		got := mustRead(t, polynomial(t, sparse(t, rows...), degree))
		if len(got.x) != len(rows) || len(want.x) != len(rows) {
			t.Fatalf("%d and %d rows, want %d", len(got.x), len(want.x), len(rows))
		}
		for i := range rows {
			for j, v := range want.x[i] {
				if got.x[i][j] != v {
					t.Fatalf("degree %d, row %d, column %d: %v, dense %v", degree, i, j, got.x[i][j], v)
				}
			}
		}
	}
}

// TestPolynomialErrors: what cannot be is refused, an overflow named.
func TestPolynomialErrors(t *testing.T) {
	src := dense(t, []float64{1, 1e200})
	for _, degree := range []int{-1, 0, math.MaxInt32} {
		if _, err := (dataset.Polynomial{Degree: degree}).Apply(src, nil); err == nil {
			t.Errorf("degree %d is accepted", degree)
		}
	}
	var e *dataset.InputError
	if _, err := read(t, polynomial(t, src, 2)); !errors.As(err, &e) || !e.NonFinite || e.Line != 1 || e.Column != 5 {
		t.Errorf("the square of 1e200: %v", err)
	}
}
