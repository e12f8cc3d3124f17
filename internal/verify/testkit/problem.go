package testkit

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

const Eps = 0x1p-52

// Table holds rows in memory. As a source, it yields blocks of Block rows; 0 means 100 rows.
type Table struct {
	X, Y   [][]float64
	W      []float64 // nil: unweighted
	Block  int
	Sparse bool
}

func (s Table) Dims() (int64, int, int) { return int64(len(s.X)), len(s.X[0]), len(s.Y[0]) }

func (s Table) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		size := s.Block
		if size == 0 {
			size = 100
		}
		for lo := 0; lo < len(s.X); lo += size {
			if err := ctx.Err(); err != nil {
				yield(dataset.Block{}, err)
				return
			}
			hi := min(lo+size, len(s.X))
			b := dataset.Block{First: int64(lo), N: hi - lo, Y: Flat(s.Y[lo:hi])}
			if s.W != nil {
				b.W = s.W[lo:hi]
			}
			if s.Sparse {
				b.Sparse = Compress(s.X[lo:hi])
			} else {
				b.X = Flat(s.X[lo:hi])
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

func Flat(x [][]float64) []float64 {
	var out []float64
	for _, row := range x {
		out = append(out, row...)
	}
	return out
}

func Compress(x [][]float64) *engine.CSR {
	s := &engine.CSR{Rows: len(x), Cols: len(x[0]), RowPtr: []int{0}}
	for _, row := range x {
		for j, v := range row {
			if v != 0 {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, v)
			}
		}
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	return s
}

func MustExact(t rapid.TB, s dataset.Source, opts ridge.ExactOptions, gammas ...float64) []*ridge.Solution {
	t.Helper()
	fits, err := ridge.SolveExact(context.Background(), s, gammas, opts)
	if err != nil {
		t.Fatal(err)
	}
	return fits
}

// Kinds are the sorts of data that problem makes.
var Kinds = []string{
	"gaussian",
	"decaying",
	"graded",
	"dependent",
	"constant",
	"offset",
	"integers",
	"tiny",
	"zero",
	"same",
}

// Problem returns n random rows of d features, and t targets that are linear in the features plus noise. kind
// selects the distribution of the features.
func Problem(r *rand.Rand, kind string, n, d, t int, noise float64) Table {
	w := make([][]float64, t)
	for q := range w {
		w[q] = Normals(r, d)
	}
	row0 := Normals(r, d)
	var s Table
	for range n {
		x := Normals(r, d)
		for j := range x {
			switch kind {
			case "decaying":
				x[j] = x[j]*math.Exp2(-2*float64(j)) + x[0]
			case "graded":
				x[j] *= math.Exp2(float64(4*j) - 20)
			case "dependent":
				x[j] = x[j/2]
			case "constant":
				if j%2 == 0 {
					x[j] = 0.1
				}
			case "offset":
				x[j] += 1000
			case "integers":
				x[j] = math.Round(2 * x[j])
			case "tiny":
				x[j] *= 0x1p-530
			case "zero":
				x[j] = 0
			case "same":
				x[j] = row0[j]
			}
		}
		y := make([]float64, t)
		for q := range y {
			y[q] = noise * r.NormFloat64()
			for j := range x {
				y[q] += w[q][j] * x[j]
			}
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
	}
	return s
}

func Normals(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

func Norm(x []float64) float64 { return mat.Norm(mat.NewVecDense(len(x), x), 2) }

// must(f())(t) is f's value; an error ends the test.
func Must[T any](v T, err error) func(rapid.TB) T {
	return func(t rapid.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func Summarize(t rapid.TB, src dataset.Source, cfg ridge.SummaryConfig) *ridge.Summary {
	t.Helper()
	return Must(ridge.Summarize(context.Background(), src, cfg, nil))(t)
}

// ScaleOf is tr K, to choose γ around.
func ScaleOf(p *refbig.Problem) float64 {
	s := 0.0
	for i := range p.D {
		v, _ := p.K[i][i].Float64()
		s += v
	}
	if s == 0 {
		return 1
	}
	return s
}

// A Drawn is a random problem with its summary, its reference solution and a ridge penalty.
type Drawn struct {
	Table Table
	Sum   *ridge.Summary
	Ref   *refbig.Problem
	Gamma float64
}

// DrawWeights returns n random weights, some of them zero and some large. At least one weight is positive.
func DrawWeights(r *rand.Rand, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = []float64{0, 0.01, 1, 1, 2.5, 30}[r.IntN(6)] * r.Float64()
	}
	w[r.IntN(n)] = 1 // not all are zero
	return w
}

// DrawStore draws how a sketch stores its content. It draws the storage of rows more often than the storage of AᵀA,
// because there is less to prove about the storage of AᵀA.
func DrawStore(t *rapid.T) fd.Storage {
	return rapid.SampledFrom([]fd.Storage{fd.StoreRows, fd.StoreRows, fd.StoreScatter, fd.StoreSmaller}).Draw(t, "store")
}

func DrawProblem(t *rapid.T, be engine.Backend) Drawn {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
	kind := rapid.SampledFrom(Kinds).Draw(t, "kind")
	if kind == "tiny" { // squares underflow: γ = 1e-6·tr K would be zero
		kind = "gaussian"
	}
	n, d := rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "d")
	s := Problem(
		r,
		kind,
		n,
		d,
		rapid.IntRange(1, 3).Draw(t, "t"),
		rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "noise"),
	)
	s.Block = rapid.IntRange(1, 30).Draw(t, "block")
	s.Sparse = rapid.Bool().Draw(t, "sparse")
	if rapid.Bool().Draw(t, "weighted") {
		s.W = DrawWeights(r, n)
	}
	intercept := rapid.Bool().Draw(t, "intercept")
	sum := Summarize(t, s, ridge.SummaryConfig{
		Size: rapid.IntRange(1, 13).Draw(t, "m"), ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"), Intercept: intercept,
		Shrink: rapid.SampledFrom([]fd.Driver{fd.Gram, fd.SVD}).Draw(t, "shrink"), Store: DrawStore(t), Backend: be,
	})
	ref := refbig.New(s.X, s.Y, s.W, intercept)
	gamma := ScaleOf(ref) * math.Pow(10, rapid.Float64Range(-7, 2).Draw(t, "log γ"))
	return Drawn{s, sum, ref, gamma}
}

var Methods = []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin}
