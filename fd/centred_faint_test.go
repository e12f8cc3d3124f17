package fd_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

// addCentred adds to K, in 512 bits, the products of rows x less times·centre.
func addCentred(k [][]*big.Float, x *engine.CSR, times, centre []float64) {
	row := make([]*big.Float, len(centre))
	for i := range x.Rows {
		for j, v := range centre {
			row[j] = mul(number(-times[i]), number(v))
		}
		idx, val := x.Row(i)
		for e, j := range idx {
			row[j].Add(row[j], number(val[e]))
		}
		for j, v := range row {
			for l, u := range row {
				k[j][l].Add(k[j][l], mul(v, u))
			}
		}
	}
}

// faintRows are rows of 16 columns with an entry in some, less multiples of a centre: together far·faint is
// of the size of the entries.
func faintRows(faint, far float64) (x *engine.CSR, times, centre []float64) {
	const n, d = 12, 16
	x = &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	times, centre = make([]float64, n), make([]float64, d)
	for j := range centre {
		centre[j] = faint / float64(3+j)
	}
	for i := range n {
		times[i] = far / float64(7-i)
		if i == 7 {
			times[i] = far
		}
		if i%3 > 0 {
			x.ColIdx, x.Val = append(x.ColIdx, int32(5*i%d)), append(x.Val, faint*far*math.Sqrt(float64(i)))
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	return x, times, centre
}

// TestCentredFaint: of a centre that is next to nothing, whose square underflows, a row may be a multiple
// as long as any other.
func TestCentredFaint(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, r := range []int{-1, 60} {
			for _, faint := range []float64{1e-140, 1e-162, 1e-300} {
				x, times, centre := faintRows(faint, 1e145)
				s := newSketch(
					t,
					fd.Config{Dim: 16, Size: 3, ShrinkRows: 4, SparseRows: r, Store: fd.StoreRows, Backend: be},
				)
				check(t, s.AppendCentred(x, times, centre))
				k := bigGram(mat.NewDense(1, 16, nil))
				addCentred(k, x, times, centre)
				withinBig(t, k, must(s.Spectrum())(t))
				trace := new(big.Float)
				for j := range k {
					trace.Add(trace, k[j][j])
				}
				want, _ := trace.Float64()
				if got := s.Bound(); !(math.Abs(got.Frobenius2-want) <= 64*eps*want) {
					t.Errorf("%g, %d sparse rows: ‖A‖² is %g, want %g", faint, r, got.Frobenius2, want)
				}
			}
		}
	})
}

// TestCentredFaintBooks: the round-off of rows that are written out includes the rounding of their multiples of the
// centre.
func TestCentredFaintBooks(t *testing.T) {
	const n, d, f = 8, 200, 1e145
	centre, times := make([]float64, d), make([]float64, n)
	for j := range centre {
		centre[j] = 1e-170
	}
	for i := range times {
		times[i] = f
	}
	s := newSketch(t, fd.Config{Dim: d, Size: 3, ShrinkRows: 20, SparseRows: 40})
	check(t, s.AppendCentred(&engine.CSR{Rows: n, Cols: d, RowPtr: make([]int, n+1)}, times, centre))
	if got, want := s.Bound().RoundOff, 0.999*3*eps*n*d*1e-50; !(got >= want) {
		t.Errorf("the pad is %g, want %g or more", got, want)
	}
}

// TestCentredFade: decays leave rows what they were, though nothing is left of the square of their centre,
// and the sketch can be read again.
func TestCentredFade(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, far := range []float64{1, 1e140} {
			for _, beta := range []float64{1e-290, 1e-73} {
				x, times, centre := faintRows(1e-16, far)
				s := newSketch(
					t,
					fd.Config{Dim: 16, Size: 3, ShrinkRows: 4, SparseRows: 60, Backend: be, Store: fd.StoreRows},
				)
				check(t, s.AppendCentred(x, times, centre))
				k := bigGram(mat.NewDense(1, 16, nil))
				addCentred(k, x, times, centre)
				for range 4 {
					check(t, s.Decay(beta))
					for i := range k {
						for j := range k {
							k[i][j] = mul(k[i][j], number(beta))
						}
					}
					same(t, fmt.Sprintf("decayed by %g", beta), reread(t, s, "bytes"), s)
				}
				withinBig(t, k, must(s.Spectrum())(t))
			}
		}
	})
}

// TestCentredCancelling: rows minus their multiples of the centre may be zero although the squares of both sum to more
// than [fd.MaxSquares]. Such a sketch can be written, read and merged.
func TestCentredCancelling(t *testing.T) {
	const n, d = 12, 16
	x := &engine.CSR{Rows: n, Cols: d, RowPtr: make([]int, n+1)}
	centre := make([]float64, d)
	centre[3] = 0x1p499
	for i := range n {
		x.RowPtr[i+1] = i + 1
		x.ColIdx, x.Val = append(x.ColIdx, 3), append(x.Val, 0x1p499)
	}
	s := newSketch(t, fd.Config{Dim: d, Size: 3, SparseRows: 60})
	check(t, s.AppendCentred(x, nil, centre))
	r := reread(t, s, "bytes")
	same(t, "nothing but what cancels", r, s)
	check(t, r.Merge(s))
	if b := must(r.Spectrum())(t).Bound; !(b.RoundOff < math.Inf(1)) {
		t.Errorf("%+v", b)
	}
}

// TestCentredOutOfOrder: centres of waiting rows come in the order of the rows.
func TestCentredOutOfOrder(t *testing.T) {
	mixed := centredGolden(t, nil)["mixed"]
	b := marshal(t, mixed)
	const centres = 144 + 8*17*3 + 8*10 + 12*9 + 8*9
	bad := bytes.Clone(b)
	wiretest.Put(bad, centres+8*3, 3)
	if e := refuses(t, "centres out of order", wiretest.Seal(bad), mixed); e.Offset != centres+8*5 {
		t.Error(e)
	}
}

// TestCentredFewRows: a shrink leaves no more rows than were appended, though centres took part in it.
func TestCentredFewRows(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		s := newSketch(t, fd.Config{Dim: 11, Size: 6, ShrinkRows: 8, SparseRows: 60, Store: fd.StoreRows})
		row, centre := make([]float64, 11), make([]float64, 11)
		for j := range centre {
			row[j], centre[j] = rng.NormFloat64(), rng.NormFloat64()
		}
		check(t, s.AppendRow(row))
		x := &engine.CSR{
			Rows:   2,
			Cols:   11,
			RowPtr: []int{0, 1, 2},
			ColIdx: []int32{0, 2},
			Val:    []float64{rng.NormFloat64(), 0},
		}
		check(t, s.AppendCentred(x, []float64{1e-8, 1e-8}, centre))
		check(t, s.Decay(1e-290))
		same(t, fmt.Sprint(seed), reread(t, s, "bytes"), s)
	}
}
