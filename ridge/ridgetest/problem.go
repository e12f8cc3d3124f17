package ridgetest

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// A problem holds samples and their storage format.
type problem struct {
	x, y   *mat.Dense
	w      []float64 // n sample weights; nil: all weights are 1
	block  int       // rows per block; 0: all rows
	sparse bool
}

// kinds names the kinds of data that draw generates.
var kinds = []string{"gaussian", "decaying", "graded", "dependent", "integers", "offset"}

// draw returns n random rows of d features and t targets. kind names the kind of data. The targets are linear in
// the features, plus noise.
func draw(r *rand.Rand, kind string, n, d, t int) problem {
	x := normal(r, n, d)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			switch kind {
			case "decaying":
				row[j] = row[j]*math.Exp2(-2*float64(j)) + row[0]
			case "graded":
				row[j] *= math.Exp2(float64(4*j) - 20)
			case "dependent":
				row[j] = row[j/2]
			case "offset":
				row[j] += 1000
			case "integers":
				row[j] = math.Round(2 * row[j])
			}
		}
	}
	y, noise := new(mat.Dense), normal(r, n, t)
	y.Mul(x, normal(r, d, t))
	noise.Scale(0.1, noise)
	y.Add(y, noise)
	return problem{x: x, y: y}
}

func normal(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, r.NormFloat64())
		}
	}
	return m
}

func (p problem) dims() (n, d, t int) {
	n, d = p.x.Dims()
	_, t = p.y.Dims()
	return n, d, t
}

func (p problem) pick(rows []int) problem {
	_, d, t := p.dims()
	out := p
	out.x, out.y = mat.NewDense(len(rows), d, nil), mat.NewDense(len(rows), t, nil)
	out.w = nil
	for i, from := range rows {
		out.x.SetRow(i, p.x.RawRowView(from))
		out.y.SetRow(i, p.y.RawRowView(from))
		if p.w != nil {
			out.w = append(out.w, p.w[from])
		}
	}
	return out
}

// centred returns p as a problem without an intercept and without weights. It subtracts the means mx of the
// features and my of the targets, and multiplies rows by the roots of their weights. If intercept is false, the
// means are zero.
func (p problem) centred(intercept bool) (out problem, mx, my []float64) {
	n, d, t := p.dims()
	mx, my = make([]float64, d), make([]float64, t)
	weight := func(i int) float64 {
		if p.w == nil {
			return 1
		}
		return p.w[i]
	}
	if intercept {
		total := 0.0
		for i := range n {
			total += weight(i)
		}
		for i := range n {
			for j := range mx {
				mx[j] += weight(i) / total * p.x.At(i, j)
			}
			for j := range my {
				my[j] += weight(i) / total * p.y.At(i, j)
			}
		}
	}
	out = problem{x: new(mat.Dense), y: new(mat.Dense), block: p.block}
	out.x.Apply(func(i, j int, v float64) float64 { return math.Sqrt(weight(i)) * (v - mx[j]) }, p.x)
	out.y.Apply(func(i, j int, v float64) float64 { return math.Sqrt(weight(i)) * (v - my[j]) }, p.y)
	return out, mx, my
}

// eigenvalues returns three eigenvalues of AᵀA.
func (p problem) eigenvalues(intercept bool) (least, most, mean float64) {
	n, d, _ := p.dims()
	a, _, _ := p.centred(intercept)
	var svd mat.SVD
	if !svd.Factorize(a.x, mat.SVDNone) {
		panic("ridgetest: no singular values")
	}
	s := svd.Values(nil)
	if d <= n {
		least = s[d-1] * s[d-1]
	}
	for _, v := range s {
		mean += v * v / float64(d)
	}
	return least, s[0] * s[0], mean
}

// condition returns the condition number of AᵀA + γI.
func (p problem) condition(gamma float64, intercept bool) float64 {
	least, most, _ := p.eigenvalues(intercept)
	return (most + gamma) / (least + gamma)
}

func (p problem) source() (dataset.Source, error) {
	n, d, t := p.dims()
	var src dataset.Source
	var err error
	if p.sparse {
		src, err = dataset.FromCSR(compress(p.x), t, packed(p.y))
	} else {
		src, err = dataset.FromDense(n, d, t, packed(p.x), packed(p.y))
	}
	if err != nil {
		return nil, err
	}
	if p.w != nil {
		w, err := dataset.FromDense(n, 1, 0, p.w, nil)
		if err != nil {
			return nil, err
		}
		src, err = dataset.Weigh(src, w)
		if err != nil {
			return nil, err
		}
	}
	if p.block > 0 {
		src = blocks{src, p.block}
	}
	return src, nil
}

func (p problem) String() string {
	n, d, t := p.dims()
	return fmt.Sprintf("%d×%d, %d targets, blocks of %d", n, d, t, p.block)
}

// packed returns the elements of m, row by row. It requires that the rows of m have no gaps between them in memory.
func packed(m *mat.Dense) []float64 { return m.RawMatrix().Data }

func compress(m *mat.Dense) *engine.CSR {
	rows, cols := m.Dims()
	s := &engine.CSR{Rows: rows, Cols: cols, RowPtr: []int{0}}
	for i := range rows {
		for j, v := range m.RawRowView(i) {
			if v != 0 {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, v)
			}
		}
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	return s
}

// blocks is a source that yields the rows of Source in blocks of at most size rows.
type blocks struct {
	dataset.Source
	size int
}

func (s blocks) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	_, d, t := s.Dims()
	return func(yield func(dataset.Block, error) bool) {
		var view engine.CSR
		for b, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(dataset.Block{}, err)
				return
			}
			for lo := 0; lo < b.N; lo += s.size {
				if !yield(b.Cut(lo, min(lo+s.size, b.N), d, t, &view), nil) {
					return
				}
			}
		}
	}
}
