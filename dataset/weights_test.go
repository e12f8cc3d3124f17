package dataset_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// weighted is x with the weights w.
func weighted(t *testing.T, x dataset.Source, w ...float64) dataset.Source {
	t.Helper()
	column, err := dataset.FromDense(len(w), 1, 0, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := dataset.Weigh(x, column)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// weights reads the weights of all rows; unweighted rows count once.
func weights(t *testing.T, src dataset.Source) []float64 {
	t.Helper()
	var out []float64
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if b.W != nil && len(b.W) != b.N {
			t.Fatalf("%d weights of %d rows", len(b.W), b.N)
		}
		for i := range b.N {
			if b.W == nil {
				out = append(out, 1)
			} else {
				out = append(out, b.W[i])
			}
		}
	}
	return out
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= 1e-14*(1+math.Abs(want[i]))) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// TestWeightsPass: every transform hands the weights on.
func TestWeightsPass(t *testing.T) {
	ctx := context.Background()
	plain, err := dataset.FromDense(3, 2, 1, []float64{1, 5, 2, 7, 4, 6}, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	src := weighted(t, plain, 2, 0, 0.5)
	want := []float64{2, 0, 0.5}
	same(t, "Weigh", weights(t, src), want)
	joined, err := dataset.Concat(plain, src)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Concat", weights(t, joined), []float64{1, 1, 1, 2, 0, 0.5})
	cut, err := dataset.Rows(joined, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Rows", weights(t, cut), []float64{1, 2, 0})
	features, err := dataset.Fourier{Components: 3, Gamma: 1}.Apply(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Fourier", weights(t, features), want)
	scaled, _, err := dataset.Standardize(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Standardize", weights(t, scaled), want)
	again, err := dataset.Zip(src, plain)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Zip", weights(t, again), want)
}

// TestWeightedConstant: a column that all sparse rows have stored is constant whatever
// their weights add up to.
func TestWeightedConstant(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 2 + rng.IntN(20)
		rows, w := make([][]float64, n), make([]float64, n)
		for i := range rows {
			rows[i], w[i] = []float64{7}, rng.Float64()
		}
		_, s, err := dataset.Standardize(context.Background(), weighted(t, sparse(t, rows...), w...))
		if err != nil || s.Scale[0] != 1 {
			t.Fatalf("weights %v: scale %v, %v", w, s, err)
		}
	}
}

// TestWeightedStandardize: a row of weight k is the row k times, sparse or dense.
func TestWeightedStandardize(t *testing.T) {
	ctx := context.Background()
	rows := [][]float64{{1, 0, 5}, {2, 3, 0}, {0, 0, 9}, {4, 1, 1}}
	w := []float64{2, 0, 3, 1}
	var repeated [][]float64
	for i, k := range w {
		for range int(k) {
			repeated = append(repeated, rows[i])
		}
	}
	for _, source := range []func(*testing.T, ...[]float64) dataset.Source{dense, sparse} {
		_, got, err := dataset.Standardize(ctx, weighted(t, source(t, rows...), w...))
		if err != nil {
			t.Fatal(err)
		}
		_, want, err := dataset.Standardize(ctx, source(t, repeated...))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "means", got.Mean, want.Mean)
		same(t, "scales", got.Scale, want.Scale)
	}
	none := weighted(t, sparse(t, rows...), 0, 0, 0, 0)
	if _, _, err := dataset.Standardize(ctx, none); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("no weight at all: %v", err)
	}
}

// TestTargetAsWeight: the last target becomes the weights.
func TestTargetAsWeight(t *testing.T) {
	plain, err := dataset.FromDense(3, 1, 2, []float64{1, 2, 3}, []float64{7, 0.5, 8, 0, 9, 2})
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.TargetAsWeight(plain)
	if err != nil {
		t.Fatal(err)
	}
	if n, d, k := src.Dims(); n != 3 || d != 1 || k != 1 {
		t.Errorf("%d rows, %d features, %d targets", n, d, k)
	}
	same(t, "weights", weights(t, src), []float64{0.5, 0, 2})
	var y []float64
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		y = append(y, b.Y...)
	}
	same(t, "targets", y, []float64{7, 8, 9})
}

func TestWeightsRefused(t *testing.T) {
	plain, err := dataset.FromDense(3, 1, 1, []float64{1, 2, 3}, []float64{7, -0.5, 8})
	if err != nil {
		t.Fatal(err)
	}
	column, err := dataset.FromDense(3, 1, 0, []float64{1, 2, -3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	negative := func(what string, src dataset.Source, err error, row int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range src.Blocks(context.Background()) {
			err = e
		}
		var input *dataset.InputError
		if !errors.As(err, &input) || input.Line != row || input.File != "weights" {
			t.Errorf("%s: a negative weight in row %d: %v", what, row, err)
		}
	}
	src, err := dataset.Weigh(plain, column)
	negative("Weigh", src, err, 3)
	src, err = dataset.TargetAsWeight(plain)
	negative("TargetAsWeight", src, err, 2)

	if _, err := dataset.TargetAsWeight(column); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("no targets: %v", err)
	}
	two, err := dataset.FromDense(3, 2, 0, make([]float64, 6), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Weigh(plain, two); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("two columns: %v", err)
	}
	if _, err := dataset.Weigh(plain, weighted(t, two, 1, 2, 3)); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("two columns: %v", err)
	}
	short, err := dataset.FromDense(2, 1, 0, make([]float64, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Weigh(plain, short); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("two weights of three rows: %v", err)
	}
}
