package dual

import (
	"cmp"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// Conjugate gradients store columns with many entries as dense columns. In benchmarks, products with such columns
// took no longer in dense form than in sparse form.
const (
	mostHeavy  = 128     // largest number of dense columns
	heavyForCG = 1.0 / 8 // a dense column has entries in more than this fraction of the rows
)

// heavyColumns returns, in ascending order, the columns that conjugate gradients store as dense columns. entries is
// the number of entries in these columns.
func (r *Rows) heavyColumns() (list []int, entries int) {
	count := make([]int32, r.d)
	for _, p := range r.parts {
		first, last := p.sparse.RowPtr[0], p.sparse.RowPtr[p.n]
		for _, j := range p.sparse.ColIdx[first:last] {
			count[j]++
		}
	}
	for j, k := range count {
		if float64(k) > heavyForCG*float64(r.n) {
			list = append(list, j)
		}
	}
	if len(list) > mostHeavy {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Compare(count[b], count[a])
		})
		list = list[:mostHeavy]
		slices.Sort(list)
	}
	for _, j := range list {
		entries += int(count[j])
	}
	return list, entries
}

// A light holds the sparse rows without the columns that a [heavy] stores as dense columns.
type light struct {
	rows *Rows
	own  *engine.CSR // nil if no column is left out
}

// without returns the rows without the columns in list. entries is the number of entries in the columns of list.
func (r *Rows) without(list []int, entries int) light {
	if len(list) == 0 {
		return light{rows: r}
	}
	left := make([]bool, r.d)
	for _, j := range list {
		left[j] = true
	}
	kept := int(r.NNZ()) - entries
	own := &engine.CSR{
		Rows:   r.n,
		Cols:   r.d,
		RowPtr: append(make([]int, 0, r.n+1), 0),
		ColIdx: make([]int32, 0, kept),
		Val:    make([]float64, 0, kept),
	}
	for _, p := range r.parts {
		for i := range p.n {
			idx, val := p.sparse.Row(i)
			for k, j := range idx {
				if !left[j] {
					own.ColIdx = append(own.ColIdx, j)
					own.Val = append(own.Val, val[k])
				}
			}
			own.RowPtr = append(own.RowPtr, len(own.Val))
		}
	}
	return light{r, own}
}

// row returns row i.
func (l light) row(i int) ([]int32, []float64) {
	if l.own != nil {
		return l.own.Row(i)
	}
	p := l.rows.partOf(i)
	return p.sparse.Row(i - p.first)
}

// A heavy holds the columns of A that are stored as a dense matrix H, and a factor for the preconditioner of [CG].
type heavy struct {
	be      engine.Backend
	h       engine.Matrix // n×k
	factor  engine.Matrix // the triangular factor L of C = LLᵀ, with C = I + HᵀD⁻¹H of [CG]
	product []float64     // HᵀD⁻¹r, k
	// ht is Ht for the last preconditioned residual, and hhp is HHᵀp for the last search direction p. [CG] has the
	// formulas.
	ht, hhp []float64
}

// leastShare bounds the elements of the diagonal matrix D in [CG] from below, as a share of the diagonal of
// AAᵀ + γI. With smaller elements, the matrix C in [CG] could be almost singular, and rounding errors would
// accumulate.
const leastShare = 1e-3

// newHeavy stores the columns in list as dense columns. scale holds the diagonal of D⁻¹, for the matrix D in [CG].
// If leastShare requires a larger element of D, newHeavy reduces the element of scale. It returns nil if a number
// overflows.
func (r *Rows) newHeavy(be engine.Backend, list []int, scale []float64) *heavy {
	k := len(list)
	out := &heavy{
		be:      be,
		h:       engine.View(r.n, k, make([]float64, r.n*k)),
		factor:  engine.View(k, k, make([]float64, k*k)),
		product: make([]float64, k),
		ht:      make([]float64, r.n),
		hhp:     make([]float64, r.n),
	}
	r.gather(list, out.h)
	r.centre(out.h)
	scaled := engine.View(r.n, k, make([]float64, r.n*k))
	for i, s := range scale {
		row := out.h.Row(i)
		to := scaled.Row(i)
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

// set computes the vectors t and Ht in the formula of [CG], given z = D⁻¹r for the residual r. It stores Ht in
// h.ht.
func (h *heavy) set(z []float64) {
	k := len(h.product)
	h.be.Gemv(true, 1, h.h, z, 0, h.product)
	h.be.CholeskySolve(h.factor, engine.View(1, k, h.product))
	h.be.Gemv(false, 1, h.h, h.product, 0, h.ht)
}

// updateProduct updates the product HHᵀp in h.hhp when the search direction p becomes z + beta·p. The formula is in
// the comment of [CG].
func (h *heavy) updateProduct(beta float64) {
	for i, v := range h.ht {
		h.hhp[i] = v + beta*h.hhp[i]
	}
}
