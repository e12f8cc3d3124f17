package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// A law says what sparse rows of d columns look like.
type law struct {
	full   int     // so many of the first columns have entries in all rows
	level  float64 // of these
	common float64 // share of the rows with an entry in column full
}

// rows draws n rows with targets and weights, nil if they have none.
func (l law) rows(r *rand.Rand, n, d int) (x, y [][]float64, w []float64) {
	for i := range n {
		row := make([]float64, d)
		for j := range l.full {
			row[j] = l.level*(1+float64(j)) + r.NormFloat64()
		}
		if r.Float64() < l.common {
			row[l.full] = 1 + r.Float64()
		}
		if i%5 > 0 { // others have none
			row[l.full+1+r.IntN(d-l.full-2)] = r.NormFloat64() // the last column is empty
		}
		x, y = append(x, row), append(y, []float64{r.NormFloat64() + l.level/3})
		w = append(w, []float64{0, 1, 3, 0x1p-40, 0x1p40}[r.IntN(5)])
	}
	w[0] = 1
	if r.IntN(2) == 0 {
		w = nil
	}
	return x, y, w
}

// TestSparseStageErrors is TestStageErrors for rows that stay sparse, with dense ones between them,
// columns that are far from zero, full or nearly so, and columns that come and go.
func TestSparseStageErrors(t *testing.T) {
	const d = 40
	r := rand.New(rand.NewPCG(16, 15))
	worst, stayed := map[string]float64{}, 0
	for range 60 {
		parts := []*tracked{track(d, 1), track(d, 1)}
		n := 1 + r.IntN(2)
		l := law{full: r.IntN(3), level: math.Pow(10, 9*r.Float64()) * float64(r.IntN(2)), common: r.Float64()}
		for _, s := range parts[:n] {
			for range 1 + r.IntN(4) {
				x, y, w := l.rows(r, 1+r.IntN(40), d)
				switch r.IntN(8) {
				case 0:
					s.append(x, y, w)
				case 1:
					s.appendSparse(x, y, w)
					s.forget(math.Ldexp(1, -r.IntN(12)))
				default:
					s.appendSparse(x, y, w)
				}
				if r.IntN(3) == 0 {
					l.level *= -0.1
				}
				if r.IntN(4) == 0 {
					l.full = r.IntN(3)
				}
			}
		}
		if n > 1 {
			parts[0].join(parts[1])
		}
		parts[0].holds(t, worst)
		stayed += parts[0].stayed
		if t.Failed() {
			return
		}
	}
	t.Logf("%d blocks stayed sparse; largest error/bound: %v", stayed, worst)
	if stayed < 50 {
		t.Error("next to no block stays sparse")
	}
}

// TestSparseCentre: if centred rows stay sparse, the squares of their sparse parts are at most twice the squares of the
// centred rows. The squares of their centres are at most the squares of the centred rows. Columns with entries in most
// rows have a zero centre.
func TestSparseCentre(t *testing.T) {
	const d = 60
	r := rand.New(rand.NewPCG(17, 15))
	for _, l := range []law{{}, {full: 2, level: 1e8}, {common: 0.45}, {common: 0.55}, {full: 1, level: 1e8, common: 1}} {
		s := NewStage(d, 1, true)
		for range 4 {
			x, y, _ := l.rows(r, 200, d)
			b := block(x, y, true)
			sparsely(&b)
			st := s.Load(b, true)
			if st.Sparse == nil || st.N < 200 {
				t.Fatalf("%+v: rows are written out", l)
			}
			var own, rest float64
			for i := range 200 {
				row := make([]float64, d+1)
				st.Write(i, row)
				_, val := st.Sparse.Row(i)
				own += squaredNorm(val)
				rest += squaredNorm(row[:d])
			}
			if !(own <= 2*rest*(1+1e-12)) || !(200*squaredNorm(st.Centre) <= rest*(1+1e-12)) {
				t.Errorf("%+v: the squares of rows are %g, made of %g and %g", l, rest, own, 200*squaredNorm(st.Centre))
			}
			for j := range l.full {
				if st.Centre[j] != 0 {
					t.Errorf("%+v: full column %d is less %g", l, j, st.Centre[j])
				}
			}
			l.level *= 3
		}
	}
}

// sparsely drops the zeros of a block's sparse rows.
func sparsely(b *dataset.Block) {
	all := b.Sparse
	b.Sparse = &engine.CSR{Rows: all.Rows, Cols: all.Cols, RowPtr: []int{0}}
	for i := range all.Rows {
		idx, val := all.Row(i)
		for k, v := range val {
			if v != 0 {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, idx[k]), append(b.Sparse.Val, v)
			}
		}
		b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
	}
}

// TestSparseLong: rows with entries in more than an eighth of the columns are stored densely. Columns that are centred
// explicitly count as entries of every row, even of rows without an entry there.
func TestSparseLong(t *testing.T) {
	const d = 48
	r := rand.New(rand.NewPCG(18, 15))
	for _, c := range []struct {
		full, rest int
		stays      bool
	}{{0, 6, true}, {0, 7, false}, {3, 0, true}, {3, 1, false}} {
		b := dataset.Block{N: 12, Y: make([]float64, 12), Sparse: &engine.CSR{Rows: 12, Cols: d, RowPtr: []int{0}}}
		for i := range b.N {
			for j := range c.full {
				if i != j { // one row has none
					b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, int32(j)), append(b.Sparse.Val, r.NormFloat64())
				}
			}
			for j := range c.rest {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, int32(c.full+(3*i)%36+j)),
					append(b.Sparse.Val, r.NormFloat64())
			}
			b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
		}
		if got := NewStage(d, 1, true).Load(b, true).Sparse != nil; got != c.stays {
			t.Errorf("%+v: stays sparse: %v", c, got)
		}
	}
}

// TestSparseNonZero: a column of zeros, and a constant one, is told from others also where rows stay
// sparse.
func TestSparseNonZero(t *testing.T) {
	for _, c := range []struct {
		x    []float64 // of column 3, in four rows
		want bool
	}{
		{[]float64{0, 0, 0, 0}, false}, {[]float64{5, 5, 5, 5}, false}, {[]float64{5, 5, 5, 6}, true},
		{[]float64{0, 0, 5, 0}, true},
	} {
		b := dataset.Block{N: 4, Y: make([]float64, 4), Sparse: &engine.CSR{Rows: 4, Cols: 16, RowPtr: []int{0}}}
		for _, v := range c.x {
			if v != 0 {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, 3), append(b.Sparse.Val, v)
			}
			b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
		}
		s := NewStage(16, 1, true)
		if st := s.Load(b, true); st.Sparse == nil || s.NonZero[0] != c.want {
			t.Errorf("%v: some are not zero: %v", c.x, s.NonZero[0])
		}
	}
}
