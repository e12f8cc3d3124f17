package shrinks

import (
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/engine"
)

// A spoiled backend returns eigenpairs and singular values and vectors with errors of about off.
type spoiled struct {
	engine.Backend
	r   *rand.Rand
	off float64
	how int
}

func (s *spoiled) noise() float64 { return s.off * (2*s.r.Float64() - 1) }

func (s *spoiled) spoil(w []float64, v engine.Matrix) {
	switch s.how % 6 {
	case 0: // values, each relative to itself
		for i := range w {
			w[i] *= 1 + s.noise()
		}
	case 1: // values, relative to the largest; less off the further ones, so that they stay sorted
		for i := range w {
			w[i] = math.Max(0, w[i]-s.off*w[0]*float64(i+1)/float64(len(w)))
		}
	case 2: // rows of V mixed, no longer orthonormal
		for i := range v.Rows {
			k := s.r.IntN(v.Rows)
			f := s.noise()
			for j, x := range v.Row(k) {
				v.Row(i)[j] += f * x
			}
		}
	case 3: // rows of other lengths
		for i := range v.Rows {
			f := 1 + s.noise()
			for j := range v.Row(i) {
				v.Row(i)[j] *= f
			}
		}
	case 4: // noise
		for i := range v.Rows {
			for j := range v.Row(i) {
				v.Row(i)[j] += s.noise()
			}
		}
	default: // the first row turned towards the last
		x, y := v.Row(0), v.Row(v.Rows-1)
		if v.Rows < 2 {
			return
		}
		sin := s.noise()
		cos := math.Sqrt(1 - sin*sin)
		for j := range x {
			x[j], y[j] = cos*x[j]+sin*y[j], cos*y[j]-sin*x[j]
		}
	}
	for i := 1; i < len(w); i++ {
		w[i] = math.Min(w[i], w[i-1])
	}
}

func (s *spoiled) SymEig(a engine.Matrix, w []float64, v engine.Matrix, work []float64) bool {
	ok := s.Backend.SymEig(a, w, v, work)
	if ok && a.Rows > 0 && v.Rows > 0 {
		s.spoil(w[:a.Rows], v)
	}
	return ok
}

func (s *spoiled) SVD(a engine.Matrix, w []float64, vt engine.Matrix, work []float64) bool {
	ok := s.Backend.SVD(a, w, vt, work)
	if ok && len(w) > 0 && vt.Rows > 0 {
		s.spoil(w, vt)
	}
	return ok
}

func (s *spoiled) Tridiagonal(a engine.Matrix, d, e, tau, work []float64) bool {
	ok := s.Backend.Tridiagonal(a, d, e, tau, work)
	if !ok {
		return ok
	}
	var largest float64
	for _, x := range d {
		largest = math.Max(largest, math.Abs(x))
	}
	switch s.how % 3 {
	case 0:
		d[s.r.IntN(len(d))] += s.noise() * largest
	case 1:
		for i := range e {
			e[i] += s.noise() * largest
		}
	default:
		for i := range tau {
			tau[i] *= 1 + s.noise()
		}
	}
	return ok
}
