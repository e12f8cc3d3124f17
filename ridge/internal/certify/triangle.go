package certify

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// inverseNorms returns norms of R⁻¹ for an upper triangular d×d matrix R, given in r with the row stride ldr. The
// result frobenius is ‖R⁻¹‖_F, and rows holds the norms of the rows of R⁻¹. spectral is a bound on
// ‖R⁻¹‖₂. It is the smaller of ‖R⁻¹‖_F and √(‖R⁻¹‖₁‖R⁻¹‖_∞). If R is too close to
// singular, frobenius and spectral are +Inf.
func inverseNorms(
	be engine.Backend,
	d int,
	r []float64,
	ldr int,
) (frobenius, spectral float64, rows []float64) {
	const kb = 64
	// nb is the number of rows of R⁻¹ that are computed together, and the width of the blocks of columns.
	nb := min(256, max(kb, d/16))
	panel := make([]float64, min(nb, d)*d)
	columns := make([]float64, d) // column sums of absolute values
	var widest float64            // largest row sum
	for i0 := 0; i0 < d; i0 += nb {
		m := min(nb, d-i0)
		clear(panel)
		for i := range m {
			panel[i*d+i0+i] = 1
		}
		// subtract multiplies columns lo to hi−1 of the panel by R, and subtracts the product from columns hi to end−1
		// of the panel.
		subtract := func(lo, hi, end int) {
			be.Gemm(
				false,
				false,
				-1,
				engine.Strided(m, hi-lo, panel[lo:], d),
				engine.Strided(hi-lo, end-hi, r[lo*ldr+hi:], ldr),
				1,
				engine.Strided(m, end-hi, panel[hi:], d),
			)
		}
		for j0 := i0; j0 < d; j0 += nb {
			j1 := min(j0+nb, d)
			if j0 > i0 {
				subtract(i0, j0, j1)
			}
			for k0 := j0; k0 < j1; k0 += kb {
				k1 := min(k0+kb, j1)
				if k0 > j0 {
					subtract(j0, k0, k1)
				}
				for i := range m {
					x := panel[i*d : i*d+k1]
					for k := k0; k < k1; k++ {
						x[k] /= r[k*ldr+k]
						vec.Axpy(-x[k], r[k*ldr+k+1:k*ldr+k1], x[k+1:])
					}
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

// columnsOf returns the norms of the columns of a d×d upper triangular matrix r with the row stride ldr.
func columnsOf(d int, r []float64, ldr int) []float64 {
	out := make([]float64, d)
	for i := range d {
		for j := i; j < d; j++ {
			out[j] = math.Hypot(out[j], r[i*ldr+j])
		}
	}
	return out
}
