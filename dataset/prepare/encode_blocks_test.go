package prepare

import (
	"context"
	"github.com/fdridge/fdridge/dataset"
	"iter"
	"math"
	"slices"
	"testing"
)

// given is a source of these blocks of d columns and a target, as they are.
type given struct {
	d      int
	blocks []dataset.Block
}

func (s given) Dims() (n int64, d, t int) { return -1, s.d, 1 }

func (s given) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		first := int64(0)
		for _, b := range s.blocks {
			b.First = first
			first += int64(b.N)
			if !yield(b, nil) {
				return
			}
		}
	}
}

// all calls see for each block of a pass.
func all(t *testing.T, src dataset.Source, see func(b dataset.Block)) {
	t.Helper()
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		see(b)
	}
}

// TestDroppedRows: rows with a missing feature, target or weight are left out. The remaining rows are numbered without
// gaps. The rows left out are counted once, for any number of passes.
func TestDroppedRows(t *testing.T) {
	nan := math.NaN()
	src := given{1, []dataset.Block{
		{N: 3, X: []float64{1, nan, 2}, Y: []float64{1, 1, 1}},
		{N: 2, X: []float64{3, 4}, Y: []float64{1, 1}},
		{N: 2, X: []float64{nan, nan}, Y: []float64{1, 1}},
		{N: 3, X: []float64{5, 6, 7}, Y: []float64{1, nan, 1}},
		{N: 3, X: []float64{8, 9, 10}, Y: []float64{1, 1, 1}, W: []float64{1, 2, nan}},
		{N: 1, X: []float64{11}, Y: []float64{1}},
	}}
	e := &Encoding{Inputs: 1, Missing: MissingDrop}
	tally := new(Tally)
	encoded, err := e.Apply(src, EncodeOptions{Tally: tally})
	if err != nil {
		t.Fatal(err)
	}
	for pass := range 3 {
		var x []float64
		all(t, encoded, func(b dataset.Block) {
			if b.First != int64(len(x)) {
				t.Errorf("pass %d: a block begins with row %d, after %d rows", pass, b.First, len(x))
			}
			x = append(x, b.X...)
		})
		if want := []float64{1, 2, 3, 4, 5, 7, 8, 9, 11}; !slices.Equal(x, want) {
			t.Errorf("pass %d: the rows are %v, want %v", pass, x, want)
		}
		if n, _, _ := encoded.Dims(); n != int64(len(x)) {
			t.Errorf("pass %d: there are said to be %d rows", pass, n)
		}
		if got := tally.Dropped.Load(); got != 5 {
			t.Errorf("pass %d: %d rows were left out, want 5", pass, got)
		}
	}
}

// TestLevelsAcrossBlocks: texts that a lexicon learns between two blocks have their own levels.
func TestLevelsAcrossBlocks(t *testing.T) {
	lexicon := new(Lexicon)
	code := func(text string) float64 {
		c, ok := lexicon.CodeOf(text)
		if !ok {
			t.Fatal(text)
		}
		return c
	}
	e := &Encoding{Inputs: 2, Categories: []Category{{Column: 0, Levels: []string{"a", "b", "c"}}}}
	c := newEncoder(e, []*Lexicon{lexicon}, EncodeOptions{IgnoreUnknown: true, Tally: new(Tally)}, false)
	var out dataset.Buffer
	for _, texts := range [][]string{{"b"}, {"x", "a"}, {"c", "b", "a", "x"}} {
		var b dataset.Block
		for _, text := range texts {
			b.N, b.X, b.Y = b.N+1, append(b.X, code(text), 7), append(b.Y, 0)
		}
		out.Reset()
		if err := c.apply(b, &out); err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			want := []float64{0, 0, 0, 7}
			if k := slices.Index(e.Categories[0].Levels, text); k >= 0 {
				want[k] = 1
			}
			if got := out.X[4*i : 4*i+4]; !slices.Equal(got, want) {
				t.Errorf("%s becomes %v, want %v", text, got, want)
			}
		}
	}
	if n := c.o.Tally.Unknown.Load(); n != 2 || c.o.Tally.UnknownLevels() != 1 {
		t.Errorf("%d values of %d unknown levels", n, c.o.Tally.UnknownLevels())
	}
}

// TestEncodedSparse: encoded rows are sparse if there are at least sixteen encoded columns for each input column.
// Sparse rows have no zero entries, and their entries are at the columns of the dense rows.
func TestEncodedSparse(t *testing.T) {
	for _, levels := range []int{30, 31} { // of two columns become 31 and 32
		category := Category{Column: 1}
		for i := range levels {
			category.Levels = append(category.Levels, numberText(float64(i)))
		}
		e := &Encoding{Inputs: 2, Categories: []Category{category}}
		encoded, err := e.Apply(
			given{2, []dataset.Block{{N: 3, X: []float64{0, 3, 5, 29, 0, 0}, Y: make([]float64, 3)}}},
			EncodeOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, 3*(levels+1))
		want[1+3], want[levels+1], want[levels+1+1+29], want[2*(levels+1)+1] = 1, 5, 1, 1
		all(t, encoded, func(b dataset.Block) {
			got := b.X
			if sparse := b.Sparse != nil; sparse != (levels == 31) {
				t.Fatalf("%d levels: sparse %v", levels, sparse)
			}
			if s := b.Sparse; s != nil {
				got = make([]float64, len(want))
				if s.NNZ() != 4 {
					t.Errorf("%d entries, want 4", s.NNZ())
				}
				for i := range s.Rows {
					idx, val := s.Row(i)
					for k, j := range idx {
						got[i*s.Cols+int(j)] = val[k]
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d levels: %v, want %v", levels, got, want)
			}
		})
	}
}
