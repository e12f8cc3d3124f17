package accum

import (
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
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
	share   []float64      // of the rows in cross, (t+1)×d
	targets []float64      // those of the rows, and their hᵀa, (t+1)×n
	times   []neumaier.Sum // of sparse rows less a centre: Σκy for each target, and of hᵀa, t+1
}

func newSums(d, t int) sums {
	return sums{d: d, t: t, cross: make([]neumaier.Sum, (t+1)*d), yy: make([]neumaier.Sum, t)}
}

// add adds rows that are staged to the sketch and to the sums. Dense rows are made where the
// sketch keeps them, and multiplied with their targets while they are in the cache.
func (s *sums) add(be engine.Backend, sketch *fd.Sketch, st rows.Staged) error {
	if s.h == nil {
		s.h = certify.Probe(s.d)
	}
	from := 0 // the first dense row
	if st.Sparse != nil {
		if err := appendSparse(sketch, st); err != nil {
			return err
		}
		s.addSparse(st)
		from = st.Sparse.Rows
	}
	s.share = vec.Grow(s.share, (s.t+1)*s.d)
	err := sketch.AppendFunc(st.N-from, func(first int, to engine.Matrix) {
		st.Rows(from+first, to)
		s.addDense(be, first, to, st.Y[from*s.t:], st.N-from)
	})
	if err != nil {
		return err
	}
	for i, v := range st.Y[:st.N*s.t] {
		s.yy[i%s.t].Add(v * v)
	}
	return nil
}

// appendSparse adds sparse rows to the sketch, less their centre if they have one.
func appendSparse(sketch *fd.Sketch, st rows.Staged) error {
	if st.Centre == nil {
		return sketch.AppendSparse(st.Sparse)
	}
	return sketch.AppendCentred(st.Sparse, st.Times, st.Centre)
}

// addDense adds the products of rows first to first+k of n, x (k×d), with their targets, and with
// hᵀa, to cross: so many at a time that their round-off does not grow with n. A share that has
// not come to an end with x goes on with the rows that follow.
func (s *sums) addDense(be engine.Backend, first int, x engine.Matrix, y []float64, n int) {
	d, t := s.d, s.t
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		at := (first + lo) % roundoff.SumRows // rows of the share so far
		hi = min(lo+roundoff.SumRows-at, x.Rows)
		part := x.Slice(lo, hi, 0, d)
		beta := 1.0
		if at == 0 {
			beta = 0
		}
		be.Gemm(false, false, 1, s.withProbe(be, y[(first+lo)*t:], part), part, beta, engine.View(t+1, d, s.share))
		if at+hi-lo == roundoff.SumRows || first+hi == n {
			neumaier.AddTo(s.cross, s.share)
		}
	}
}

// withProbe returns the targets y (n×t) of n rows x, one target after the other, with hᵀa behind
// them: (t+1)×n.
func (s *sums) withProbe(be engine.Backend, y []float64, x engine.Matrix) engine.Matrix {
	n, t := x.Rows, s.t
	s.targets = vec.Grow(s.targets, n*(t+1))
	out := engine.View(t+1, n, s.targets)
	for j := range t {
		row := out.Row(j)
		for i := range row {
			row[i] = y[i*t+j]
		}
	}
	be.Gemv(false, 1, x, s.h, 0, out.Row(t))
	return out
}

// addSparse adds sparse rows to cross. What they are less, times·centre, is multiplied with the sum of times·y.
func (s *sums) addSparse(st rows.Staged) {
	d, t := s.d, s.t
	var along float64 // hᵀ of the centre
	if st.Centre != nil {
		along = vec.Dot(st.Centre, s.h)
	}
	if len(s.times) < t+1 {
		s.times = make([]neumaier.Sum, t+1)
	}
	clear(s.times)
	times := s.times
	add := func(j int, y, f float64, idx []int32, val []float64) {
		c := s.cross[j*d : (j+1)*d]
		for k, col := range idx {
			c[col].Add(y * val[k])
		}
		times[j].Add(float64(f * y))
	}
	for i := range st.Sparse.Rows {
		idx, val := st.Sparse.Row(i)
		f := 1.0
		if st.Times != nil {
			f = st.Times[i]
		}
		for j := range t {
			add(j, st.Y[i*t+j], f, idx, val)
		}
		add(t, vec.SparseDot(idx, val, s.h)-float64(f*along), f, idx, val)
	}
	if st.Centre == nil {
		return
	}
	s.share = vec.Grow(s.share, d)
	for j := range times {
		f := times[j].Value()
		for col, v := range st.Centre {
			s.share[col] = -f * v
		}
		neumaier.AddTo(s.cross[j*d:(j+1)*d], s.share)
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

// scaled are the sums in columns that are divided by scale. With R = diag(scale) and the witness
// h of docs/math.md §15, (Rh)ᵀ(R⁻¹KR⁻¹v) = (R⁻¹Kh)ᵀv: so Rh, made of length one, is that of the
// scaled rows.
func (s *sums) scaled(scale []float64) sums {
	out := sums{d: s.d, t: s.t, cross: slices.Clone(s.cross), yy: slices.Clone(s.yy), h: slices.Clone(s.probe())}
	for j, r := range scale {
		out.h[j] *= r
	}
	length := vec.Norm(out.h)
	vec.Scale(1/length, out.h)
	for i := range out.cross {
		sum, low := out.cross[i].Parts()
		r := scale[i%s.d]
		if i >= s.t*s.d {
			r *= length
		}
		out.cross[i] = neumaier.FromParts(sum/r, low/r)
	}
	return out
}

// c is AᵀY, t×d.
func (s *sums) c() []float64 { return values(s.cross[:s.t*s.d]) }

// probe is h.
func (s *sums) probe() []float64 {
	if s.h == nil {
		return certify.Probe(s.d)
	}
	return s.h
}

// kh is Kh.
func (s *sums) kh() []float64 { return values(s.cross[s.t*s.d:]) }

func values(sums []neumaier.Sum) []float64 {
	out := make([]float64, len(sums))
	for i := range out {
		out[i] = sums[i].Value()
	}
	return out
}
