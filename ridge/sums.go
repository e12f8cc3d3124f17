package ridge

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// sums are what is added up over the rows of A (d features) and their t targets, and the
// witness Kh = Aᵀ(Ah), by which a pass is known to read the same rows (docs/math.md §15).
type sums struct {
	d, t  int
	cross []neumaier.Sum // c = AᵀY, t×d, and Kh behind it, 1×d
	yy    []neumaier.Sum // ‖Y‖² of each target
	h     []float64      // nil until it is needed

	// Work for some rows.
	share   []float64 // of the rows in cross, (t+1)×d
	targets []float64 // those of the rows, each with hᵀa behind it, n×(t+1); then all hᵀa, n
}

func newSums(d, t int) sums {
	return sums{d: d, t: t, cross: make([]neumaier.Sum, (t+1)*d), yy: make([]neumaier.Sum, t)}
}

// add adds rows that are staged.
func (s *sums) add(be engine.Backend, st rows.Staged) {
	if s.h == nil {
		s.h = certify.Probe(s.d)
	}
	if st.Sparse != nil {
		s.addSparse(st)
	} else {
		s.addDense(be, st)
	}
	for i, v := range st.Y[:st.N*s.t] {
		s.yy[i%s.t].Add(v * v)
	}
}

// addDense adds dense rows to cross, so many at a time that the round-off of their products
// does not grow with n.
func (s *sums) addDense(be engine.Backend, st rows.Staged) {
	d, t := s.d, s.t
	s.share = vec.Grow(s.share, (t+1)*d)
	for lo := 0; lo < st.N; lo += roundoff.SumRows {
		n := min(roundoff.SumRows, st.N-lo)
		x := st.X[lo*d : (lo+n)*d]
		be.Gemm(true, false, 1, engine.View(n, t+1, s.withProbe(be, n, st.Y[lo*t:], x)), engine.View(n, d, x), 0, engine.View(t+1, d, s.share))
		for i, v := range s.share {
			s.cross[i].Add(v)
		}
	}
}

// withProbe returns the targets y (n×t) of n rows x, each with hᵀa behind it, n×(t+1).
func (s *sums) withProbe(be engine.Backend, n int, y, x []float64) []float64 {
	t := s.t
	s.targets = vec.Grow(s.targets, n*(t+2))
	ah := s.targets[n*(t+1):]
	be.Gemv(false, 1, engine.View(n, s.d, x), s.h, 0, ah)
	for i := range n {
		copy(s.targets[i*(t+1):], y[i*t:(i+1)*t])
		s.targets[i*(t+1)+t] = ah[i]
	}
	return s.targets[:n*(t+1)]
}

// addSparse adds sparse rows to cross.
func (s *sums) addSparse(st rows.Staged) {
	d, t := s.d, s.t
	add := func(j int, y float64, idx []int32, val []float64) {
		c := s.cross[j*d : (j+1)*d]
		for k, col := range idx {
			c[col].Add(y * val[k])
		}
	}
	for i := range st.N {
		idx, val := st.Sparse.Row(i)
		for j := range t {
			add(j, st.Y[i*t+j], idx, val)
		}
		add(t, vec.SparseDot(idx, val, s.h), idx, val)
	}
}

// decay multiplies the weight of every row by beta.
func (s *sums) decay(beta float64) {
	for i := range s.cross {
		s.cross[i].Scale(beta)
	}
	for j := range s.yy {
		s.yy[j].Scale(beta)
	}
}

// merge adds the rows of o.
func (s *sums) merge(o *sums) {
	for i := range s.cross {
		s.cross[i].Merge(o.cross[i])
	}
	for j := range s.yy {
		s.yy[j].Merge(o.yy[j])
	}
}

// c is AᵀY, t×d.
func (s *sums) c() []float64 { return values(s.cross[:s.t*s.d]) }

// kh is Kh.
func (s *sums) kh() []float64 { return values(s.cross[s.t*s.d:]) }

func values(sums []neumaier.Sum) []float64 {
	out := make([]float64, len(sums))
	for i := range out {
		out[i] = sums[i].Value()
	}
	return out
}
