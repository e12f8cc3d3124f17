package prepare_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// gappy is a source of n rows of d columns, with NaN where values are missing, and of a target.
func gappy(t *testing.T, d int, x, y []float64) dataset.Source {
	t.Helper()
	src, err := dataset.FromTable(len(x)/d, d, len(y)*d/max(len(x), 1), x, y)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// encoded is all rows of an encoded source, dense.
func encoded(t *testing.T, src dataset.Source) (x, y []float64) {
	t.Helper()
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		_, d, _ := src.Dims()
		if int64(len(x)) != b.First*int64(d) {
			t.Fatalf("a block begins with row %d behind %d", b.First, len(x)/d)
		}
		for i := range b.N {
			row := make([]float64, d)
			if b.Sparse == nil {
				copy(row, b.X[i*d:])
			} else {
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					row[j] = val[k]
				}
			}
			x = append(x, row...)
		}
		y = append(y, b.Y...)
	}
	return x, y
}

// TestEncoding compares the levels, the means and the dropped rows with a plain loop over the rows. Results are dense
// for few levels and sparse for a thousand.
func TestEncoding(t *testing.T) {
	nan := math.NaN()
	for _, levels := range []int{2, 5, 1000} {
		for _, missing := range []prepare.Missing{prepare.RefuseMissing, prepare.MissingMean, prepare.MissingDrop} {
			rng := rand.New(rand.NewPCG(1, uint64(levels)))
			const n, d = 1500, 3 // a number, a category, a number
			var x, y []float64
			for i := range n {
				row := []float64{rng.NormFloat64(), float64(rng.IntN(levels) - 1), float64(i)}
				if i < levels {
					row[1] = float64(i - 1)
				}
				for j := range row {
					if missing != prepare.RefuseMissing && rng.IntN(10) == 0 {
						row[j] = nan
					}
				}
				x, y = append(x, row...), append(y, float64(i))
			}
			e, err := prepare.NewEncoding(d, []string{"a", "b", "c"}, missing, []int{1})
			if err != nil {
				t.Fatal(err)
			}
			src := gappy(t, d, x, y)
			learnt, err := e.Learn(context.Background(), src, prepare.LearnOptions{})
			if err != nil {
				t.Fatal(err)
			}
			// The second way: rows that stay, the levels that they have in order, means.
			var stay []int
			var sums, counts [d]float64
			seen := map[float64]bool{}
			gap := false
			for i := range n {
				row := x[i*d : (i+1)*d]
				if missing == prepare.MissingDrop && slices.ContainsFunc(row, math.IsNaN) {
					continue
				}
				stay = append(stay, i)
				for j, v := range row {
					if !math.IsNaN(v) {
						sums[j], counts[j] = sums[j]+v, counts[j]+1
					}
				}
				gap = gap || math.IsNaN(row[1])
				if !math.IsNaN(row[1]) {
					seen[row[1]] = true
				}
			}
			var values []float64
			for v := range seen {
				values = append(values, v)
			}
			slices.Sort(values)
			var want []string
			for _, v := range values {
				want = append(want, fmt.Sprint(v))
			}
			if gap {
				want = append(want, "")
			}
			if got := e.Categories[0].Levels; !slices.Equal(got, want) {
				t.Fatalf(
					"%d levels, %q: %d levels %.20q, want %d %.20q",
					levels,
					missing,
					len(got),
					got,
					len(want),
					want,
				)
			}
			if got := learnt.Dropped; got != int64(n-len(stay)) {
				t.Errorf("%q: %d rows left out of %d, want %d", missing, got, n, n-len(stay))
			}
			width := e.Width()
			if names := e.MadeNames(); len(names) != width || names[0] != "a" || names[1] != "b="+want[0] ||
				names[len(names)-1] != "c" {
				t.Errorf("names %.20q", names)
			}
			var tally prepare.Tally
			out, err := e.Apply(src, prepare.EncodeOptions{Tally: &tally})
			if err != nil {
				t.Fatal(err)
			}
			gotX, gotY := encoded(t, out)
			filled := int64(0)
			for r, i := range stay {
				row := make([]float64, width)
				for j, to := range []int{0, 1, width - 1} {
					v := x[i*d+j]
					switch {
					case j == 1 && math.IsNaN(v):
						row[width-2] = 1
					case j == 1:
						row[1+slices.Index(values, v)] = 1
					case math.IsNaN(v):
						row[to] = sums[j] / counts[j]
						filled++
					default:
						row[to] = v
					}
				}
				for j, v := range row {
					if got := gotX[r*width+j]; !(math.Abs(got-v) <= 1e-12*math.Abs(v)) {
						t.Fatalf("%d levels, %q: row %d, column %d is %v, want %v", levels, missing, r, j, got, v)
					}
				}
				if gotY[r] != y[i] {
					t.Fatalf("target %d is %v, want %v", r, gotY[r], y[i])
				}
			}
			if len(gotY) != len(stay) || tally.Filled.Load() != filled || tally.Dropped.Load() != int64(n-len(stay)) {
				t.Errorf(
					"%q: %d rows, %d filled, %d left out; want %d, %d, %d",
					missing,
					len(gotY),
					tally.Filled.Load(),
					tally.Dropped.Load(),
					len(stay),
					filled,
					n-len(stay),
				)
			}
			again(t, e, src, out)
		}
	}
}

// again encodes by what JSON keeps of an encoding, and reads from a row amid them.
func again(t *testing.T, e *prepare.Encoding, src, whole dataset.Source) {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var read prepare.Encoding
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	out, err := read.Apply(src, prepare.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := encoded(t, whole)
	if got, _ := encoded(t, out); !slices.Equal(got, want) {
		t.Error("an encoding that was read encodes otherwise")
	}
	for b, err := range dataset.From(context.Background(), out, 3001) {
		if err != nil {
			t.Fatal(err)
		}
		if b.First > 3001 || b.First+int64(b.N) <= 3001 {
			t.Errorf("from row 3001 a block of rows %d to %d comes first", b.First, b.First+int64(b.N))
		}
		break
	}
}

// TestEncodingFaults: what cannot be learnt or encoded is refused, in words that say where.
func TestEncodingFaults(t *testing.T) {
	nan := math.NaN()
	learn := func(d int, missing prepare.Missing, categorical []int, x []float64) (*prepare.Encoding, error) {
		e, err := prepare.NewEncoding(d, nil, missing, categorical)
		if err != nil {
			return nil, err
		}
		_, err = e.Learn(context.Background(), gappy(t, d, x, nil), prepare.LearnOptions{})
		return e, err
	}
	for _, c := range []struct {
		name        string
		missing     prepare.Missing
		categorical []int
		x           []float64
		want        string
	}{
		{"a column without a value", prepare.MissingMean, nil, []float64{1, nan, 2, nan}, "column x2 has no value"},
		{"no row", prepare.MissingDrop, nil, nil, "there are no rows to learn an encoding from"},
		{"no whole row", prepare.MissingDrop, nil, []float64{1, nan, nan, 2}, "all 2 rows have missing values"},
		{"a place that is none", prepare.RefuseMissing, []int{2}, []float64{1, 2}, "categorical column 3 of 2"},
		{"a place twice", prepare.RefuseMissing, []int{1, 1}, []float64{1, 2}, "categorical column 2"},
		{"a policy that is none", "median", nil, []float64{1, 2}, "must be mean or drop"},
	} {
		if _, err := learn(2, c.missing, c.categorical, c.x); err == nil || !strings.Contains(err.Error(), c.want) ||
			!errors.Is(err, dataset.ErrInput) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	e, err := learn(2, prepare.RefuseMissing, []int{0}, []float64{1, 2, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	rows := gappy(t, 2, []float64{5, 0, 1, 0, 3, 7}, nil)
	out, err := e.Apply(rows, prepare.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range out.Blocks(context.Background()) {
		if !errors.Is(err, dataset.ErrUnknownLevel) ||
			!strings.Contains(err.Error(), "row 3: column x1 has the level 3, which is not among the 2 levels") {
			t.Errorf("an unknown level: %v", err)
		}
	}
	var tally prepare.Tally
	out, err = e.Apply(rows, prepare.EncodeOptions{IgnoreUnknown: true, Tally: &tally})
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := encoded(t, out); !slices.Equal(x, []float64{0, 1, 0, 1, 0, 0, 0, 0, 7}) || tally.Unknown.Load() != 1 {
		t.Errorf("unknown levels ignored: %v, %d counted", x, tally.Unknown.Load())
	}
	encoded(t, out)
	if tally.Unknown.Load() != 1 || tally.UnknownLevels() != 1 { // the first pass is counted
		t.Errorf("in two passes %d unknown values of %d levels", tally.Unknown.Load(), tally.UnknownLevels())
	}
	out, err = e.Apply(
		gappy(t, 2, []float64{3, 0, 4, 0, 3, 7, 1, 1, nan, 2, 4, 2, nan, 1}, nil),
		prepare.EncodeOptions{IgnoreUnknown: true, Tally: &tally},
	)
	if err != nil {
		t.Fatal(err)
	}
	encoded(t, out)
	if tally.Unknown.Load() != 7 || tally.UnknownLevels() != 3 {
		t.Errorf("with a missing one %d unknown values of %d levels", tally.Unknown.Load(), tally.UnknownLevels())
	}
	for _, bad := range []prepare.Encoding{
		{Inputs: 0}, {Inputs: 2, Names: []string{"a"}}, {Inputs: 2, Missing: "mode"},
		{Inputs: 2, Missing: prepare.MissingMean, Means: []float64{1}},
		{Inputs: 2, Missing: prepare.MissingMean, Means: []float64{1, nan}},
		{Inputs: 2, Categories: []prepare.Category{{Column: 0}}},
		{Inputs: 2, Categories: []prepare.Category{{Column: 0, Levels: []string{"a", "a"}}}},
		{Inputs: 2, Categories: []prepare.Category{{Column: -1, Levels: []string{"a"}}}},
	} {
		if bad.Valid() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestDoubtful: a category with more than a thousand levels is doubtful if it has fewer than two rows for each level. A
// thousand levels are never doubtful.
func TestDoubtful(t *testing.T) {
	for _, c := range []struct {
		levels int
		rows   int64
		want   bool
	}{{1000, 1000, false}, {1001, 1001, true}, {1001, 2001, true}, {1001, 2002, false}, {9000, 12000, true}} {
		levels := make([]string, c.levels)
		e := prepare.Encoding{
			Inputs:     3,
			Categories: []prepare.Category{{Column: 0, Levels: levels[:2]}, {Column: 2, Levels: levels}},
		}
		if got := slices.Equal(e.Doubtful(&prepare.Learnt{Rows: c.rows + 50, Dropped: 50}), []int{1}); got != c.want {
			t.Errorf("%d levels of %d rows: %v", c.levels, c.rows, got)
		}
	}
}

// broadcast is a link of shares within a process.
type broadcast struct {
	rank    int
	message []chan []byte // by receiver
	size    int
}

func (l *broadcast) Broadcast(_ context.Context, root int, b []byte) ([]byte, error) {
	if l.rank != root {
		return <-l.message[l.rank], nil
	}
	for i := range l.size {
		if i != root {
			l.message[i] <- b
		}
	}
	return b, nil
}

// TestEncodingShares: shares learn what one process learns of all rows, and a constant column has its
// constant.
func TestEncodingShares(t *testing.T) {
	const n, d, size = 301, 3, 3
	rng := rand.New(rand.NewPCG(2, 3))
	var x []float64
	for i := range n {
		row := []float64{rng.NormFloat64(), float64(rng.IntN(5)), 0.1}
		if i%7 == 0 {
			row[i%d] = math.NaN()
		}
		x = append(x, row...)
	}
	learn := func(x []float64, o prepare.LearnOptions) (*prepare.Encoding, *prepare.Learnt) {
		e, err := prepare.NewEncoding(d, nil, prepare.MissingMean, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		learnt, err := e.Learn(context.Background(), gappy(t, d, x, nil), o)
		if err != nil {
			t.Fatal(err)
		}
		return e, learnt
	}
	one, counted := learn(x, prepare.LearnOptions{})
	if one.Means[2] != 0.1 {
		t.Errorf("the mean of a column of 0.1 is %v", one.Means[2])
	}
	channels := make([]chan []byte, size)
	for i := range channels {
		channels[i] = make(chan []byte, 1)
	}
	all := make([]*prepare.Encoding, size)
	var wait sync.WaitGroup
	for rank := range size {
		wait.Go(func() {
			lo, hi := n*rank/size, n*(rank+1)/size
			e, learnt := learn(
				x[lo*d:hi*d],
				prepare.LearnOptions{
					Share: dataset.Share{Rank: rank, Size: size},
					Link:  &broadcast{rank, channels, size},
				},
			)
			all[rank] = e
			if learnt.Rows != counted.Rows || !slices.Equal(learnt.Missing, counted.Missing) {
				t.Errorf("share %d counts %+v, one process %+v", rank, learnt, counted)
			}
		})
	}
	wait.Wait()
	for rank, e := range all {
		if !slices.Equal(e.Means, all[0].Means) || !slices.Equal(e.Categories[0].Levels, one.Categories[0].Levels) ||
			e.Means[2] != 0.1 ||
			!(math.Abs(e.Means[0]-one.Means[0]) <= 1e-14) {
			t.Errorf(
				"share %d: means %v, levels %q; one process %v, %q",
				rank,
				e.Means,
				e.Categories[0].Levels,
				one.Means,
				one.Categories[0].Levels,
			)
		}
	}
}

// TestKeepIncomplete: a row that is not predicted for, because a value is missing, needs no level that
// is known, nor is one counted; a whole row does.
func TestKeepIncomplete(t *testing.T) {
	nan := math.NaN()
	e, err := prepare.NewEncoding(2, nil, prepare.MissingDrop, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Learn(
		t.Context(), gappy(t, 2, []float64{1, 2, 3, nan, 5, 6}, nil), prepare.LearnOptions{},
	); err != nil {
		t.Fatal(err)
	}
	var tally prepare.Tally
	var kept []int64
	o := prepare.EncodeOptions{
		KeepIncomplete: true,
		Incomplete:     func(row int64) { kept = append(kept, row) },
		Tally:          &tally,
	}
	out, err := e.Apply(gappy(t, 2, []float64{1, 2, 3, nan, nan, 6}, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range out.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(kept, []int64{1, 2}) || tally.Unknown.Load() != 0 {
		t.Errorf("rows %v have a missing value, %d levels are unknown", kept, tally.Unknown.Load())
	}
	out, err = e.Apply(gappy(t, 2, []float64{3, 4}, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range out.Blocks(t.Context()) {
		if !errors.Is(err, dataset.ErrUnknownLevel) {
			t.Errorf("an unknown level of a whole row: %v", err)
		}
	}
}
