package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// TestStageScatter: however the rows are cut into blocks, the outer products of
// the staged rows sum to the centred, weighted scatter of [A Y].
func TestStageScatter(t *testing.T) {
	const n, d, k = 23, 3, 2
	r := rand.New(rand.NewPCG(1, 1))
	for _, weighted := range []bool{false, true} {
		for _, intercept := range []bool{false, true} {
			for _, size := range []int{1, 2, 5, 22, 23} {
				for _, sparse := range []bool{false, true} {
					var x, y [][]float64
					var w []float64
					for i := range n {
						a, b := make([]float64, d), make([]float64, k)
						for j := range a {
							a[j] = 10 + r.NormFloat64()
						}
						for j := range b {
							b[j] = r.NormFloat64() - 5
						}
						x, y, w = append(x, a), append(y, b), append(w, float64((i+3)%4))
					}
					if !weighted {
						w = nil
					}
					s := NewStage(d, k, intercept)
					got := make([]float64, (d+k)*(d+k))
					for lo := 0; lo < n; lo += size {
						hi := min(lo+size, n)
						var bw []float64
						if weighted {
							bw = w[lo:hi]
						}
						b := block(x[lo:hi], y[lo:hi], sparse)
						b.W = bw
						addScatter(got, d, k, s.Load(b, false))
					}
					p := refbig.New(x, y, w, intercept)
					for i := range d {
						for j := range d {
							compareScatter(t, got[i*(d+k)+j], refbig.Float64s(p.K[i])[j])
						}
						for j := range k {
							compareScatter(t, got[i*(d+k)+d+j], refbig.Float64s(p.C[j])[i])
						}
					}
					for j, v := range refbig.Float64s(p.YY) {
						compareScatter(t, got[(d+j)*(d+k)+d+j], v)
					}
					if intercept {
						for j, v := range append(refbig.Float64s(p.MeanX), refbig.Float64s(p.MeanY)...) {
							compareScatter(t, s.Means()[j], v)
						}
					}
					if s.Rows != n {
						t.Errorf("%d rows", s.Rows)
					}
					if t.Failed() {
						t.Fatalf("weighted %v intercept %v size %d sparse %v", weighted, intercept, size, sparse)
					}
				}
			}
		}
	}
}

func block(x, y [][]float64, sparse bool) dataset.Block {
	b := dataset.Block{N: len(x)}
	s := &engine.CSR{Rows: len(x), Cols: len(x[0]), RowPtr: []int{0}}
	for i, row := range x {
		b.X, b.Y = append(b.X, row...), append(b.Y, y[i]...)
		for j, v := range row {
			s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, v)
		}
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	if sparse {
		b.X, b.Sparse = nil, s
	}
	return b
}

// features writes the features of dense rows.
func features(st Staged, d int) []float64 {
	out := make([]float64, st.N*d)
	st.Rows(0, engine.View(st.N, d, out))
	return out
}

func addScatter(sum []float64, d, k int, st Staged) {
	for i := range st.N {
		row := make([]float64, d+k)
		if st.Sparse != nil {
			idx, val := st.Sparse.Row(i)
			for l, j := range idx {
				row[j] = val[l]
			}
		} else {
			copy(row, features(st, d)[i*d:(i+1)*d])
		}
		copy(row[d:], st.Y[i*k:(i+1)*k])
		for a := range row {
			vec.Axpy(row[a], row, sum[a*(d+k):(a+1)*(d+k)])
		}
	}
}

func compareScatter(t *testing.T, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) {
		t.Errorf("%.17g, want %.17g", got, want)
	}
}

// TestStageConstant: constant columns leave nothing behind, for values, weights
// and blocks of any kind, and rows without weight do not count.
func TestStageConstant(t *testing.T) {
	s := NewStage(2, 1, true)
	for i, w := range [][]float64{nil, {0, 3, 0.1}, {0, 0, 0}, nil, {1e-3, 7, 1}} {
		x := [][]float64{{0.1, 1e17 / 3}, {0.1, 1e17 / 3}, {0.1, 1e17 / 3}}
		y := [][]float64{{1.0 / 7}, {1.0 / 7}, {1.0 / 7}}
		if w != nil && w[0] == 0 {
			x[0][0], y[0][0] = 1e30, -1e30
		}
		b := block(x, y, false)
		b.W = w
		st := s.Load(b, false)
		for _, v := range append(features(st, 2), st.Y...) {
			if v != 0 {
				t.Errorf("block %d: %g left of a constant", i, v)
			}
		}
	}
	for j, v := range []float64{0.1, 1e17 / 3, 1.0 / 7} {
		if m := s.Means()[j]; m != v {
			t.Errorf("mean %v, want %v", m, v)
		}
	}
}

// TestStageLeavesBlockAlone: a block belongs to its source.
func TestStageLeavesBlockAlone(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		x, y := [][]float64{{1, 2}, {3, 4}}, [][]float64{{5}, {6}}
		b, want := block(x, y, sparse), block(x, y, sparse)
		b.W = []float64{2, 3}
		NewStage(2, 1, true).Load(b, false)
		NewStage(2, 1, false).Load(b, false)
		for i := range want.Y {
			if b.Y[i] != want.Y[i] {
				t.Errorf("y changed to %v", b.Y)
			}
		}
		for i := range want.X {
			if b.X[i] != want.X[i] {
				t.Errorf("x changed to %v", b.X)
			}
		}
		if sparse {
			for i := range want.Sparse.Val {
				if b.Sparse.Val[i] != want.Sparse.Val[i] {
					t.Errorf("sparse changed to %v", b.Sparse.Val)
				}
			}
		}
	}
}
