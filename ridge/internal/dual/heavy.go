package dual

import (
	"cmp"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// mostHeavy is how many columns conjugate gradients write out at most, heavyForCG the share of rows
// that such a column has entries in: measured, two products with one that is written out take no
// longer then than with its entries.
const (
	mostHeavy  = 128
	heavyForCG = 1.0 / 8
)

// heavyColumns are those of most entries that conjugate gradients write out, in their order, and how
// many entries they have.
func (r *Rows) heavyColumns() (list []int, entries int) {
	count := make([]int32, r.d)
	for _, p := range r.parts {
		for _, j := range p.sparse.ColIdx[p.sparse.RowPtr[0]:p.sparse.RowPtr[p.n]] {
			count[j]++
		}
	}
	for j, k := range count {
		if float64(k) > heavyForCG*float64(r.n) {
			list = append(list, j)
		}
	}
	if len(list) > mostHeavy {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
		list = list[:mostHeavy]
		slices.Sort(list)
	}
	for _, j := range list {
		entries += int(count[j])
	}
	return list, entries
}

// light are the rows without some columns.
type light struct {
	rows *Rows
	own  *engine.CSR // nil: none are left out
}

// without leaves columns out, which have so many entries.
func (r *Rows) without(list []int, entries int) light {
	if len(list) == 0 {
		return light{rows: r}
	}
	left := make([]bool, r.d)
	for _, j := range list {
		left[j] = true
	}
	kept := int(r.NNZ()) - entries
	own := &engine.CSR{Rows: r.n, Cols: r.d, RowPtr: append(make([]int, 0, r.n+1), 0), ColIdx: make([]int32, 0, kept), Val: make([]float64, 0, kept)}
	for _, p := range r.parts {
		for i := range p.n {
			idx, val := p.sparse.Row(i)
			for k, j := range idx {
				if !left[j] {
					own.ColIdx, own.Val = append(own.ColIdx, j), append(own.Val, val[k])
				}
			}
			own.RowPtr = append(own.RowPtr, len(own.Val))
		}
	}
	return light{r, own}
}

// row is row i.
func (l light) row(i int) ([]int32, []float64) {
	if l.own != nil {
		return l.own.Row(i)
	}
	p := l.rows.partOf(i)
	return p.sparse.Row(i - p.first)
}

// heavy are the columns H of A, and what (D + HHᵀ)⁻¹ is made of.
type heavy struct {
	be      engine.Backend
	h       engine.Matrix // n×k
	factor  engine.Matrix // C = I + HᵀD⁻¹H = LLᵀ
	product []float64     // HᵀD⁻¹r, k
	ht, hhp []float64     // Ht of the last z, and HHᵀp of the last direction
}

// leastShare is the share of the diagonal of G + γI that D has at least: where it had less, C would
// be too near to singular for what is made of it to be used again and again.
const leastShare = 1e-3

// newHeavy writes the columns of a list out; scale is D⁻¹, of which no element stays too large. It
// returns nil where numbers are beyond range.
func (r *Rows) newHeavy(be engine.Backend, list []int, scale []float64) *heavy {
	k := len(list)
	out := &heavy{be: be, h: engine.View(r.n, k, make([]float64, r.n*k)), factor: engine.View(k, k, make([]float64, k*k)), product: make([]float64, k),
		ht: make([]float64, r.n), hhp: make([]float64, r.n)}
	r.gather(list, out.h)
	r.centre(out.h)
	scaled := engine.View(r.n, k, make([]float64, r.n*k))
	for i, s := range scale {
		row, to := out.h.Row(i), scaled.Row(i)
		s = math.Min(s, 1/(leastShare*(1/s+vec.Dot(row, row))))
		scale[i] = s
		for j, v := range row {
			to[j] = s * v
		}
	}
	be.Gemm(true, false, 1, out.h, scaled, 0, out.factor)
	for j := range k {
		out.factor.Row(j)[j]++
	}
	if _, ok := be.Cholesky(out.factor); !ok {
		return nil
	}
	return out
}

// set sets Ht, t = C⁻¹Hᵀz, given z = D⁻¹r.
func (h *heavy) set(z []float64) {
	k := len(h.product)
	h.be.Gemv(true, 1, h.h, z, 0, h.product)
	h.be.CholeskySolve(h.factor, engine.View(1, k, h.product))
	h.be.Gemv(false, 1, h.h, h.product, 0, h.ht)
}

// turn makes HHᵀp that of the next direction.
func (h *heavy) turn(beta float64) {
	for i, v := range h.ht {
		h.hhp[i] = v + beta*h.hhp[i]
	}
}
