package testkit

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

func UpTo(lo, hi int) []int {
	var out []int
	for j := lo; j < hi; j++ {
		out = append(out, j)
	}
	return out
}

// Turned returns a source with the rows of s, which it obtains by transposing a table whose rows are the features
// of s.
func Turned(t *testing.T, s Table) dataset.Source {
	t.Helper()
	features := Table{Block: s.Block, Sparse: s.Sparse}
	for j := range s.X[0] {
		var row []float64
		for i := range s.X {
			row = append(row, s.X[i][j])
		}
		features.X, features.Y = append(features.X, row), append(features.Y, nil)
	}
	targets, err := dataset.FromDense(len(s.Y), len(s.Y[0]), 0, Flat(s.Y), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := dataset.Transpose(context.Background(), features, 0)
	if err == nil {
		rows, err = dataset.Zip(rows, targets)
	}
	if err == nil && s.W != nil {
		var weights dataset.Source
		weights, err = dataset.FromDense(len(s.W), 1, 0, s.W, nil)
		if err == nil {
			rows, err = dataset.Weigh(rows, weights)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// SparseRows returns n random rows of d columns with at most nonzeros entries each. Entries
// are more frequent in the first columns. The targets are linear in the features, plus noise.
func SparseRows(r *rand.Rand, n, d, nonzeros int) (*engine.CSR, []float64) {
	x0 := Normals(r, d)
	x, y := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}, make([]float64, n)
	for i := range n {
		columns := make([]int32, nonzeros)
		for k := range columns {
			u := r.Float64()
			columns[k] = int32(u * u * float64(d))
		}
		slices.Sort(columns)
		for _, j := range slices.Compact(columns) {
			v := r.NormFloat64() + 0.5
			x.ColIdx, x.Val = append(x.ColIdx, j), append(x.Val, v)
			y[i] += v * x0[j]
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
		y[i] += 0.1 * r.NormFloat64()
	}
	return x, y
}

// Words returns n sparse rows of d columns that are like counts of words in texts. The word with the index j has a
// frequency proportional to 1/(j + 2), except that each of eight topics prefers some words. The target depends on
// the topic.
func Words(rng *rand.Rand, n, d int) (*engine.CSR, []float64) {
	x, y := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}, make([]float64, n)
	for i := range n {
		topic := rng.IntN(8)
		y[i] = float64(topic&1) + 0.3*rng.NormFloat64()
		size := 0.0
		for j := range d {
			often := 4 / float64(j+2)
			if j%8 == topic {
				often *= 4
			}
			if rng.Float64() < often {
				v := 1 + rng.Float64()
				x.ColIdx, x.Val = append(x.ColIdx, int32(j)), append(x.Val, v)
				size += v * v
			}
		}
		for k := x.RowPtr[i]; k < len(x.Val); k++ {
			x.Val[k] /= math.Sqrt(size)
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	return x, y
}

// DrawWide draws a problem like [DrawProblem]. Its summary is merged from the summaries of
// several parts of the rows. The four penalties gammas include very small and very large ones.
func DrawWide(t *rapid.T, be engine.Backend) (d Drawn, gammas []float64) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
	kind := rapid.SampledFrom(Kinds).Draw(t, "kind")
	if kind == "tiny" {
		kind = "decaying"
	}
	n, dim := rapid.IntRange(1, 50).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "d")
	s := Problem(
		r,
		kind,
		n,
		dim,
		rapid.IntRange(1, 3).Draw(t, "t"),
		rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "noise"),
	)
	s.Block = rapid.IntRange(1, 30).Draw(t, "block")
	s.Sparse = rapid.Bool().Draw(t, "sparse")
	intercept := rapid.Bool().Draw(t, "intercept")
	cfg := ridge.SummaryConfig{
		Size: rapid.IntRange(1, 13).Draw(t, "m"), ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"), Intercept: intercept,
		Store: DrawStore(t), Backend: be,
	}
	if rapid.Bool().Draw(t, "weighted") {
		for range n {
			s.W = append(s.W, float64(r.IntN(4))/2)
		}
		SomeWeight(s.W)
	}
	part := rapid.IntRange(1, n).Draw(t, "part")
	for lo := 0; lo < n; lo += (n + part - 1) / part {
		p := s
		p.X, p.Y = s.X[lo:min(n, lo+(n+part-1)/part)], s.Y[lo:min(n, lo+(n+part-1)/part)]
		if s.W != nil {
			p.W = s.W[lo:min(n, lo+(n+part-1)/part)]
		}
		sum := Summarize(t, p, cfg)
		if d.Sum == nil {
			d.Sum = sum
		} else if err := d.Sum.Merge(sum); err != nil {
			t.Fatal(err)
		}
	}
	d.Table, d.Ref = s, refbig.New(s.X, s.Y, s.W, intercept)
	for range 4 {
		gammas = append(gammas, ScaleOf(d.Ref)*math.Pow(10, rapid.Float64Range(-13, 5).Draw(t, "log γ")))
	}
	return d, gammas
}

// SomeWeight sets the weight of the first row to 1 if all weights are zero. TestNoWeight tests rows without any
// weight.
func SomeWeight(w []float64) {
	if len(w) > 0 && !slices.ContainsFunc(w, func(v float64) bool { return v > 0 }) {
		w[0] = 1
	}
}

// Housing returns the California housing data with standardised features: 20,640 rows of 8 features.
func Housing(t *testing.T) dataset.Source {
	t.Helper()
	file := Must(os.Open(Path(t, "testdata", "cal_housing.csv.gz")))(t)
	defer file.Close()
	records := Must(csv.NewReader(Must(gzip.NewReader(file))(t)).ReadAll())(t)
	var x, y []float64
	for _, record := range records {
		for j, field := range record {
			v := Must(strconv.ParseFloat(field, 64))(t)
			if j < 8 {
				x = append(x, v)
			} else {
				y = append(y, v/1e5)
			}
		}
	}
	src := Must(dataset.FromDense(len(y), 8, 1, x, y))(t)
	scaled, _, err := dataset.Standardize(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return scaled
}

// Fourier returns random Fourier features of the first rows of the California housing data.
func Fourier(t *testing.T, rows, components int) dataset.Source {
	t.Helper()
	src := Must(dataset.Rows(Housing(t), 0, int64(rows)))(t)
	var x, y []float64
	for b, err := range Must(
		dataset.Fourier{Components: components, Gamma: 0.2, Seed: 1}.Apply(src, nil),
	)(t).Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, b.X...), append(y, b.Y...)
	}
	return Must(dataset.FromDense(rows, components, 1, x, y))(t)
}

// ScaledTable returns s with each feature divided by the square root of its penalty in p. dataset.Penalty scales
// features in the same way.
func ScaledTable(s Table, p []float64) Table {
	s.X = slices.Clone(s.X)
	for i, row := range s.X {
		row = slices.Clone(row)
		for j := range row {
			row[j] /= math.Sqrt(p[j])
		}
		s.X[i] = row
	}
	return s
}

// PenalisedProblem returns n rows of d columns with two targets. The targets depend only on the first quarter of
// the columns.
func PenalisedProblem(n, d int) Table {
	r := rand.New(rand.NewPCG(7, 7))
	s := Table{Block: 64}
	for range n {
		row := Normals(r, d)
		y := r.NormFloat64()
		for _, v := range row[:d/4] {
			y += v
		}
		s.X, s.Y = append(s.X, row), append(s.Y, []float64{y, 2 * y})
	}
	return s
}

// Levelled returns n sparse rows of d columns. In the first column, every row has an entry near level.
func Levelled(r *rand.Rand, n, d int, level float64) dataset.Block {
	x, y := SparseRows(r, n, d, 6)
	for i := range n {
		lo := x.RowPtr[i]
		if x.ColIdx[lo] != 0 {
			x.ColIdx, x.Val = append(x.ColIdx, 0), append(x.Val, 0)
			copy(x.ColIdx[lo+1:], x.ColIdx[lo:])
			copy(x.Val[lo+1:], x.Val[lo:])
			x.ColIdx[lo], x.Val[lo] = 0, r.NormFloat64()
			for k := i + 1; k <= n; k++ {
				x.RowPtr[k]++
			}
		}
		x.Val[lo] += level
	}
	return dataset.Block{N: n, Sparse: x, Y: y}
}
