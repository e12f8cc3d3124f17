package synthetic_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/synthetic"
	"github.com/fdridge/fdridge/engine"
)

func documents(t *testing.T, c synthetic.Text) *synthetic.Documents {
	t.Helper()
	d, err := c.Documents()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// written returns the rows from first on, as one matrix, and their targets.
func written(t *testing.T, src dataset.Source, first int64) (x engine.CSR, y []float64) {
	t.Helper()
	_, d, _ := src.Dims()
	x = engine.CSR{Cols: d, RowPtr: []int{0}}
	for b, err := range dataset.From(context.Background(), src, first) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			if b.First+int64(i) < first {
				continue
			}
			idx, val := b.Sparse.Row(i)
			x.ColIdx, x.Val = append(x.ColIdx, idx...), append(x.Val, val...)
			x.RowPtr, x.Rows = append(x.RowPtr, len(x.Val)), x.Rows+1
			y = append(y, b.Y[i])
		}
	}
	return x, y
}

// TestText: rows are valid and of length one, lengths have the mean and the spread of the
// law, and words are drawn as often as it says.
func TestText(t *testing.T) {
	const n, dim, words, topics = 4000, 20000, 80, 10
	x, y := written(t, documents(t, synthetic.Text{Rows: n, Dim: dim, Words: words, Topics: topics, Seed: 1}).Source(), 0)
	if _, err := dataset.FromCSR(&x, 1, y); err != nil {
		t.Fatal(err)
	}
	var logs, logs2 float64
	has := make([]float64, dim) // share of documents with the word
	for i := range n {
		idx, val := x.Row(i)
		sum := 0.0
		for k, v := range val {
			if !(v > 0) {
				t.Fatalf("row %d has the entry %v", i, v)
			}
			sum += v * v
			has[idx[k]] += 1. / n
		}
		if !(math.Abs(sum-1) <= 1e-13) {
			t.Fatalf("row %d has length² %v", i, sum)
		}
		l := math.Log(float64(len(idx)))
		logs, logs2 = logs+l/n, logs2+l*l/n
	}
	if mean := float64(x.NNZ()) / n; !(math.Abs(mean/words-1) <= 5*0.66/math.Sqrt(n)) {
		t.Errorf("%v words in a document, want %d", mean, words)
	}
	if sd := math.Sqrt(logs2 - logs*logs); !(math.Abs(sd-0.6) <= 0.03) {
		t.Errorf("standard deviation %v of the logarithm of lengths, want 0.6", sd)
	}
	// A decade of words, T at a time as topics share them, is drawn as often as the decades
	// around it: by Zipf's law each has the same number of draws, which are rarely repeated
	// where words are rare.
	decade := func(lo int) (sum float64) {
		for _, h := range has[lo : 10*lo] {
			sum += h
		}
		return sum
	}
	draws := decade(200) / math.Log((2000+2.7)/(200+2.7))
	for _, lo := range []int{500, 1000, 2000} {
		if got := decade(lo) / math.Log((float64(10*lo)+2.7)/(float64(lo)+2.7)); !(math.Abs(got/draws-1) <= 0.1) {
			t.Errorf("words %d to %d: %v draws for each unit of ln(rank), %v of words 200 to 2000", lo, 10*lo, got, draws)
		}
	}
	if !(has[0] > 0.5) || !(has[dim-1] < 0.01) {
		t.Errorf("%v of documents have the commonest word, %v the rarest", has[0], has[dim-1])
	}
}

// TestTopics: a document has more words of one topic than of any other.
func TestTopics(t *testing.T) {
	const topics = 5
	x, _ := written(t, documents(t, synthetic.Text{Rows: 300, Dim: 5000, Words: 200, Topics: topics, Seed: 2}).Source(), 0)
	seen := make([]int, topics)
	for i := range x.Rows {
		idx, _ := x.Row(i)
		of := make([]int, topics)
		for _, j := range idx {
			of[int(j)%topics]++
		}
		most := slices.Index(of, slices.Max(of))
		seen[most]++
		if share := float64(of[most]) / float64(len(idx)); len(idx) > 100 && !(share > 0.4) {
			t.Errorf("document %d: the words of its topic are %.2f of all", i, share)
		}
	}
	if slices.Min(seen) < 30 {
		t.Errorf("documents of each topic: %v", seen)
	}
}

// TestTextTargets: what is left of y after aᵀx₀ is noise of the standard deviation asked for.
func TestTextTargets(t *testing.T) {
	const n = 5000
	for _, noise := range []float64{0, 1e-6} {
		d := documents(t, synthetic.Text{Rows: n, Dim: 1000, Words: 20, Noise: noise, Seed: 3})
		want := noise
		if want == 0 {
			want = 1
		}
		x, y := written(t, d.Source(), 0)
		var sum, sum2 float64
		for i := range n {
			idx, val := x.Row(i)
			e := y[i]
			for k, j := range idx {
				e -= val[k] * d.X0[j]
			}
			sum, sum2 = sum+e/want, sum2+e*e/(want*want)
		}
		if !(math.Abs(sum) <= 5*math.Sqrt(n)) || !(math.Abs(sum2-n) <= 5*math.Sqrt(2*n)) {
			t.Errorf("noise of mean %v and variance %v", sum/n, sum2/n)
		}
	}
}

// TestTextAgain: every pass has the same bits, from any row on, however many rows there are
// and whatever the size of blocks; another seed has others.
func TestTextAgain(t *testing.T) {
	c := synthetic.Text{Rows: 3000, Dim: 4000, Words: 30, Seed: 4}
	src := documents(t, c).Source()
	x, y := written(t, src, 0)
	same := func(what string, src dataset.Source, first int64) {
		t.Helper()
		gotX, gotY := written(t, src, first)
		lo := x.RowPtr[first]
		hi := x.RowPtr[first+int64(gotX.Rows)]
		if !slices.Equal(gotX.Val, x.Val[lo:hi]) || !slices.Equal(gotX.ColIdx, x.ColIdx[lo:hi]) || !slices.Equal(gotY, y[first:first+int64(gotX.Rows)]) {
			t.Errorf("%s: other rows", what)
		}
	}
	same("a second pass", src, 0)
	same("from row 2500", src, 2500)
	small := documents(t, c).Source()
	small.BlockRows = 7
	same("small blocks", small, 0)
	c.Rows = 1100
	same("fewer rows", documents(t, c).Source(), 0)
	c.Seed++
	if other, _ := written(t, documents(t, c).Source(), 0); slices.Equal(other.Val[:10], x.Val[:10]) {
		t.Error("another seed gave the same rows")
	}
}

func TestRefusesText(t *testing.T) {
	good := synthetic.Text{Rows: 5, Dim: 100}
	documents(t, good)
	documents(t, synthetic.Text{Rows: 5, Dim: 8})
	for name, spoil := range map[string]func(*synthetic.Text){
		"no rows":        func(c *synthetic.Text) { c.Rows = 0 },
		"too few words":  func(c *synthetic.Text) { c.Dim = 7 },
		"too many words": func(c *synthetic.Text) { tooMany := int64(math.MaxInt32) + 1; c.Dim = int(tooMany) },
		"short":          func(c *synthetic.Text) { c.Words = 0.5 },
		"long":           func(c *synthetic.Text) { c.Words = 13 },
		"words NaN":      func(c *synthetic.Text) { c.Words = math.NaN() },
		"topics":         func(c *synthetic.Text) { c.Topics = 101 },
		"fewer topics":   func(c *synthetic.Text) { c.Topics = -1 },
		"negative noise": func(c *synthetic.Text) { c.Noise = -1 },
		"infinite noise": func(c *synthetic.Text) { c.Noise = math.Inf(1) },
	} {
		c := good
		spoil(&c)
		if d, err := c.Documents(); err == nil || d != nil {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}
