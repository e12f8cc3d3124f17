package certify

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// inverseNorms returns norms of R⁻¹ for an upper triangular d×d matrix R, given in r. frobenius is ‖R⁻¹‖_F, and
// rows holds the norms of the rows. spectral bounds ‖R⁻¹‖₂ by the smaller of ‖R⁻¹‖_F and √(‖R⁻¹‖₁‖R⁻¹‖_∞). If R
// is too close to singular, frobenius and spectral are +Inf.
func inverseNorms(be engine.Backend, d int, r []float64, ldr int) (frobenius, spectral float64, rows []float64) {
	const nb = 64
	panel := make([]float64, min(nb, d)*d)
	columns := make([]float64, d) // column sums of absolute values
	var widest float64            // largest row sum
	for i0 := 0; i0 < d; i0 += nb {
		m := min(nb, d-i0)
		clear(panel)
		for i := range m {
			panel[i*d+i0+i] = 1
		}
		for j0 := i0; j0 < d; j0 += nb {
			j1 := min(j0+nb, d)
			if j0 > i0 {
				be.Gemm(false, false, -1, engine.Strided(m, j0-i0, panel[i0:], d), engine.Strided(j0-i0, j1-j0, r[i0*ldr+j0:], ldr), 1, engine.Strided(m, j1-j0, panel[j0:], d))
			}
			for i := range m {
				x := panel[i*d : i*d+j1]
				for k := j0; k < j1; k++ {
					x[k] /= r[k*ldr+k]
					vec.Axpy(-x[k], r[k*ldr+k+1:k*ldr+j1], x[k+1:])
				}
			}
		}
		for i := range m {
			row := panel[i*d : (i+1)*d]
			rows = append(rows, vec.Norm(row))
			frobenius = math.Hypot(frobenius, rows[i0+i])
			sum := 0.0
			for j, v := range row {
				sum += math.Abs(v)
				columns[j] += math.Abs(v)
			}
			widest = math.Max(widest, sum)
		}
	}
	if math.IsNaN(frobenius) {
		return math.Inf(1), math.Inf(1), rows
	}
	return frobenius, math.Min(frobenius, math.Sqrt(slices.Max(columns))*math.Sqrt(widest)), rows
}

// columnsOf returns the norms of the columns of the upper triangular matrix r.
func columnsOf(d int, r []float64, ldr int) []float64 {
	out := make([]float64, d)
	for i := range d {
		for j := i; j < d; j++ {
			out[j] = math.Hypot(out[j], r[i*ldr+j])
		}
	}
	return out
}
