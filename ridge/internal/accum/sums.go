package accum

import (
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// sums holds sums over the n×d matrix A of the rows, with t targets Y. One of them is Kh = Aᵀ(Ah), where K is AᵀA
// and h a fixed vector. A later pass compares Kh to detect that it reads other rows (docs/math.md §15).
type sums struct {
	d, t  int
	cross []twofold.Total // c = AᵀY, t×d, followed by Kh, 1×d
	yy    []twofold.Total // ‖Y‖² of each target
	h     []float64       // nil before the first rows

	// Workspace for a group of n rows.
	rows    []float64 // the dense rows, with many targets
	share   []float64 // AᵀY and Kh of these rows, (t+1)×d
	targets []float64 // the targets of the rows, and hᵀa for each row a, (t+1)×n
	// times is for sparse rows that stand for row − κ·centre with a number κ for each row. It holds Σκy for each
	// target y, then Σκ·hᵀa over the rows a; t+1 numbers.
	times []twofold.Total
}

func newSums(d, t int) sums {
	return sums{
		d:     d,
		t:     t,
		cross: make([]twofold.Total, (t+1)*d),
		yy:    make([]twofold.Total, t),
	}
}

// add adds the rows in st to the sketch and to the sums. Dense rows are multiplied by their targets right after the
// sketch has stored them, because they are then in the cache.
func (s *sums) add(be engine.Backend, sketch *fd.Sketch, st rows.Staged) error {
	if s.h == nil {
		s.h = certify.Probe(s.d)
	}
	from := 0 // index of the first dense row
	if st.Sparse != nil {
		if err := appendSparse(sketch, st); err != nil {
			return err
		}
		s.addSparse(st)
		from = st.Sparse.Rows
	}
	many := s.t >= roundoff.ManyTargets
	n := st.N - from
	y := st.Y[from*s.t:]
	if many {
		s.rows = vec.Grow(s.rows, n*s.d)
	} else {
		s.share = vec.Grow(s.share, (s.t+1)*s.d)
	}
	err := sketch.AppendFunc(n, func(first int, to engine.Matrix) {
		st.Rows(from+first, to)
		if !many {
			s.addDense(be, first, to, y, n)
			return
		}
		for i := range to.Rows {
			copy(s.rows[(first+i)*s.d:], to.Row(i))
		}
	})
	if err != nil {
		return err
	}
	if many {
		s.addMany(be, engine.View(n, s.d, s.rows), y)
	}
	for i, v := range st.Y[:st.N*s.t] {
		s.yy[i%s.t].Add(v * v)
	}
	return nil
}

// appendSparse adds the sparse rows to the sketch. If the rows are centred, row i stands for the sparse row minus
// st.Times[i]·st.Centre.
func appendSparse(sketch *fd.Sketch, st rows.Staged) error {
	if st.Centre == nil {
		return sketch.AppendSparse(st.Sparse)
	}
	return sketch.AppendCentred(st.Sparse, st.Times, st.Centre)
}

// addDense adds two kinds of products of the rows x to s.cross: with their targets, and with their products with
// the fixed vector h. Row i of x is row offset+i of a group of n rows. y holds the targets of the group.
func (s *sums) addDense(
	be engine.Backend,
	offset int,
	x engine.Matrix,
	y []float64,
	n int,
) {
	d, t := s.d, s.t
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		at := (offset + lo) % roundoff.SumRows // number of rows already in share
		hi = min(lo+roundoff.SumRows-at, x.Rows)
		part := x.Slice(lo, hi, 0, d)
		beta := 1.0 // continues the group of SumRows rows
		if at == 0 {
			beta = 0
		}
		targets := s.withProbe(be, y[(offset+lo)*t:], part)
		be.Gemm(false, false, 1, targets, part, beta, engine.View(t+1, d, s.share))
		if at+hi-lo == roundoff.SumRows || offset+hi == n {
			twofold.AddTo(s.cross, s.share) // compensated, so that round-off does not grow with n
		}
	}
}

// addMany does the work of addDense for many targets y. It handles 64 targets at a time, so that their sums fit in
// the cache.
func (s *sums) addMany(be engine.Backend, x engine.Matrix, y []float64) {
	const few = 64
	d, t := s.d, s.t
	s.share = vec.Grow(s.share, few*d)
	s.targets = vec.Grow(s.targets, roundoff.ManyRows)
	for lo := 0; lo < x.Rows; lo += roundoff.ManyRows {
		part := x.Slice(lo, min(lo+roundoff.ManyRows, x.Rows), 0, d)
		for j := 0; j < t; j += few {
			q := min(few, t-j)
			share := s.share[:q*d]
			targets := engine.Strided(part.Rows, q, y[lo*t+j:], t)
			be.Gemm(true, false, 1, targets, part, 0, engine.View(q, d, share))
			twofold.AddTo(s.cross[j*d:(j+q)*d], share)
		}
		along := s.targets[:part.Rows]
		be.Gemv(false, 1, part, s.h, 0, along)
		be.Gemv(true, 1, part, along, 0, s.share[:d])
		twofold.AddTo(s.cross[t*d:], s.share[:d])
	}
}

// withProbe returns the transpose of the targets y with one more row: the products of the rows x with the fixed
// vector s.h.
func (s *sums) withProbe(
	be engine.Backend,
	y []float64,
	x engine.Matrix,
) engine.Matrix {
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

// addSparse adds the products of the sparse rows in st to s.cross. A centred row stands for a sparse row minus a
// multiple of st.Centre. These multiples are first added up over the rows, and then subtracted once.
func (s *sums) addSparse(st rows.Staged) {
	d, t := s.d, s.t
	var along float64 // hᵀ·centre
	if st.Centre != nil {
		along = vec.Dot(st.Centre, s.h)
	}
	if len(s.times) < t+1 {
		s.times = make([]twofold.Total, t+1)
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
		twofold.AddTo(s.cross[j*d:(j+1)*d], s.share)
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

// scaled returns the sums that the rows A would have if each column were divided by its element of scale. Let R be
// the diagonal matrix with the elements of scale. The fixed vector h of [sums] becomes Rh/‖Rh‖, and the product
// AᵀAh becomes R⁻¹AᵀAh/‖Rh‖.
func (s *sums) scaled(scale []float64) sums {
	out := sums{
		d:     s.d,
		t:     s.t,
		cross: slices.Clone(s.cross),
		yy:    slices.Clone(s.yy),
		h:     slices.Clone(s.probe()),
	}
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
		out.cross[i] = twofold.TotalFromParts(sum/r, low/r)
	}
	return out
}

// c returns AᵀY (t×d).
func (s *sums) c() []float64 {
	return values(s.cross[:s.t*s.d])
}

// probe returns h.
func (s *sums) probe() []float64 {
	if s.h == nil {
		return certify.Probe(s.d)
	}
	return s.h
}

// kh returns Kh.
func (s *sums) kh() []float64 {
	return values(s.cross[s.t*s.d:])
}

func values(sums []twofold.Total) []float64 {
	out := make([]float64, len(sums))
	for i := range out {
		out[i] = sums[i].Value()
	}
	return out
}
