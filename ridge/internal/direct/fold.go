package direct

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A folder computes the QR factorization of an upper triangle R stacked on further rows B: [R; B] = QR′. The
// reflection that eliminates column c of B is
//
//	H = I − τ·vvᵀ,   v = (e_c; z),
//
// The part of v in the rows of R is the unit vector e_c, because the elements of column c below the diagonal of R are
// zero. The vectors z for a panel of columns are the rows of Z. The reflections of a panel are applied together to the
// columns C of [R; B] to the right of the panel:
//
//	C − VᵀM⁻¹VC,   V = [I Z],   M = diag(1/τ) + the strict lower triangle of ZZᵀ.
//
// Source: T. Joffrain, T. Low, E. Quintana-Ortí, R. van de Geijn, F. Van Zee, "Accumulating Householder
// transformations, revisited", ACM TOMS 32 (2006). docs/math.md §14 bounds the round-off.
type folder struct {
	be  engine.Backend
	z   []float64                      // a panel of columns of B, transposed; Z overwrites it
	x   []float64                      // VC, then M⁻¹VC
	sum []float64                      // the product for a strip of rows, which is added to VC
	tau [roundoff.PanelColumns]float64 // τ of each reflection, 0 if H = I
}

func newFolder(be engine.Backend, q, rows int) *folder {
	w := min(q, roundoff.PanelColumns)
	return &folder{
		be:  be,
		z:   make([]float64, w*rows),
		x:   make([]float64, w*q),
		sum: make([]float64, w*q),
	}
}

// fold computes the QR factorization of an upper triangle r (d×q, d ≤ q) stacked on rows b (m×q). It overwrites r
// with the triangular factor and destroys b. It eliminates only the first d columns of b. motion is the sum of
// 2 − τ over the reflections I − τ·vvᵀ. The error bound roundoff.QRFold needs motion.
func (f *folder) fold(r, b engine.Matrix) (motion float64) {
	d, q := r.Rows, r.Cols
	for lo := 0; lo < d; lo += roundoff.PanelColumns {
		hi := min(lo+roundoff.PanelColumns, d)
		motion += f.panel(r, b, lo, hi)
		if hi < q {
			f.apply(r.Slice(lo, hi, hi, q), b.Slice(0, b.Rows, hi, q))
		}
	}
	return motion
}

// panel computes the reflections for columns lo to hi.
func (f *folder) panel(r, b engine.Matrix, lo, hi int) (motion float64) {
	m := b.Rows
	for k := range m {
		for c, v := range b.Row(k)[lo:hi] {
			f.z[c*m+k] = v
		}
	}
	for c := range hi - lo {
		column := f.z[c*m : (c+1)*m]
		for i := range c {
			z := f.z[i*m : (i+1)*m]
			top := &r.Row(lo + i)[lo+c]
			s := f.tau[i] * (*top + vec.Dot(z, column))
			*top -= s
			vec.Axpy(-s, z, column)
		}
		top := &r.Row(lo + c)[lo+c]
		f.tau[c] = reflect(top, column)
		if f.tau[c] > 0 {
			motion += 2 - f.tau[c]
		}
	}
	return motion
}

// reflect computes a reflection that maps the vector (top; column) to a multiple (beta; 0) of the first unit
// vector. The reflection is I − tau·vvᵀ with v = (1; z). reflect overwrites top with beta, and column with z.
func reflect(top *float64, column []float64) (tau float64) {
	norm := vec.Norm(column)
	if norm == 0 {
		return 0
	}
	alpha, exp := *top, 0
	if e := math.Ilogb(math.Max(norm, math.Abs(alpha))); e < -400 || e > 400 { // squares could overflow or underflow
		exp = e
		for i, v := range column {
			column[i] = math.Ldexp(v, -exp)
		}
		alpha = math.Ldexp(alpha, -exp)
		norm = vec.Norm(column)
	}
	beta := -math.Copysign(math.Hypot(alpha, norm), alpha)
	vec.Scale(1/(alpha-beta), column)
	*top = math.Ldexp(beta, exp)
	return (beta - alpha) / beta
}

// apply applies the reflections of a panel to further columns. The argument top holds these columns of the rows of
// R that belong to the panel, and b holds them for the rows to eliminate.
func (f *folder) apply(top, b engine.Matrix) {
	w := top.Rows
	m := b.Rows
	n := b.Cols
	z := engine.View(w, m, f.z)
	x := engine.View(w, n, f.x)
	sum := engine.View(w, n, f.sum)
	for i := range w {
		copy(x.Row(i), top.Row(i))
	}
	for k := 0; k < m; k += roundoff.StripRows {
		end := min(k+roundoff.StripRows, m)
		f.be.Gemm(false, false, 1, z.Slice(0, w, k, end), b.Slice(k, end, 0, n), 0, sum)
		vec.Axpy(1, sum.Data[:w*n], x.Data[:w*n])
	}
	for i := range w {
		xi := x.Row(i)
		for j := range i {
			vec.Axpy(-vec.Dot(z.Row(i), z.Row(j)), x.Row(j), xi)
		}
		vec.Scale(f.tau[i], xi)
		vec.Axpy(-1, xi, top.Row(i))
	}
	f.be.Gemm(true, false, -1, z, x, 1, b)
}
