package shrinks

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// A Large is a sketch of many columns. It is checked along chosen directions.
type Large struct {
	Kind       string // of inputs
	Rows       int
	Size       float64
	Config     fd.Config
	Decay      float64 // after each third of the rows, if it is not 0
	Halves     bool    // sketch both halves and merge them
	Encode     bool    // write and read the sketch after each third
	Iterations int     // of the power method
}

func (l Large) String() string {
	c := l.Config
	return fmt.Sprintf(
		"%d×%d %s·%g m=%d p=%d %v store=%d decay=%g halves=%v",
		l.Rows,
		c.Dim,
		l.Kind,
		l.Size,
		c.Size,
		c.ShrinkRows,
		c.Shrink,
		c.Store,
		l.Decay,
		l.Halves,
	)
}

// Run makes the sketch and checks it.
func (l Large) Run(seed uint64, out *Report) {
	r, d := rand.New(rand.NewPCG(seed, 77)), l.Config.Dim
	row := inputs[0].row
	for _, k := range inputs {
		if k.name == l.Kind {
			row = k.row
		}
	}
	a, weights := make([]float64, l.Rows*d), make([]float64, l.Rows)
	for i := range l.Rows {
		row(r, a[i*d:(i+1)*d], i, l.Rows, l.Size)
		weights[i] = 1
	}
	s, err := l.sketch(a, weights)
	at := fmt.Sprintf("seed %d: %v", seed, l)
	if err != nil {
		out.Lost++
		out.False = append(out.False, fmt.Sprintf("%v: %s", err, at))
		return
	}
	sp, err := s.Spectrum()
	if err != nil {
		out.Lost++
		out.False = append(out.False, fmt.Sprintf("%v: %s", err, at))
		return
	}
	out.Problems++
	kind := "rows, large"
	if s.Scatter() {
		kind = "scatter, large"
	}
	if l.Config.Shrink == fd.SVD {
		kind = "svd, large"
	}
	alongDirections(out, kind, at, operator{d, a, weights}, sp, r, l.Iterations)
	if len(sp.Sigma2) <= 200 {
		omega, norm := skewOf(sp), 0.0
		for i := range omega.d {
			for j, v := range omega.row(i) {
				f := 2.0
				if i == j {
					f = 1
				}
				norm += f * v.value() * v.value()
			}
		}
		out.check("Skew, "+kind, at, math.Sqrt(norm), sp.Skew)
	}
}

// sketch appends the rows in thirds, or in halves to two sketches.
func (l Large) sketch(a, weights []float64) (*fd.Sketch, error) {
	d, n := l.Config.Dim, l.Rows
	s, err := fd.New(l.Config)
	if err != nil {
		return nil, err
	}
	if l.Halves {
		o, err := fd.New(l.Config)
		if err != nil {
			return nil, err
		}
		h := n / 2
		if err := s.AppendRows(h, a, d); err != nil {
			return nil, err
		}
		if err := o.AppendRows(n-h, a[h*d:], d); err != nil {
			return nil, err
		}
		return s, s.Merge(o)
	}
	for lo := 0; lo < n; {
		hi := min(n, lo+(n+2)/3)
		if err := s.AppendRows(hi-lo, a[lo*d:], d); err != nil {
			return nil, err
		}
		if l.Decay > 0 { // a power of two, so that weights are exact
			if err := s.Decay(l.Decay); err != nil {
				return nil, err
			}
			for i := range hi {
				weights[i] *= l.Decay
			}
		}
		if l.Encode {
			data, err := s.MarshalBinary()
			if err != nil {
				return nil, err
			}
			s = new(fd.Sketch)
			if err := s.UnmarshalBinary(data); err != nil {
				return nil, err
			}
		}
		lo = hi
	}
	return s, nil
}

// An operator is AᵀWA, given by rows and their weights.
type operator struct {
	d       int
	a       []float64
	weights []float64
}

// times returns AᵀWA·u.
func (o operator) times(u []float64) []pair {
	out := make([]pair, o.d)
	for i, w := range o.weights {
		row := o.a[i*o.d : (i+1)*o.d]
		t := dot(row, u).times(pair{w, 0})
		for j, v := range row {
			if v != 0 {
				out[j] = out[j].plus(t.times(pair{v, 0}))
			}
		}
	}
	return out
}

// A matrix multiplies vectors.
type matrix interface{ times(u []float64) []pair }

// excessTimes returns (K − BᵀB)u.
func excessTimes(k matrix, sp *fd.Spectrum, u []float64) []pair {
	out := k.times(u)
	for i, s2 := range sp.Sigma2 {
		v := sp.V[i*sp.Dim : (i+1)*sp.Dim]
		t := dot(v, u).times(pair{-s2, 0})
		for j, x := range v {
			out[j] = out[j].plus(t.times(pair{x, 0}))
		}
	}
	return out
}

// alongDirections checks uᵀ(K − BᵀB)u for the direction of all ones, singular vectors, random
// ones and those that the power method finds.
func alongDirections(out *Report, kind, at string, k matrix, sp *fd.Spectrum, r *rand.Rand, iterations int) {
	d, b := sp.Dim, sp.Bound
	try := func(u []float64) []pair {
		e := excessTimes(k, sp, u)
		var form pair
		for j, v := range e {
			form = form.plus(v.times(pair{u[j], 0}))
		}
		length := dot(u, u).value()
		out.check("below, "+kind, at, -form.value()/length, b.RoundOff)
		out.check("above, "+kind, at, form.value()/length-b.Shrinkage, b.RoundOff)
		return e
	}
	u := make([]float64, d)
	fill(u, 1)
	try(u)
	for j := range u {
		u[j] = sign(1, j)
	}
	try(u)
	if len(sp.Sigma2) > 0 {
		for _, i := range []int{0, 1, len(sp.Sigma2) / 2, len(sp.Sigma2) - 1} {
			if i < len(sp.Sigma2) {
				try(sp.V[i*d : (i+1)*d])
			}
		}
	}
	for j := range u {
		u[j] = r.NormFloat64()
	}
	for range iterations {
		e := try(u)
		var norm float64
		next := make([]float64, d)
		for j, v := range e { // of E − η/2·I
			next[j] = v.minus(productOf(b.Shrinkage/2, u[j])).value()
			norm = math.Hypot(norm, next[j])
		}
		if !(norm > 0) {
			return
		}
		for j := range next {
			next[j] /= norm
		}
		u = next
	}
}

// A dense is a symmetric matrix. Only its lower triangle is read.
type dense struct {
	d int
	a []float64
}

func (m dense) times(u []float64) []pair {
	out := make([]pair, m.d)
	for i := range m.d {
		for j := range i + 1 {
			v := m.a[i*m.d+j]
			out[i] = out[i].plus(productOf(v, u[j]))
			if j < i {
				out[j] = out[j].plus(productOf(v, u[i]))
			}
		}
	}
	return out
}

// Whole checks [fd.WholeSpectrum] of a matrix of a kind of rows, and of the matrix with equal
// entries.
func Whole(d int, kind int, seed uint64, out *Report) {
	r, a := rand.New(rand.NewPCG(seed, 5)), make([]float64, d*d)
	c := 0.11155
	name := "equal entries"
	if kind >= len(inputs) {
		fill(a, c)
	} else {
		name = inputs[kind].name
		n := 2 * d
		x := make([]float64, n*d)
		for i := range n {
			inputs[kind].row(r, x[i*d:(i+1)*d], i, n, c)
		}
		be, err := engine.Default()
		if err != nil {
			panic(err)
		}
		be.Syrk(true, 1, engine.View(n, d, x), 0, engine.View(d, d, a))
	}
	at := fmt.Sprintf("%d, %s, seed %d", d, name, seed)
	be, err := engine.Default()
	if err != nil {
		panic(err)
	}
	first := append([]float64(nil), a...)
	sp, err := fd.WholeSpectrum(engine.View(d, d, a), fd.Bound{}, be)
	if err != nil {
		out.Lost++
		out.False = append(out.False, fmt.Sprintf("whole: %v: %s", err, at))
		return
	}
	out.Problems++
	if d <= 40 {
		k := newSymmetric(d)
		for i := range d {
			for j, row := 0, k.row(i); j <= i; j++ {
				row[j] = pair{first[i*d+j], 0}
			}
		}
		checkSides(out, "whole", at, trailing(k, sp), sp.Bound)
		omega := skewOf(sp)
		checkSides(out, "whole, orthonormal", at, trailing2(k, sp, omega), sp.Bound)
		return
	}
	alongDirections(out, "whole, large", at, dense{d, first}, sp, r, 6)
}
