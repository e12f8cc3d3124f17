package randsketch_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/randsketch"
)

const eps = 0x1p-52

func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](x T, err error) func(rapid.TB) T {
	return func(t rapid.TB) T {
		t.Helper()
		check(t, err)
		return x
	}
}

// rows is a matrix [A Y] in the forms a sketch takes: dense with gaps, which hold
// NaN, and sparse.
type rows struct {
	n, d, t, ldx int
	x, y         []float64
	csr          engine.CSR
}

// draw returns n rows of d features and t targets. About the given share of the features is not zero.
func draw(n, d, t int, share float64) *rows {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	r := &rows{n: n, d: d, t: t, ldx: d + 3, csr: engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}}
	for range n {
		for j := range d {
			v := 0.0
			if rng.Float64() < share {
				v = math.Ldexp(rng.NormFloat64(), -j)
				r.csr.ColIdx, r.csr.Val = append(r.csr.ColIdx, int32(j)), append(r.csr.Val, v)
			}
			r.x = append(r.x, v)
		}
		r.x = append(r.x, math.NaN(), math.NaN(), math.NaN())
		for range t {
			r.y = append(r.y, rng.NormFloat64())
		}
		r.csr.RowPtr = append(r.csr.RowPtr, len(r.csr.Val))
	}
	return r
}

// feed appends the rows in blocks of the given size.
func (r *rows) feed(t testing.TB, s *randsketch.Sketch, block int, sparse bool) {
	t.Helper()
	for lo := 0; lo < r.n; lo += block {
		hi := min(lo+block, r.n)
		y := r.y[lo*r.t : hi*r.t]
		if sparse {
			part := r.csr.Slice(lo, hi)
			check(t, s.AppendSparse(&part, y))
		} else {
			check(t, s.AppendRows(hi-lo, r.x[lo*r.ldx:], r.ldx, y))
		}
	}
	if s.Rows() != int64(r.n) {
		t.Fatalf("%d rows counted, want %d", s.Rows(), r.n)
	}
}

// sketched returns [SA SY] of the rows.
func (r *rows) sketched(t testing.TB, cfg randsketch.Config, block int, sparse bool) *mat.Dense {
	t.Helper()
	cfg.Dim, cfg.Targets = r.d, r.t
	s := must(randsketch.New(cfg))(t)
	r.feed(t, s, block, sparse)
	return both(s)
}

func both(s *randsketch.Sketch) *mat.Dense {
	var all mat.Dense
	all.Augment(s.Matrix(), s.Targets())
	return &all
}

// distance is the largest difference of two matrices.
func distance(a, b mat.Matrix) float64 {
	var diff mat.Dense
	diff.Sub(a, b)
	return math.Max(mat.Max(&diff), -mat.Min(&diff))
}

// TestProduct: the sketch is Σ S_i·[a_i y_i], where [Sketch.Column] returns S_i.
func TestProduct(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, kind := range kinds {
			for _, c := range []struct{ n, d, t, m int }{{700, 9, 2, 33}, {256, 5, 1, 7}, {1, 1, 1, 1}, {300, 3, 1, 400}} {
				r := draw(c.n, c.d, c.t, 0.6)
				cfg := randsketch.Config{Kind: kind, Rows: c.m, Seed: 42, Backend: be}
				want := mat.NewDense(c.m, c.d+c.t, nil)
				columns := columns(t, cfg, 0, c.n)
				for i := range c.n {
					row := append(append([]float64(nil), r.x[i*r.ldx:i*r.ldx+c.d]...), r.y[i*c.t:(i+1)*c.t]...)
					want.RankOne(want, 1, columns.RowView(i), mat.NewVecDense(len(row), row))
				}
				for _, sparse := range []bool{false, true} {
					if off := distance(r.sketched(t, cfg, 100, sparse), want); !(off <= 16*eps*float64(c.n)) {
						t.Errorf("%v, %+v, sparse %v: SA is off by %g", kind, c, sparse, off)
					}
				}
			}
		}
	})
}

// TestSameBits: an SJLT has the same bits for all block sizes, numbers of threads and backends, and for dense and
// sparse rows. A Gaussian sketch has the same bits for all block sizes, and differs otherwise only by round-off.
func TestSameBits(t *testing.T) {
	const n, d, m = 1100, 40, 64
	r := draw(n, d, 2, 0.5)
	reference := map[randsketch.Kind]*mat.Dense{}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, kind := range kinds {
			cfg := randsketch.Config{Kind: kind, Rows: m, Seed: 1, Backend: be}
			first, firstSparse := r.sketched(t, cfg, n, false), r.sketched(t, cfg, n, true)
			if reference[kind] == nil {
				reference[kind] = first
			}
			same := func(name string, got, want *mat.Dense, exact bool) {
				t.Helper()
				tol := 0.0
				if !exact {
					tol = 64 * eps * mat.Norm(want, math.Inf(1))
				}
				if off := distance(got, want); !(off <= tol) {
					t.Errorf("%v: %s changes the sketch by %g", kind, name, off)
				}
			}
			sjlt := kind == randsketch.SJLT
			same("the backend", first, reference[kind], sjlt)
			same("sparse input", firstSparse, first, sjlt)
			for _, block := range []int{1, 3, 100, 255, 256, 257, 999} {
				same(fmt.Sprintf("blocks of %d", block), r.sketched(t, cfg, block, false), first, true)
				same(fmt.Sprintf("sparse blocks of %d", block), r.sketched(t, cfg, block, true), firstSparse, true)
			}
			for _, procs := range []int{1, 2, 5} {
				old := runtime.GOMAXPROCS(procs)
				same(fmt.Sprintf("%d threads", procs), r.sketched(t, cfg, n, false), first, sjlt)
				same(fmt.Sprintf("%d threads, sparse", procs), r.sketched(t, cfg, n, true), firstSparse, true)
				runtime.GOMAXPROCS(old)
			}
		}
	})
}

// TestColumnsAlone: column i of S is the same for any number of rows before it, and
// for a sketch of other data.
func TestColumnsAlone(t *testing.T) {
	for _, kind := range kinds {
		a := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 30, Dim: 2, Seed: 3}))(t)
		b := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 30, Dim: 1, Seed: 3}))(t)
		check(t, a.AppendRows(300, make([]float64, 600), 2, nil))
		unit := make([]float64, 400)
		unit[333] = 1
		check(t, b.AppendRows(400, unit, 1, nil))
		got := b.Matrix()
		for r, v := range a.Column(333) {
			if got.At(r, 0) != v {
				t.Fatalf("%v: column 333 has %g in row %d, and %g elsewhere", kind, v, r, got.At(r, 0))
			}
		}
	}
}

// TestReadingAndMixing: reading does not disturb the stream, dense and sparse rows
// may alternate, and Reset makes the sketch that New makes of the seed.
func TestReadingAndMixing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, kind := range kinds {
			r := draw(900, 11, 1, 0.4)
			cfg := randsketch.Config{Kind: kind, Rows: 20, Dim: r.d, Targets: 1, Seed: 9, Backend: be}
			want := r.sketched(t, cfg, r.n, false)
			s := must(randsketch.New(cfg))(t)
			r.feed(t, s, 64, true)
			s.Reset(10)
			s.Reset(9)
			if s.Rows() != 0 || mat.Norm(both(s), 1) != 0 {
				t.Fatalf("%v: Reset left something", kind)
			}
			for i, lo := 0, 0; lo < r.n; i++ {
				hi := min(lo+37*(i%9), r.n)
				if i%2 == 0 {
					part := r.csr.Slice(lo, hi)
					check(t, s.AppendSparse(&part, r.y[lo:hi]))
				} else {
					check(t, s.AppendRows(hi-lo, r.x[lo*r.ldx:], r.ldx, r.y[lo:hi]))
				}
				both(s)
				must(s.Spectrum())(t)
				lo = hi
			}
			if off := distance(both(s), want); !(off <= 64*eps*mat.Norm(want, math.Inf(1))) {
				t.Errorf("%v: off by %g", kind, off)
			}
			fresh := cfg
			fresh.Seed = 10
			s.Reset(10)
			r.feed(t, s, 50, false)
			made := must(randsketch.New(fresh))(t)
			r.feed(t, made, 50, false)
			if off := distance(both(s), both(made)); off != 0 || s.Config() != made.Config() {
				t.Errorf("%v: Reset is off from New by %g", kind, off)
			}
			if got, want := must(s.Spectrum())(t).Over, must(made.Spectrum())(t).Over; got != want {
				t.Errorf("%v: after Reset ‖A‖²_F is %g, want %g", kind, got, want)
			}
			if off := distance(both(s), want); !(off > 0.1) {
				t.Errorf("%v: another seed gives the same sketch", kind)
			}
		}
	})
}

// TestRefused: what is refused leaves no trace.
func TestRefused(t *testing.T) {
	nan, inf, huge := math.NaN(), math.Inf(1), 0x1p600
	position := func(row, col int) func(error) bool {
		return func(err error) bool {
			var e *fd.NonFiniteError
			return errors.As(err, &e) && e.Row == row && e.Col == col
		}
	}
	shape := func(err error) bool { return errors.Is(err, randsketch.ErrShape) }
	tooLarge := func(err error) bool {
		var e *fd.RangeError
		return errors.As(err, &e) && e.Row == 1
	}
	csr := func(ptr []int, idx []int32, val ...float64) *engine.CSR {
		return &engine.CSR{Rows: len(ptr) - 1, Cols: 2, RowPtr: ptr, ColIdx: idx, Val: val}
	}
	dense := func(n int, x []float64, ldx int, y ...float64) func(*randsketch.Sketch) error {
		return func(s *randsketch.Sketch) error { return s.AppendRows(n, x, ldx, y) }
	}
	sparse := func(x *engine.CSR, y ...float64) func(*randsketch.Sketch) error {
		return func(s *randsketch.Sketch) error { return s.AppendSparse(x, y) }
	}
	for name, c := range map[string]struct {
		call func(*randsketch.Sketch) error
		want func(error) bool
	}{
		"NaN":              {dense(2, []float64{1, 2, 3, nan}, 2, 1, 1), position(1, 1)},
		"infinite":         {dense(2, []float64{inf, 2, 3, 4}, 2, 1, 1), position(0, 0)},
		"NaN target":       {dense(2, []float64{1, 2, 3, 4}, 2, 1, nan), position(1, 2)},
		"large":            {dense(2, []float64{1, 2, 3, huge}, 2, 1, 1), tooLarge},
		"large target":     {dense(2, []float64{1, 2, 3, 4}, 2, 1, huge), tooLarge},
		"short":            {dense(2, []float64{1, 2, 3}, 2, 1, 1), shape},
		"negative":         {dense(-1, nil, 2), shape},
		"stride":           {dense(2, []float64{1, 2, 3, 4}, 1, 1, 1), shape},
		"targets":          {dense(2, []float64{1, 2, 3, 4}, 2, 1), shape},
		"sparse NaN":       {sparse(csr([]int{0, 1, 2}, []int32{0, 1}, 1, nan), 1, 1), position(1, 1)},
		"sparse target":    {sparse(csr([]int{0, 1, 2}, []int32{0, 1}, 1, 1), inf, 1), position(0, 2)},
		"sparse large":     {sparse(csr([]int{0, 1, 2}, []int32{0, 1}, 1, huge), 1, 1), tooLarge},
		"sparse column":    {sparse(csr([]int{0, 1, 2}, []int32{0, 2}, 1, 1), 1, 1), shape},
		"sparse negative":  {sparse(csr([]int{0, 1, 2}, []int32{0, -1}, 1, 1), 1, 1), shape},
		"sparse both":      {sparse(csr([]int{0, 2}, []int32{1, 0}, nan, 1), 1), shape},
		"sparse order":     {sparse(csr([]int{0, 2}, []int32{1, 0}, 1, 1), 1), shape},
		"sparse repeated":  {sparse(csr([]int{0, 2}, []int32{1, 1}, 1, 1), 1), shape},
		"sparse pointers":  {sparse(csr([]int{0, 3}, []int32{0, 1}, 1, 1), 1), shape},
		"sparse backwards": {sparse(csr([]int{1, 0}, []int32{0, 1}, 1, 1), 1), shape},
		"sparse targets":   {sparse(csr([]int{0, 1, 2}, []int32{0, 1}, 1, 1), 1), shape},
		"sparse width":     {sparse(&engine.CSR{Cols: 3}), shape},
	} {
		for _, kind := range kinds {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 4, Dim: 2, Targets: 1, Seed: 1}))(t)
			check(t, s.AppendRows(3, []float64{1, 2, 3, 4, 5, 6}, 2, []float64{7, 8, 9}))
			before := both(s)
			if err := c.call(s); err == nil || !c.want(err) {
				t.Errorf("%v, %s: %v", kind, name, err)
			}
			if s.Rows() != 3 || distance(both(s), before) != 0 {
				t.Errorf("%v, %s: the sketch has changed", kind, name)
			}
			// The rows to come are those that would have come anyway.
			check(t, s.AppendRows(1, []float64{1, 1}, 2, []float64{1}))
			var got, want mat.Dense
			got.Sub(s.Targets(), before.Slice(0, 4, 2, 3))
			want.CloneFrom(mat.NewVecDense(4, s.Column(3)))
			if !(distance(&got, &want) <= 100*eps) {
				t.Errorf("%v, %s: the next column is not number 3", kind, name)
			}
		}
	}
}

func TestConfigRefused(t *testing.T) {
	for _, cfg := range []randsketch.Config{
		{}, {Rows: 3}, {Dim: 3}, {Rows: -1, Dim: 3}, {Rows: 3, Dim: -1}, {Rows: 3, Dim: 3, Targets: -1},
		{Rows: 3, Dim: 3, Kind: 2}, {Rows: 3, Dim: 3, Kind: -1}, {Rows: 3, Dim: 3, Sparsity: 4},
		{Rows: 3, Dim: 3, Sparsity: -1},
	} {
		if _, err := randsketch.New(cfg); err == nil {
			t.Errorf("%+v is not refused", cfg)
		}
	}
	for _, cfg := range []randsketch.NystromConfig{{}, {Rank: 3}, {Dim: 3}, {Rank: -1, Dim: 3}, {Rank: 3, Dim: -1}} {
		if _, err := randsketch.NewNystrom(cfg); err == nil {
			t.Errorf("%+v is not refused", cfg)
		}
	}
	if _, err := randsketch.New(randsketch.Config{
		Rows:    math.MaxInt,
		Dim:     math.MaxInt,
		Targets: math.MaxInt,
	}); !errors.Is(err, fd.ErrSize) {
		t.Errorf("a sketch of all memory: %v", err)
	}
	if _, err := randsketch.NewNystrom(randsketch.NystromConfig{
		Rank: math.MaxInt,
		Dim:  math.MaxInt,
	}); !errors.Is(err, fd.ErrSize) {
		t.Errorf("an approximation of all memory: %v", err)
	}
}

// TestExtremes: data near the ends of what is admitted come through whole.
func TestExtremes(t *testing.T) {
	for _, scale := range []float64{0x1p498, 0x1p-1000} {
		for _, kind := range kinds {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 1, Dim: 1, Seed: 1}))(t)
			check(t, s.AppendRows(1, []float64{scale}, 1, nil))
			if got, want := s.Matrix().At(0, 0)/scale, s.Column(0)[0]; !(math.Abs(got-want) <= 4*eps*math.Abs(want)) {
				t.Errorf("%v: %g·S is %g·%g", kind, scale, scale, got)
			}
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		r := draw(600, 30, 1, 0.3)
		none := func(name string, f func()) {
			t.Helper()
			f()
			if got := testing.AllocsPerRun(10, f); got != 0 {
				t.Errorf("%s allocates %v times", name, got)
			}
		}
		for _, kind := range kinds {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 50, Dim: r.d, Targets: 1, Backend: be}))(t)
			none(fmt.Sprintf("%v: AppendRows", kind), func() { check(t, s.AppendRows(r.n, r.x, r.ldx, r.y)) })
			none(fmt.Sprintf("%v: AppendSparse", kind), func() { check(t, s.AppendSparse(&r.csr, r.y)) })
			none(fmt.Sprintf("%v: Reset", kind), func() { s.Reset(1) })
		}
		p := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 20, Dim: r.d, Backend: be}))(t)
		none("Nyström: AppendRows", func() { check(t, p.AppendRows(r.n, r.x, r.ldx)) })
		none("Nyström: AppendSparse", func() { check(t, p.AppendSparse(&r.csr)) })
	})
}
