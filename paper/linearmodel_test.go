package paper_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/paper"
	"github.com/fdridge/fdridge/ridge"
)

// design is a fixed design with everything that its estimators need.
type design struct {
	a, s  *mat.Dense // n×d, and a random m×n
	x0    []float64
	noise float64 // τ²
	spec  *fd.Spectrum
	model *paper.LinearModel
}

// newDesign draws S, m×n, and makes the model and a sketch of size m of a, shrunk
// every p rows.
func newDesign(
	t *testing.T, r *rand.Rand, a *mat.Dense, x0 []float64, noise float64, m, p int, be engine.Backend,
) *design {
	t.Helper()
	n, d := a.Dims()
	g := &design{a: a, x0: x0, noise: noise, s: mat.NewDense(m, n, normals(r, m*n))}
	g.s.Scale(1/math.Sqrt(float64(m)), g.s)
	src := g.table(mat.NewDense(n, 1, nil))
	sketch, err := fd.New(fd.Config{Dim: d, Size: m, ShrinkRows: p, Backend: be, Store: fd.StoreRows})
	if err != nil {
		t.Fatal(err)
	}
	if err := sketch.AppendRows(n, a.RawMatrix().Data, d); err != nil {
		t.Fatal(err)
	}
	g.spec, err = sketch.Spectrum()
	if err != nil {
		t.Fatal(err)
	}
	g.model, err = paper.NewLinearModel(context.Background(), src, x0, noise, be)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// table is A with targets y (n×t) as a source.
func (g *design) table(y *mat.Dense) table {
	var s table
	for i := range y.RawMatrix().Rows {
		s.x, s.y = append(s.x, g.a.RawRowView(i)), append(s.y, y.RawRowView(i))
	}
	return s
}

func (g *design) sa() *mat.Dense {
	var sa mat.Dense
	sa.Mul(g.s, g.a)
	return &sa
}

func (g *design) sst() *mat.SymDense {
	var sst mat.SymDense
	sst.SymOuterK(1, g.s)
	return &sst
}

// estimators are all of them.
func (g *design) estimators(t *testing.T) []*paper.Estimator {
	t.Helper()
	plain, err1 := g.model.FD(g.spec)
	robust, err2 := g.model.RFD(g.spec)
	classical, err3 := g.model.Classical(g.sa(), g.sst())
	hessian, err4 := g.model.Hessian(g.sa())
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return []*paper.Estimator{g.model.Exact(), plain, robust, classical, hessian}
}

// linear is the d×n matrix L of an estimator x̂ = Lb, straight from its
// definition.
func (g *design) linear(t *testing.T, method string, gamma float64) *mat.Dense {
	t.Helper()
	n, d := g.a.Dims()
	b, f := g.a, mat.DenseCopyOf(g.a.T())
	s := gamma
	switch method {
	case "fd", "rfd":
		b = g.spec.Matrix()
		if b == nil {
			b = mat.NewDense(1, d, nil)
		}
		if method == "rfd" {
			s += g.spec.Bound.Shift()
		}
	case "classical":
		b = g.sa()
		f = mat.NewDense(d, n, nil)
		f.Mul(b.T(), g.s)
	case "hessian":
		b = g.sa()
	}
	h, l := mat.NewDense(d, d, nil), mat.NewDense(d, n, nil)
	h.Mul(b.T(), b)
	for i := range d {
		h.Set(i, i, h.At(i, i)+s)
	}
	if err := l.Solve(h, f); err != nil {
		t.Fatal(err)
	}
	return l
}

// dense is the risk of x̂ = Lb.
func (g *design) dense(l *mat.Dense) (bias2, variance float64) {
	x0 := mat.NewVecDense(len(g.x0), g.x0)
	var ax, bias mat.VecDense
	ax.MulVec(g.a, x0)
	bias.MulVec(l, &ax)
	bias.SubVec(&bias, x0)
	nb, nl := mat.Norm(&bias, 2), mat.Norm(l, 2)
	return nb * nb, g.noise * nl * nl
}

func mustRisk(t *testing.T, e *paper.Estimator, gamma float64) (paper.Risk, paper.RiskBounds) {
	t.Helper()
	r, err1 := e.Risk(gamma)
	b, err2 := e.Bounds(gamma)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return r, b
}

// decaying makes n rows of d columns of scale q^j, mixed.
func decaying(r *rand.Rand, n, d int, q float64) *mat.Dense {
	a := mat.NewDense(n, d, normals(r, n*d))
	a.Apply(func(_, j int, v float64) float64 { return v * math.Pow(q, float64(j)) }, a)
	var qr mat.QR
	qr.Factorize(mat.NewDense(d, d, normals(r, d*d)))
	var rotation mat.Dense
	qr.QTo(&rotation)
	a.Mul(a, &rotation)
	return a
}

// table is rows in memory, yielded block rows at a time.
type table struct {
	x, y   [][]float64
	w      []float64 // nil: unweighted
	block  int       // 0: 100
	sparse bool
	read   func() // called before each block, if not nil
}

func (s table) Dims() (int64, int, int) { return int64(len(s.x)), len(s.x[0]), len(s.y[0]) }

func (s table) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for lo := 0; lo < len(s.x); lo += cmp.Or(s.block, 100) {
			if s.read != nil {
				s.read()
			}
			if err := ctx.Err(); err != nil {
				yield(dataset.Block{}, err)
				return
			}
			if !yield(s.cut(lo, min(lo+cmp.Or(s.block, 100), len(s.x))), nil) {
				return
			}
		}
	}
}

func (s table) cut(lo, hi int) dataset.Block {
	b := dataset.Block{First: int64(lo), N: hi - lo, Y: slices.Concat(s.y[lo:hi]...)}
	if s.w != nil {
		b.W = s.w[lo:hi]
	}
	if s.sparse {
		b.Sparse = testkit.Compress(s.x[lo:hi])
	} else {
		b.X = slices.Concat(s.x[lo:hi]...)
	}
	return b
}

func normals(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// TestLinearModelRows: the model depends only on AᵀA. It is the same for dense, sparse and weighted rows, and for
// more rows than are factored at once.
func TestLinearModelRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	const n, d = 1000, 7
	var s, scaled table
	for i := range n {
		x := normals(r, d)
		x[i%d] = 0
		w := float64(i % 3)
		s.x, s.y, s.w = append(s.x, x), append(s.y, []float64{0}), append(s.w, w)
		y := slices.Clone(x)
		floats.Scale(math.Sqrt(w), y)
		scaled.x, scaled.y = append(scaled.x, y), append(scaled.y, []float64{0})
	}
	a := (&design{a: mat.NewDense(n, d, slices.Concat(scaled.x...)), x0: normals(r, d), noise: 0.3})
	bias2, variance := a.dense(a.linear(t, "exact", 2))
	for name, c := range map[string]table{
		"dense":    scaled,
		"rows":     {x: scaled.x, y: scaled.y, block: 1},
		"sparse":   {x: scaled.x, y: scaled.y, sparse: true},
		"weighted": s,
		"both":     {x: s.x, y: s.y, w: s.w, block: 300, sparse: true},
	} {
		m, err := paper.NewLinearModel(context.Background(), c, a.x0, a.noise, nil)
		if err != nil {
			t.Fatal(err)
		}
		risk, _ := mustRisk(t, m.Exact(), 2)
		if !(math.Abs(risk.Bias2-bias2) <= 1e-11*bias2) || !(math.Abs(risk.Variance-variance) <= 1e-11*variance) {
			t.Errorf("%s: %+v, want %v and %v", name, risk, bias2, variance)
		}
	}
}

// TestLinearModelCancel: cancelled at any block, it returns the context's error.
func TestLinearModelCancel(t *testing.T) {
	for stop := range 4 {
		ctx, cancel := context.WithCancel(context.Background())
		reads := 0
		s := table{x: [][]float64{{1}, {2}, {3}, {4}}, y: [][]float64{{0}, {0}, {0}, {0}}, block: 1}
		s.read = func() {
			if reads == stop {
				cancel()
			}
			reads++
		}
		m, err := paper.NewLinearModel(ctx, s, []float64{1}, 1, nil)
		if m != nil || !errors.Is(err, context.Canceled) || reads > stop+1 {
			t.Errorf("cancelled at read %d of %d: %v, %v", stop, reads, m, err)
		}
		cancel()
	}
}

func TestLinearModelRefuses(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s := table{x: [][]float64{{1, 2}, {3, 4}, {5, 6}}, y: [][]float64{{0}, {0}, {0}}}
	x0 := []float64{1, 1}
	m, err := paper.NewLinearModel(ctx, s, x0, 1, be)
	if err != nil {
		t.Fatal(err)
	}
	made := func(m *paper.LinearModel, err error) error {
		if (m == nil) == (err == nil) {
			t.Errorf("model %v with error %v", m, err)
		}
		return err
	}
	got := func(e *paper.Estimator, err error) error {
		if (e == nil) == (err == nil) {
			t.Errorf("estimator %v with error %v", e, err)
		}
		return err
	}
	nan, inf := math.NaN(), math.Inf(1)
	var finite *fd.NonFiniteError
	var large *fd.RangeError
	var gamma *ridge.GammaError
	var size *ridge.SizeError
	empty, err := dataset.FromDense(0, 2, 1, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err  error
		kind any // what errors.Is or errors.As must find, nil for any error
	}{
		"noise NaN":      {made(paper.NewLinearModel(ctx, s, x0, nan, be)), nil},
		"negative noise": {made(paper.NewLinearModel(ctx, s, x0, -1, be)), nil},
		"infinite noise": {made(paper.NewLinearModel(ctx, s, x0, inf, be)), nil},
		"short x0":       {made(paper.NewLinearModel(ctx, s, x0[:1], 1, be)), ridge.ErrShape},
		"x0 NaN":         {made(paper.NewLinearModel(ctx, s, []float64{1, nan}, 1, be)), &finite},
		"x0 large":       {made(paper.NewLinearModel(ctx, s, []float64{1, 1e200}, 1, be)), &large},
		"data NaN": {
			made(paper.NewLinearModel(ctx, table{x: [][]float64{{1, nan}}, y: [][]float64{{0}}}, x0, 1, be)), &finite,
		},
		"weight NaN": {
			made(paper.NewLinearModel(ctx, table{x: s.x, y: s.y, w: []float64{1, nan, 1}}, x0, 1, be)), &finite,
		},
		"data large": {
			made(paper.NewLinearModel(ctx, table{x: [][]float64{{1, 1e200}}, y: [][]float64{{0}}}, x0, 1, be)), &large,
		},
		"no rows":          {made(paper.NewLinearModel(ctx, empty, x0, 1, be)), ridge.ErrEmpty},
		"many features":    {made(paper.NewLinearModel(ctx, wide{}, make([]float64, 1<<20), 1, be)), &size},
		"sketch of others": {got(m.FD(&fd.Spectrum{Dim: 3})), ridge.ErrShape},
		"sketch truncated": {got(m.RFD(&fd.Spectrum{Dim: 2, Sigma2: []float64{1}, V: []float64{1}})), ridge.ErrShape},
		"SA of others":     {got(m.Hessian(mat.NewDense(2, 3, nil))), ridge.ErrShape},
		"SA NaN":           {got(m.Hessian(mat.NewDense(1, 2, []float64{1, nan}))), &finite},
		"SA large":         {got(m.Hessian(mat.NewDense(2, 2, []float64{1, 1, 1, 1e200}))), &large},
		"SSᵀ of another S": {got(m.Classical(mat.NewDense(2, 2, nil), mat.NewSymDense(3, nil))), ridge.ErrShape},
		"SSᵀ infinite":     {got(m.Classical(mat.NewDense(1, 2, nil), mat.NewSymDense(1, []float64{inf}))), &finite},
		"γ zero":           {second(m.Exact().Risk(0)), &gamma},
		"γ NaN":            {second(m.Exact().Bounds(nan)), &gamma},
		"γ infinite":       {second(m.Exact().Risk(inf)), &gamma},
	} {
		found := c.err != nil
		switch kind := c.kind.(type) {
		case nil:
		case error:
			found = errors.Is(c.err, kind)
		default:
			found = errors.As(c.err, kind)
		}
		if !found {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if e, err := m.FD(&fd.Spectrum{Dim: 2}); err != nil { // an empty sketch
		t.Error(err)
	} else if risk, _ := mustRisk(t, e, 1); !(risk.Variance > 0) {
		t.Errorf("an empty sketch: %+v", risk)
	}
}

func second[T any](_ T, err error) error { return err }

// wide has a million features, which nobody reads.
type wide struct{ table }

func (wide) Dims() (int64, int, int) { return 1, 1 << 20, 1 }
