package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
)

// Rows in memory, with weights, as blocks of a pass; then the same rows scaled to mean 0
// and standard deviation 1.
func Example() {
	ctx := context.Background()
	x, err := dataset.FromDense(3, 2, 1, []float64{1, 10, 2, 20, 3, 60}, []float64{5, 6, 7})
	if err != nil {
		log.Fatal(err)
	}
	w, err := dataset.FromDense(3, 1, 0, []float64{1, 2, 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	weighted, err := dataset.Weigh(x, w)
	if err != nil {
		log.Fatal(err)
	}
	scaled, scaling, err := dataset.Standardize(ctx, weighted)
	if err != nil {
		log.Fatal(err)
	}
	show := func(b dataset.Block) {
		for i := range b.N {
			fmt.Printf("%.3f -> %v, weight %v\n", b.X[2*i:2*i+2], b.Y[i], b.Weight(i))
		}
	}
	for _, src := range []dataset.Source{weighted, scaled} {
		for b, err := range src.Blocks(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			show(b)
		}
	}
	fmt.Printf("means %.1f, standard deviations %.3f\n", scaling.Mean, scaling.Scale)
	// Output:
	// [1.000 10.000] -> 5, weight 1
	// [2.000 20.000] -> 6, weight 2
	// [3.000 60.000] -> 7, weight 1
	// [-1.414 -0.911] -> 5, weight 1
	// [0.000 -0.391] -> 6, weight 2
	// [1.414 1.692] -> 7, weight 1
	// means [2.0 27.5], standard deviations [0.707 19.203]
}

// squares are the rows i, i² -> i³ for i = 0 to 9, made as they are read.
type squares struct{ next int }

var (
	_ dataset.Skipper = (*squares)(nil)
	_ dataset.Witness = (*squares)(nil)
)

func (s *squares) Read(b *dataset.Buffer, rows int) error {
	if s.next == 10 {
		return io.EOF
	}
	for ; b.N < rows && s.next < 10; s.next++ {
		i := float64(s.next)
		b.X, b.Y = append(b.X, i, i*i), append(b.Y, i*i*i)
		b.EndRow()
	}
	return nil
}

// Skip makes squares a [dataset.Skipper], so that a pass may begin anywhere.
func (s *squares) Skip(rows int64) (bool, error) {
	s.next += int(rows)
	return true, nil
}

// Unchanged makes squares a [dataset.Witness], as readers of files are. Nothing can change
// these rows.
func (s *squares) Unchanged() error { return nil }

func (s *squares) Close() error { return nil }

// Whatever has a Reader for its rows is a Source: a pass asks for a new Reader.
func ExampleNewStream() {
	var src *dataset.Stream = dataset.NewStream(
		10, 2, 1, false, func() (dataset.Reader, error) { return new(squares), nil },
	)
	src.BlockRows = 4
	var seeker dataset.Seeker = src
	for b, err := range seeker.BlocksFrom(context.Background(), 5) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.First, b.X, b.Y)
	}
	// Output:
	// 4 [4 16 5 25 6 36 7 49] [64 125 216 343]
	// 8 [8 64 9 81] [512 729]
}

// Three workers take the rows of a source between them.
func ExamplePart() {
	src, err := dataset.FromDense(5, 1, 0, []float64{1, 2, 3, 4, 5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for rank := range 3 {
		part, err := dataset.Part(src, dataset.Share{Rank: rank, Size: 3})
		if err != nil {
			log.Fatal(err)
		}
		for b, err := range part.Blocks(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(rank, b.X)
		}
	}
	// Output:
	// 0 [1]
	// 1 [2 3]
	// 2 [4 5]
}

// Features are written as text, and computed block by block.
func ExampleParseFeatures() {
	src, err := dataset.FromDense(2, 2, 0, []float64{2, 3, 5, 7}, nil)
	if err != nil {
		log.Fatal(err)
	}
	var features dataset.Features
	for _, text := range []string{"poly:2", "rff:3,gamma=0.1,seed=7"} {
		features, err = dataset.ParseFeatures(text)
		if err != nil {
			log.Fatal(err)
		}
		made, err := features.Apply(src, nil)
		if err != nil {
			log.Fatal(err)
		}
		_, d, _ := made.Dims()
		fmt.Println(features, "makes", d, "features")
	}
	monomials, err := dataset.Polynomial{Degree: 2}.Apply(src, nil)
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range monomials.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(dataset.Polynomial{Degree: 2}.Names([]string{"a", "b"}), b.X)
	}
	fmt.Println(dataset.Fourier{Components: 3, Gamma: 0.1, Seed: 7} == features)
	// Output:
	// poly:2 makes 5 features
	// rff:3,gamma=0.1,seed=7 makes 3 features
	// [a b a^2 a*b b^2] [2 3 4 6 9 5 7 25 35 49]
	// true
}

// An InputError says where the data are wrong, a ChangedError that a file was written to
// between two passes.
func ExampleInputError() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "rows.csv")
	pass := func(src dataset.Source) {
		for _, err := range src.Blocks(context.Background()) {
			if wrong, ok := errors.AsType[*dataset.InputError](err); ok {
				fmt.Printf("line %d, byte %d: %s; %s\n", wrong.Line, wrong.Column, wrong.Msg, wrong.Hint)
			}
			if changed, ok := errors.AsType[*dataset.ChangedError](err); ok {
				var was, is dataset.Stamp = changed.Was, changed.Is
				fmt.Printf("%d bytes have become %d\n", was.Size, is.Size)
			}
		}
	}
	if err := os.WriteFile(name, []byte("1,2\n3,four\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	src, err := csv.Open(name, csv.Options{})
	if err != nil {
		log.Fatal(err)
	}
	pass(src)
	if err := os.WriteFile(name, []byte("1,2\n3,4\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	pass(src)
	// Output:
	// line 2, byte 3: column 2: "four" is not a number; encode the column as numbers, or leave it out
	// 11 bytes have become 8
}

// Rows of text are parsed once: the passes after the first read what it has written.
func ExampleCached() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	src, err := dataset.FromDense(3, 1, 1, []float64{1, 2, 3}, []float64{2, 4, 6})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := dataset.Cached(src, dataset.CacheOptions{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		for b, err := range rows.Blocks(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(b.N, b.X)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 [1 2 3]
	// 3 [1 2 3]
}

// A penalty p of a column divides the column by √p. The weights of a fit to these rows have to be divided by √p,
// too.
func ExamplePenalty() {
	src, err := dataset.FromDense(2, 2, 1, []float64{1, 2, 3, 4}, []float64{5, 6})
	if err != nil {
		log.Fatal(err)
	}
	scaling, err := dataset.Penalty([]float64{1, 16})
	if err != nil {
		log.Fatal(err)
	}
	src, err = scaling.Apply(src)
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X)
	}
	// Output:
	// [1 0.5 3 1]
}
