package eigen

import (
	"math"
	"slices"
)

// qlSweeps is the largest number of sweeps for one eigenvalue. The average is less than two.
const qlSweeps = 60

// qlValues computes the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal e. It writes them to
// w in descending order. It overwrites d and e, which both have length n. It returns false if the iteration does
// not converge.
func qlValues(d, e, w []float64) bool {
	if !ql(d, e, nil, 0, 0) {
		return false
	}
	slices.Sort(d)
	for i, x := range d {
		w[len(d)-1-i] = x
	}
	return true
}

// ql computes the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal e[0:n−1] by the implicit
// QL iteration with Wilkinson's shift. It overwrites d with the unsorted eigenvalues. It also overwrites e, which
// has length n. It applies all rotations to the rows of z (n×cols). If z is the identity matrix on entry, its rows
// become the eigenvectors. ql returns false if an eigenvalue needs too many sweeps.
//
// Source: Dubrulle, Martin, Wilkinson, "The implicit QL algorithm", Numer. Math. 12 (1968).
func ql(d, e, z []float64, ldz, cols int) bool {
	n := len(d)
	e[n-1] = 0
	for l := range n {
		for sweep := 0; ; sweep++ {
			m := l
			for m < n-1 && !negligible(e[m], d[m], d[m+1]) {
				m++
			}
			if m == l {
				break
			}
			if sweep == qlSweeps {
				return false
			}
			qlSweep(d, e, z, ldz, cols, l, m)
		}
	}
	return true
}

// negligible reports whether the off-diagonal entry e between the diagonal entries p and q may be set to zero. The
// limit for |e| is eps·(|p| + |q|), but at least eps/16. The largest entry of the original matrix is at least ½, so
// eps/16 is less than the error of its reduction to tridiagonal form. Without this minimum, small entries of a
// steeply graded tridiagonal matrix may not converge.
func negligible(e, p, q float64) bool {
	return math.Abs(e) <= eps*max(math.Abs(p)+math.Abs(q), 1.0/16)
}

// qlSweep makes one sweep of the QL iteration upwards, from row m to row l, where l < m.
func qlSweep(d, e, z []float64, ldz, cols, l, m int) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f := s * e[i]
		b := c * e[i]
		r := hypot(f, g)
		e[i+1] = r
		if r == 0 { // the matrix splits here
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
		rotate(z[i*ldz:i*ldz+cols], z[(i+1)*ldz:(i+1)*ldz+cols], c, -s)
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
}

// hypot returns √(x² + y²) for x and y whose squares do not overflow. It is several times faster than math.Hypot.
// If the squares underflow, it calls math.Hypot.
func hypot(x, y float64) float64 {
	if sum := x*x + y*y; sum > 1e-280 {
		return math.Sqrt(sum)
	}
	return math.Hypot(x, y)
}

// rotate replaces the vector x by c·x + s·y, and y by c·y − s·x.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, xi := range x {
		yi := y[i]
		x[i] = c*xi + s*yi
		y[i] = c*yi - s*xi
	}
}
