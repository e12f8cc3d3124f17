package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
)

// A singular holds the singular values σᵢ and the right singular vectors vᵢ of k rows R with d columns. A shrink
// to m rows replaces R by the rows √(σᵢ² − τ²)·vᵢ, where τ is singular value m+1.
type singular struct {
	rows  engine.Matrix // R, unchanged
	sigma []float64     // σ; q = min(k, d)
	vt    engine.Matrix // V, q×d
	tau   float64
	live  int // number of rows after the shrink, at most m
}

// measureSVDWork returns the length of the workspace check that factor needs for k rows with d columns.
func measureSVDWork(k, d int) int {
	q := min(k, d)
	return k*q + q*q + spectral.Work(q, d)
}

// factor computes the singular values σᵢ and right singular vectors vᵢ of the rows R, and sets tau to τ =
// σ_{m+1}. The returned pad bounds the round-off of the shrunk rows √(σᵢ² − τ²)·vᵢ:
//
//	−pad·I ⪯ RᵀR − Σ(σᵢ² − τ²)vᵢᵀvᵢ ⪯ (τ² + pad)·I.
//
// With the vᵢ as rows of V, pad is measured from the products C = RVᵀ and R − CV (docs/math.md §14). The
// workspaces scratch (of the shape of R), work and check are overwritten.
func (x *singular) factor(
	be engine.Backend,
	m int,
	scratch engine.Matrix,
	work, check []float64,
) (pad float64, err error) {
	k := x.rows.Rows
	d := x.rows.Cols
	q := len(x.sigma)
	for i := range k {
		copy(scratch.Row(i), x.rows.Row(i))
	}
	if !be.SVD(scratch, x.sigma, x.vt, work) {
		return 0, errNoConvergence
	}
	if q > m {
		x.tau = x.sigma[m]
	}
	for x.live < min(m, q) && x.sigma[x.live] > x.tau {
		x.live++
	}
	var all float64 // ‖R‖²_F
	for i := range k {
		row := x.rows.Row(i)
		all += squares(row)
		copy(scratch.Row(i), row)
	}
	c := engine.View(k, q, check[:k*q])
	z := engine.View(q, q, check[k*q:k*q+q*q])
	skew := spectral.Loss(be, x.vt, engine.Matrix{}, check[k*q+q*q:])
	if !(skew <= 0x1p-10) {
		return 0, errNoConvergence
	}
	be.Gemm(false, true, 1, x.rows, x.vt, 0, c)
	be.Gemm(false, false, -1, c, x.vt, 1, scratch)
	var off float64 // ‖X‖_F
	for i := range k {
		off = math.Hypot(off, math.Sqrt(squares(scratch.Row(i))))
	}
	be.Syrk(true, 1, c, 0, z)
	var size, lengths float64 // ‖C‖²_F and Σ‖column‖, which bounds ‖|C||V|‖_F
	for i := range q {
		size += z.Row(i)[i]
		lengths += math.Sqrt(z.Row(i)[i])
	}
	sum := be.Accuracy().Sum(q) + engine.Roundings
	off += (sum*eps*(math.Sqrt(all)+lengths*(1+skew)) +
		math.Sqrt(float64(k)*float64(d))*0x1p-535) * inflate
	for i := range q {
		least := math.Min(x.sigma[i], x.tau)
		kept := 0.0
		if i < x.live {
			kept = (x.sigma[i] - x.tau) * (x.sigma[i] + x.tau)
		}
		z.Row(i)[i] -= kept + least*least
	}
	apart := frobenius(z) + (be.Accuracy().Sum(k)+engine.Roundings+4)*eps*size*inflate
	pad = apart*(1+skew) +
		skew*x.tau*x.tau +
		off*(2*math.Sqrt(all)+3*off)
	pad += 8 * eps * all * (1 + skew) // round-off of the new rows
	if math.IsNaN(pad) || math.IsInf(pad, 0) {
		return 0, errNoConvergence
	}
	return pad * (1 + 16*eps), nil
}
