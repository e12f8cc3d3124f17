package fd_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// The tests of this file go through the table of wrong and odd input, row by row;
// what is asked of files and of ridge itself is in their packages.

// A badCall is one that a sketch of badDim features and badSize rows must refuse.
type badCall struct {
	row, name string
	call      func(s *fd.Sketch) error
	ok        func(err error) bool
}

const badDim, badSize = 4, 3

func badCalls(t *testing.T) []badCall {
	nan, inf := math.NaN(), math.Inf(1)
	// with is 9 rows of ones with one value in row 7, column 2.
	with := func(v float64) []float64 {
		x := make([]float64, 9*badDim)
		for i := range x {
			x[i] = 1
		}
		x[7*badDim+2] = v
		return x
	}
	at := func(row, col int) func(error) bool {
		return func(err error) bool {
			var e *fd.NonFiniteError
			return errors.As(err, &e) && e.Row == row && e.Col == col && !errors.Is(err, fd.ErrShape)
		}
	}
	tooLarge := func(row int) func(error) bool {
		return func(err error) bool {
			var e *fd.RangeError
			return errors.As(err, &e) && e.Row == row
		}
	}
	format := func(err error) bool {
		var e *fd.FormatError
		return errors.As(err, &e)
	}
	anything := func(err error) bool { return err != nil }
	other := func(cfg fd.Config, rows ...float64) *fd.Sketch {
		s := newSketch(t, cfg)
		check(t, s.AppendRows(len(rows)/cfg.Dim, rows, cfg.Dim))
		return s
	}
	message := must(other(fd.Config{Dim: badDim, Size: badSize}, with(2)...).MarshalBinary())(t)
	flipped := bytes.Clone(message)
	flipped[len(flipped)/2] ^= 1
	same := fd.Config{Dim: badDim, Size: badSize}

	// block is sparse rows as they are not, or not all there.
	block := func(rows int, ptr []int, idx []int32, val ...float64) func(s *fd.Sketch) error {
		return func(s *fd.Sketch) error {
			return s.AppendSparse(&engine.CSR{Rows: rows, Cols: badDim, RowPtr: ptr, ColIdx: idx, Val: val})
		}
	}

	calls := []badCall{
		{"nil", "sketch merged", func(s *fd.Sketch) error { return s.Merge(nil) }, isShape},
		{"nil", "matrix", func(s *fd.Sketch) error { return s.Append(nil) }, isShape},
		{"nil", "dense matrix", func(s *fd.Sketch) error { return s.Append((*mat.Dense)(nil)) }, isShape},
		{"nil", "sparse block", func(s *fd.Sketch) error { return s.AppendSparse(nil) }, isShape},
		{"nil", "row", func(s *fd.Sketch) error { return s.AppendRow(nil) }, isShape},
		{"nil", "rows", func(s *fd.Sketch) error { return s.AppendRows(2, nil, badDim) }, isShape},
		{"nil", "message", func(s *fd.Sketch) error { return s.UnmarshalBinary(nil) }, format},
		{"sparse", "no RowPtr", block(2, nil, []int32{0, 1}, 1, 1), isShape},
		{"sparse", "short RowPtr", block(2, []int{0, 1}, []int32{0, 1}, 1, 1), isShape},
		{"sparse", "RowPtr falls", block(2, []int{0, 2, 1}, []int32{0, 1}, 1, 1), isShape},
		{"sparse", "RowPtr beyond the entries", block(2, []int{0, 1, 3}, []int32{0, 1}, 1, 1), isShape},
		{"sparse", "RowPtr beyond all int", block(1, []int{0, math.MaxInt}, []int32{0, 1}, 1, 1), isShape},
		{"sparse", "negative RowPtr", block(1, []int{-1, 1}, []int32{0, 1}, 1, 1), isShape},
		{"sparse", "short Val", block(2, []int{0, 1, 2}, []int32{0, 1}, 1), isShape},
		{"sparse", "no Val", block(1, []int{0, 1}, []int32{0}), isShape},
		{"sparse", "short ColIdx", block(2, []int{0, 1, 2}, []int32{0}, 1, 1), isShape},
		{"sparse", "negative column", block(1, []int{0, 1}, []int32{-1}, 1), isShape},
		{"sparse", "negative rows", block(-1, []int{0}, nil), isShape},
		{"sparse", "rows beyond all int", block(math.MaxInt, []int{0, 1}, []int32{0}, 1), isShape},
		{"range", "1e200", func(s *fd.Sketch) error { return s.AppendRows(9, with(1e200), badDim) }, tooLarge(7)},
		{
			"range",
			"1e200 sparse",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{1}, -1e200)) },
			tooLarge(0),
		},
		{
			"range",
			"1e200 in a row",
			func(s *fd.Sketch) error { return s.AppendRow([]float64{0, 1e200, 0, 0}) },
			tooLarge(0),
		},
		{
			"range",
			"1e200 in a matrix",
			func(s *fd.Sketch) error { return s.Append(mat.NewDense(9, badDim, with(1e200))) },
			tooLarge(7),
		},
		{
			"range",
			"the largest number",
			func(s *fd.Sketch) error { return s.AppendRows(9, with(math.MaxFloat64), badDim) },
			tooLarge(7),
		},
		{"range", "only their sum overflows", func(s *fd.Sketch) error {
			x := make([]float64, 16*badDim)
			for i := range x {
				x[i] = 9e149
			}
			return s.AppendRows(16, x, badDim)
		}, func(err error) bool { var e *fd.RangeError; return errors.As(err, &e) && e.Row >= 2 }},
		{"range", "a merge overflows", func(s *fd.Sketch) error {
			o := other(same, 1e150, 1e150, 1e150, 0)
			for i := 0; ; i++ { // it grows until a merge is refused: so was the last
				before := state(t, s)
				if err := s.Merge(o); err != nil {
					if !bytes.Equal(before, state(t, s)) {
						t.Error("a merge that overflows changed the receiver")
					}
					return err
				} else if i == 50 {
					return errors.New("fifty merges of 3e300 are admitted")
				}
			}
		}, func(err error) bool { var e *fd.RangeError; return errors.As(err, &e) }},

		{"shapes", "a short row", func(s *fd.Sketch) error { return s.AppendRow(make([]float64, badDim-1)) }, isShape},
		{"shapes", "a long row", func(s *fd.Sketch) error { return s.AppendRow(make([]float64, badDim+1)) }, isShape},
		{"shapes", "no row", func(s *fd.Sketch) error { return s.AppendRow(nil) }, isShape},
		{
			"shapes",
			"a wide matrix",
			func(s *fd.Sketch) error { return s.Append(mat.NewDense(3, badDim+1, nil)) },
			isShape,
		},
		{
			"shapes",
			"a narrow matrix",
			func(s *fd.Sketch) error { return s.Append(mat.NewVecDense(badDim, nil)) },
			isShape,
		},
		{
			"shapes",
			"a slice that ends early",
			func(s *fd.Sketch) error { return s.AppendRows(3, make([]float64, 3*badDim-1), badDim) },
			isShape,
		},
		{
			"shapes",
			"a stride below d",
			func(s *fd.Sketch) error { return s.AppendRows(3, make([]float64, 3*badDim), badDim-1) },
			isShape,
		},
		{
			"shapes",
			"a stride of zero",
			func(s *fd.Sketch) error { return s.AppendRows(3, make([]float64, 3*badDim), 0) },
			isShape,
		},
		{
			"shapes",
			"a negative stride",
			func(s *fd.Sketch) error { return s.AppendRows(3, make([]float64, 3*badDim), -badDim) },
			isShape,
		},
		{
			"shapes",
			"a stride that overflows",
			func(s *fd.Sketch) error { return s.AppendRows(3, make([]float64, 3*badDim), math.MaxInt/2) },
			isShape,
		},
		{
			"shapes",
			"a negative number of rows",
			func(s *fd.Sketch) error { return s.AppendRows(-1, make([]float64, badDim), badDim) },
			isShape,
		},
		{
			"shapes",
			"rows that overflow",
			func(s *fd.Sketch) error { return s.AppendRows(math.MaxInt, make([]float64, badDim), badDim) },
			isShape,
		},
		{
			"shapes",
			"sparse, other d",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim+1, []int32{0}, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse, indices out of order",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{2, 1}, 1, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse, an index twice",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{1, 1}, 1, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse, index d",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{badDim}, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse, a negative index",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{-1}, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse, fewer values than indices",
			func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{0, 1}, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse, no row pointers",
			func(s *fd.Sketch) error { return s.AppendSparse(&engine.CSR{Rows: 1, Cols: badDim}) },
			isShape,
		},
		{"shapes", "sparse, row pointers that fall", func(s *fd.Sketch) error {
			return s.AppendSparse(
				&engine.CSR{Rows: 2, Cols: badDim, RowPtr: []int{0, 1, 0}, ColIdx: []int32{0}, Val: []float64{1}},
			)
		}, isShape},
		{
			"shapes",
			"sparse, negative rows",
			func(s *fd.Sketch) error { return s.AppendSparse(&engine.CSR{Rows: -1, Cols: badDim}) },
			isShape,
		},
		{"shapes", "merged with itself", func(s *fd.Sketch) error { return s.Merge(s) }, isShape},
		{
			"shapes",
			"merged with another d",
			func(s *fd.Sketch) error { return s.Merge(newSketch(t, fd.Config{Dim: badDim + 1, Size: badSize})) },
			isShape,
		},
		{
			"shapes",
			"merged with another m",
			func(s *fd.Sketch) error { return s.Merge(newSketch(t, fd.Config{Dim: badDim, Size: badSize - 1})) },
			isShape,
		},

		{"wire", "nothing", func(s *fd.Sketch) error { return s.UnmarshalBinary(nil) }, format},
		{"wire", "cut", func(s *fd.Sketch) error { return s.UnmarshalBinary(message[:len(message)-1]) }, format},
		{"wire", "a bit", func(s *fd.Sketch) error { return s.UnmarshalBinary(flipped) }, format},
		{
			"wire",
			"more behind it",
			func(s *fd.Sketch) error { return s.UnmarshalBinary(append(bytes.Clone(message), 0)) },
			format,
		},
		{
			"wire",
			"a cut stream",
			func(s *fd.Sketch) error { _, err := s.ReadFrom(bytes.NewReader(message[:40])); return err },
			format,
		},
		{
			"wire",
			"a bit in a stream",
			func(s *fd.Sketch) error { _, err := s.ReadFrom(bytes.NewReader(flipped)); return err },
			format,
		},
		{
			"wire",
			"another stream",
			func(s *fd.Sketch) error { _, err := s.ReadFrom(strings.NewReader("x1,x2,y\n1,2,3\n")); return err },
			format,
		},
	}
	for _, v := range []float64{nan, inf, -inf} {
		calls = append(
			calls,
			badCall{
				"not finite",
				fmt.Sprint(v, " in a slice"),
				func(s *fd.Sketch) error { return s.AppendRows(9, with(v), badDim) },
				at(7, 2),
			},
			badCall{
				"not finite",
				fmt.Sprint(v, " in a row"),
				func(s *fd.Sketch) error { return s.AppendRow([]float64{1, 2, 3, v}) },
				at(0, 3),
			},
			badCall{
				"not finite",
				fmt.Sprint(v, " in a matrix"),
				func(s *fd.Sketch) error { return s.Append(mat.NewDense(9, badDim, with(v))) },
				at(7, 2),
			},
			badCall{"not finite", fmt.Sprint(v, " in a transpose"), func(s *fd.Sketch) error {
				return s.Append(mat.DenseCopyOf(mat.NewDense(9, badDim, with(v)).T()).T())
			}, at(7, 2)},
			badCall{
				"not finite",
				fmt.Sprint(v, " in a sparse row"),
				func(s *fd.Sketch) error { return s.AppendSparse(sparse(badDim, []int32{0, 3}, 1, v)) },
				at(0, 3),
			},
			badCall{"not finite", fmt.Sprint(v, " as decay"), func(s *fd.Sketch) error { return s.Decay(v) }, anything},
		)
	}
	for _, beta := range []float64{0, -1, 1.0000001} {
		calls = append(
			calls,
			badCall{
				"not finite",
				fmt.Sprint("decay ", beta),
				func(s *fd.Sketch) error { return s.Decay(beta) },
				anything,
			},
		)
	}
	return calls
}

func state(t *testing.T, s *fd.Sketch) []byte {
	t.Helper()
	return must(s.MarshalBinary())(t)
}

// TestBadInput: each call that must be refused returns the promised error and does not change a bit of the receiver.
// The receiver is a sketch that is empty, has fewer rows than it keeps, is full, or has shrunk.
func TestBadInput(t *testing.T) {
	calls := badCalls(t)
	for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
		for _, rows := range []int{0, 1, badSize + 2, 41} {
			a := stream(rand.New(rand.NewPCG(4, 1)), 41, badDim, "flat")
			for _, c := range calls {
				s := newSketch(t, fd.Config{Dim: badDim, Size: badSize, ShrinkRows: 2, Shrink: driver})
				if rows > 0 {
					check(t, s.Append(a.Slice(0, rows, 0, badDim)))
				}
				before := state(t, s)
				if err := c.call(s); err == nil || !c.ok(err) {
					t.Errorf("%s: %s: %v", c.row, c.name, err)
				}
				if c.name != "a merge overflows" && !bytes.Equal(before, state(t, s)) {
					t.Errorf("%s: %s: after %d rows the refused call changed the sketch", c.row, c.name, rows)
				}
			}
		}
	}
}

// TestBadConfig: a sketch that cannot be is refused by the constructor: m·d and
// (m+p)·d beyond what can be addressed by ErrSize.
func TestBadConfig(t *testing.T) {
	const huge = math.MaxInt
	for _, cfg := range []fd.Config{
		{Dim: huge, Size: huge}, {Dim: huge / 8, Size: 9}, {Dim: huge / 4, Size: huge / 4},
		{Dim: 2, Size: 2, ShrinkRows: huge},
	} {
		if s, err := fd.New(cfg); !errors.Is(err, fd.ErrSize) || s != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []fd.Config{
		{}, {Dim: 3}, {Size: 3}, {Dim: -1, Size: 2}, {Dim: 2, Size: -1}, {Dim: 3, Size: 2, ShrinkRows: -1},
		{Dim: 3, Size: 2, Shrink: -1},
	} {
		if s, err := fd.New(cfg); err == nil || s != nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// oddInput has matrices with unusual entries, which every sketch must accept.
var oddInput = map[string]func(i, j int) float64{
	"zero matrix":      func(i, j int) float64 { return 0 },
	"negative zeros":   func(i, j int) float64 { return math.Copysign(0, -1) },
	"zero rows":        func(i, j int) float64 { return float64(i%3) * float64(j+1) },
	"constant columns": func(i, j int) float64 { return float64(j) - 1 },
	"one column":       func(i, j int) float64 { return map[bool]float64{true: float64(i)}[j == 0] },
	"least denormal":   func(i, j int) float64 { return 5e-324 },
	"denormals":        func(i, j int) float64 { return 1e-310 * math.Sin(float64(7*i+j)) },
	"squares vanish":   func(i, j int) float64 { return 1e-170 * math.Cos(float64(5*i+j)) },
	"rank one":         func(i, j int) float64 { return float64(i+1) * float64(j+1) },
	"rank two":         func(i, j int) float64 { return float64(i+1)*float64(j+1) + float64(i%2) },
	"repeated σ":       func(i, j int) float64 { return map[bool]float64{true: 2}[i%5 == j] },
	"duplicated rows":  func(i, j int) float64 { return math.Sin(float64(3*(i/4) + j)) },
	"near the limit":   func(i, j int) float64 { return 1e148 * math.Sin(float64(i+9*j)) },
	"wide range":       func(i, j int) float64 { return math.Pow(10, float64(40*(j%6)-120)) * math.Cos(float64(i*j+i)) },
}

// TestOddInput: no NaN, no infinity, and the bounds hold, whatever the shape: no rows,
// one, n < m, n < d, d = 1, m ≥ d.
func TestOddInput(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for name, f := range oddInput {
			for _, shape := range []struct{ n, d, m int }{
				{0, 3, 2}, {1, 1, 1}, {1, 5, 2}, {3, 5, 4}, {3, 9, 2}, {40, 1, 3}, {40, 5, 5}, {40, 5, 9}, {60, 6, 3},
			} {
				for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
					s := newSketch(
						t,
						fd.Config{Dim: shape.d, Size: shape.m, ShrinkRows: 2, Shrink: driver, Backend: be},
					)
					var a *mat.Dense
					if shape.n > 0 {
						a = mat.NewDense(shape.n, shape.d, nil)
						a.Apply(func(i, j int, _ float64) float64 { return f(i, j) }, a)
						check(t, s.Append(a))
					}
					p := must(s.Spectrum())(t)
					for _, v := range append(p.V, append(p.Sigma2, p.Bound.FD(), p.Bound.RFD(), p.Bound.Tail, s.Bound().FD())...) {
						if !(math.Abs(v) <= math.MaxFloat64) {
							t.Fatalf("%s, %+v, %v: %v comes out", name, shape, driver, v)
						}
					}
					if len(p.Sigma2) > 0 {
						orthonormal(t, p)
						if _, hi := extremes(gap(a, p.Matrix())); !(hi <= p.Bound.FD()) {
							t.Errorf(
								"%s, %+v, %v: λmax(AᵀA − BᵀB) is %g, bounded by %g",
								name,
								shape,
								driver,
								hi,
								p.Bound.FD(),
							)
						}
					}
				}
			}
		}
	})
}
