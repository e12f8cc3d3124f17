package rows

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A tracked stage knows the rows that it has seen, at the weights that decays have left
// them, and the exact scatter of what it Staged.
type tracked struct {
	*Stage
	x, y    [][]float64
	w       []float64
	scatter [][]*big.Float // (d+t)²
	stayed  int            // blocks that stayed sparse
}

func track(d, t int) *tracked {
	out := &tracked{Stage: NewStage(d, t, true)}
	for range d + t {
		row := make([]*big.Float, d+t)
		for j := range row {
			row[j] = refbig.Float(0)
		}
		out.scatter = append(out.scatter, row)
	}
	return out
}

func (s *tracked) take(st Staged) {
	x := features(st, s.d)
	for i := range st.N {
		row := make([]*big.Float, 0, s.d+s.t)
		for _, v := range append(append([]float64(nil), x[i*s.d:(i+1)*s.d]...), st.Y[i*s.t:(i+1)*s.t]...) {
			row = append(row, refbig.Float(v))
		}
		if st.Centre != nil && i < st.Sparse.Rows { // a difference that is never rounded
			exactly(st, i, row[:s.d])
		}
		for a, v := range row {
			for b, u := range row[:a+1] {
				if v.Sign() != 0 && u.Sign() != 0 {
					s.scatter[a][b].Add(s.scatter[a][b], new(big.Float).Mul(v, u))
				}
			}
		}
	}
	for a, row := range s.scatter {
		for b := range a {
			s.scatter[b][a].Set(row[b])
		}
	}
}

// exactly overwrites dst with sparse row i less its centre.
func exactly(st Staged, i int, dst []*big.Float) {
	f := 1.0
	if st.Times != nil {
		f = st.Times[i]
	}
	for j, v := range st.Centre {
		dst[j] = new(big.Float).Mul(refbig.Float(-f), refbig.Float(v))
	}
	idx, val := st.Sparse.Row(i)
	for k, j := range idx {
		dst[j].Add(dst[j], refbig.Float(val[k]))
	}
}

func (s *tracked) append(x, y [][]float64, w []float64) {
	s.load(block(x, y, false), x, y, w)
}

// appendSparse appends the rows as sparse rows: only the nonzero entries are given.
func (s *tracked) appendSparse(x, y [][]float64, w []float64) {
	b := block(x, y, true)
	sparsely(&b)
	s.load(b, x, y, w)
}

func (s *tracked) load(b dataset.Block, x, y [][]float64, w []float64) {
	b.W = w
	st := s.Load(b, true)
	if st.Sparse != nil {
		s.stayed++
	}
	s.take(st)
	s.x, s.y = append(s.x, x...), append(s.y, y...)
	for i := range x {
		s.w = append(s.w, dataset.Block{W: w}.Weight(i))
	}
}

func (s *tracked) forget(beta float64) {
	s.Decay(beta)
	for i := range s.w {
		s.w[i] *= beta
	}
	for _, row := range s.scatter {
		for _, v := range row {
			v.Mul(v, refbig.Float(beta))
		}
	}
}

func (s *tracked) join(o *tracked) {
	for a, row := range o.scatter {
		for b, v := range row {
			s.scatter[a][b].Add(s.scatter[a][b], v)
		}
	}
	s.take(s.Merge(o.Stage))
	s.x, s.y, s.w = append(s.x, o.x...), append(s.y, o.y...), append(s.w, o.w...)
}

// TestStageErrors: the means and the scatter of staged rows are off by no more than the
// stage says, however levels drift, rows are weighted, forgotten and merged.
func TestStageErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	worst := map[string]float64{}
	for range 600 {
		parts := []*tracked{track(2, 1), track(2, 1), track(2, 1)}
		n := 1 + r.IntN(3)
		far := math.Pow(10, 12*r.Float64())
		for _, s := range parts[:n] {
			at := far * r.NormFloat64() * float64(r.IntN(2))
			for range 1 + r.IntN(12) {
				drift(r, s, at)
				if r.IntN(3) == 0 {
					at *= 0.1
				}
				if r.IntN(3) == 0 {
					s.forget(math.Ldexp(1, -r.IntN(12)))
				}
			}
		}
		if n > 1 && r.IntN(2) == 0 { // parts of much more weight are merged into it
			parts[0] = track(2, 1)
			parts[0].append([][]float64{{r.NormFloat64(), 1}}, [][]float64{{2}}, []float64{0x1p-70})
		}
		for _, o := range parts[1:n] {
			parts[0].join(o)
		}
		parts[0].holds(t, worst)
		if t.Failed() {
			return
		}
	}
	for range 100 { // each near its own origin, which are far apart
		near, far := track(2, 1), track(2, 1)
		for _, s := range []*tracked{near, far} {
			at := 0.0
			if s == far {
				at = 1e9 * r.NormFloat64()
			}
			s.append(
				[][]float64{{at, 1}, {at + r.NormFloat64(), 2}, {at, 3}},
				[][]float64{{at}, {at + r.NormFloat64()}, {1 - at}},
				nil,
			)
		}
		near.join(far)
		near.holds(t, worst)
	}
	t.Logf("largest error/bound: %v", worst)
	for what, v := range worst {
		if !(v > 1e-4) {
			t.Errorf("%s: the bound is never within 10⁴ times the error", what)
		}
	}
}

// drift appends a block near a level; its first row may be far away and next to weightless.
func drift(r *rand.Rand, s *tracked, at float64) {
	var x, y [][]float64
	var w []float64
	for i := range 1 + r.IntN(20) {
		level, weight := at, float64(1+r.IntN(7))
		if i == 0 && r.IntN(4) == 0 {
			level, weight = at+1e9*r.NormFloat64(), 0x1p-80
		}
		x = append(x, []float64{level + r.NormFloat64(), r.NormFloat64() - level})
		y, w = append(y, []float64{level/3 + r.NormFloat64()}), append(w, weight)
	}
	if r.IntN(3) == 0 {
		w = nil
	}
	s.append(x, y, w)
}

// holds compares with the exact means and scatter.
func (s *tracked) holds(t *testing.T, worst map[string]float64) {
	p := refbig.New(s.x, s.y, s.w, true)
	held := func(what string, off *big.Float, bound float64) {
		ratio, _ := new(big.Float).Quo(new(big.Float).Abs(off), refbig.Float(bound)).Float64()
		worst[what] = math.Max(worst[what], ratio)
		if !(ratio <= 1) {
			t.Errorf("%s: off by %.3g, bound %.3g", what, off, bound)
		}
	}
	means, wrong := s.Means(), s.MeanErrors()
	for j, m := range append(append([]*big.Float(nil), p.MeanX...), p.MeanY...) {
		held("mean", new(big.Float).Sub(refbig.Float(means[j]), m), wrong[j]+1e-300)
	}
	size, off := make([]float64, s.d+s.t), make([]float64, s.d+s.t)
	for j := range size {
		v, _ := s.scatter[j][j].Float64()
		size[j] = math.Sqrt(v)
		off[j] = s.Displaced(j, size[j]) + 1e-150
	}
	for a := range size {
		for b := range size {
			var truth *big.Float
			switch {
			case a < s.d && b < s.d:
				truth = p.K[a][b]
			case a < s.d:
				truth = p.C[b-s.d][a]
			case b < s.d:
				truth = p.C[a-s.d][b]
			default:
				truth = p.YY[a-s.d]
			}
			held("scatter", new(big.Float).Sub(s.scatter[a][b], truth), size[a]*off[b]+size[b]*off[a]+off[a]*off[b])
		}
	}
}

// TestStageWeight: the error of the total weight after weights and decays is within the bound of the stage. The bound
// does not grow with decays whose rows are forgotten.
func TestStageWeight(t *testing.T) {
	s := NewStage(1, 1, true)
	truth, worst := refbig.Float(0), 0.0
	for range 3000 {
		b := block([][]float64{{1}, {2}}, [][]float64{{1}, {3}}, false)
		b.W = []float64{0.1, 0.7}
		s.Load(b, false)
		s.Decay(0.9)
		truth.Add(truth, refbig.Float(0.1))
		truth.Add(truth, refbig.Float(0.7))
		truth.Mul(truth, refbig.Float(0.9))
		w := s.Weight.Value()
		off, _ := new(big.Float).Sub(refbig.Float(w), truth).Float64()
		bound := s.RelativeWeight(w) * w
		worst = math.Max(worst, math.Abs(off)/bound)
		if !(math.Abs(off) <= bound) {
			t.Fatalf("the weight %g is off by %g, bound %g", w, off, bound)
		}
	}
	if v := s.RelativeWeight(s.Weight.Value()); !(v <= 100*roundoff.Unit) || !(worst > 1e-3) {
		t.Errorf("after 3000 decays the weight may be off by %g of itself; it was by %g of the bound", v, worst)
	}
}
