package shrinks

import "math"

// A symmetric is a symmetric d×d matrix in pairs: its lower triangle, row by row.
type symmetric struct {
	d int
	a []pair
}

func newSymmetric(d int) symmetric { return symmetric{d, make([]pair, d*(d+1)/2)} }

func (s symmetric) row(i int) []pair { return s.a[i*(i+1)/2 : i*(i+1)/2+i+1] }

func (s symmetric) clone() symmetric { return symmetric{s.d, append([]pair(nil), s.a...)} }

// addSquare adds weight·xxᵀ.
func (s symmetric) addSquare(weight float64, x []float64) {
	for i, v := range x {
		if v == 0 {
			continue
		}
		w := productOf(weight, v)
		for j, r := 0, s.row(i); j <= i; j++ {
			if x[j] != 0 {
				r[j] = r[j].plus(w.times(pair{x[j], 0}))
			}
		}
	}
}

// addSquareOf adds weight·xxᵀ for x in pairs.
func (s symmetric) addSquareOf(weight float64, x []pair) {
	for i, v := range x {
		w := v.times(pair{weight, 0})
		for j, r := 0, s.row(i); j <= i; j++ {
			r[j] = r[j].plus(w.times(x[j]))
		}
	}
}

func (s symmetric) add(t symmetric) {
	for i, v := range t.a {
		s.a[i] = s.a[i].plus(v)
	}
}

func (s symmetric) scale(f float64) {
	for i, v := range s.a {
		s.a[i] = v.times(pair{f, 0})
	}
}

// divide divides rows and columns by r.
func (s symmetric) divide(r []float64) {
	for i := range s.d {
		for j, row := 0, s.row(i); j <= i; j++ {
			row[j] = row[j].over(r[i]).over(r[j])
		}
	}
}

func (s symmetric) trace() (sum pair) {
	for i := range s.d {
		sum = sum.plus(s.row(i)[i])
	}
	return sum
}

// eigenvalues returns the eigenvalues of the matrix, rounded to float64, by Jacobi's rotations.
func (s symmetric) eigenvalues() []float64 {
	d, largest := s.d, 0.0
	for _, v := range s.a {
		largest = math.Max(largest, math.Abs(v.value()))
	}
	out := make([]float64, d)
	if largest == 0 {
		return out
	}
	_, e := math.Frexp(largest)
	a := make([]float64, d*d)
	for i := range d {
		for j, v := range s.row(i) {
			x := math.Ldexp(v.hi, -e) + math.Ldexp(v.lo, -e)
			a[i*d+j], a[j*d+i] = x, x
		}
	}
	for range 40 {
		var off float64
		for p := range d {
			for q := range p {
				x := a[p*d+q]
				off = math.Max(off, math.Abs(x))
				if !(math.Abs(x) > 1e-19) {
					continue
				}
				rotate(a, d, p, q)
			}
		}
		if !(off > 1e-18) {
			break
		}
	}
	for i := range d {
		out[i] = math.Ldexp(a[i*d+i], e)
	}
	return out
}

func rotate(a []float64, d, p, q int) {
	theta := (a[q*d+q] - a[p*d+p]) / (2 * a[p*d+q])
	t := 1 / (math.Abs(theta) + math.Hypot(1, theta))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(1+t*t)
	sn := t * c
	apq := a[p*d+q]
	a[p*d+p] -= t * apq
	a[q*d+q] += t * apq
	a[p*d+q], a[q*d+p] = 0, 0
	for k := range d {
		if k == p || k == q {
			continue
		}
		x, y := a[k*d+p], a[k*d+q]
		x, y = c*x-sn*y, sn*x+c*y
		a[k*d+p], a[p*d+k] = x, x
		a[k*d+q], a[q*d+k] = y, y
	}
}

// positive reports whether shift·I + sign·S is positive definite, by Cholesky's factorisation
// in pairs.
func (s symmetric) positive(sign, shift float64) bool {
	l := s.clone()
	for i := range s.d {
		row := l.row(i)
		for j := range row {
			row[j] = pair{sign * row[j].hi, sign * row[j].lo}
		}
		row[i] = row[i].plus(pair{shift, 0})
		for j := 0; j <= i; j++ {
			other := l.row(j)
			v := row[j]
			for k := range j {
				v = v.minus(row[k].times(other[k]))
			}
			if j < i {
				q := v.hi / other[j].hi
				rest := v.minus(other[j].times(pair{q, 0}))
				row[j] = sumOf(q, rest.hi/other[j].hi)
				continue
			}
			if !(v.hi > 0) {
				return false
			}
			row[i] = v.root()
		}
	}
	return true
}
