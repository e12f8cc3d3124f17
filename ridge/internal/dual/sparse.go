package dual

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// columns holds the entries of sparse rows by columns.
type columns struct {
	// ptr[j] is the index of the first entry of column j. The last element of ptr is the number of entries.
	ptr []int
	row []int32
	val []float64
}

// index returns the entries of the sparse rows by columns. It computes them at the first call and keeps them.
func (r *Rows) index() *columns {
	if r.columns != nil {
		return r.columns
	}
	c := columnsOf(r.d, func(visit func(i int, idx []int32, val []float64)) {
		for _, p := range r.parts {
			for i := range p.n {
				idx, val := p.sparse.Row(i)
				visit(p.first+i, idx, val)
			}
		}
	})
	r.columns = &c
	return r.columns
}

// byColumns returns the entries of sparse rows by columns.
func byColumns(x *engine.CSR) columns {
	return columnsOf(x.Cols, func(visit func(i int, idx []int32, val []float64)) {
		for i := range x.Rows {
			idx, val := x.Row(i)
			visit(i, idx, val)
		}
	})
}

// columnsOf returns the entries of sparse rows by columns. forEach must call its argument visit for each row i, in
// order, with the row's column indices and values.
func columnsOf(d int, forEach func(visit func(i int, idx []int32, val []float64))) columns {
	c := columns{ptr: make([]int, d+1)}
	forEach(func(_ int, idx []int32, _ []float64) {
		for _, j := range idx {
			c.ptr[j+1]++
		}
	})
	for j := range d {
		c.ptr[j+1] += c.ptr[j]
	}
	c.row = make([]int32, c.ptr[d])
	c.val = make([]float64, c.ptr[d])
	next := append([]int(nil), c.ptr[:d]...)
	forEach(func(i int, idx []int32, val []float64) {
		for k, j := range idx {
			at := next[j]
			c.row[at] = int32(i)
			c.val[at] = val[k]
			next[j] = at + 1
		}
	})
	return c
}

// heavyShare is a share of the n rows. To compute AAᵀ, a column with entries in a larger share is stored as a dense
// column. A sparse column with k entries takes k² multiplications, and a dense column takes n². But a
// multiplication of sparse entries takes about forty times as long as one in a matrix product, as measured.
const heavyShare = 1.0 / 6

// light overwrites out.G with the part of AAᵀ that comes from the columns with few entries. It returns the list of
// the columns with many entries, see heavyShare. With an intercept, it centres the part G, which becomes (I −
// qqᵀ)G(I − qqᵀ) with qᵢ = √(wᵢ/Σw) for the weights w. This causes no cancellation, because a column
// that is zero in most rows has a mean much smaller than its spread.
func (r *Rows) light(out *Gram) (heavy []int) {
	c := r.index()
	written := make([]bool, r.d)
	for j := range written {
		if float64(c.ptr[j+1]-c.ptr[j]) > heavyShare*float64(r.n) {
			written[j] = true
			heavy = append(heavy, j)
		}
	}
	clear(out.G)
	r.inParallel(func(p *part, i int) {
		r.addRow(out.G, c, p, i, written)
	})
	chain := float64(r.entries) + 8
	if !r.intercept {
		out.Units = chain
		return heavy
	}
	trace := 0.0
	for i := range r.n {
		trace += out.G[i*r.n+i]
	}
	n := float64(r.n)
	out.Lost = (chain + 4*n + 100) * roundoff.Unit * trace * roundoff.Inflate
	out.Units = 1
	centreBoth(out.G, r.share())
	return heavy
}

// addRow computes one row of the lower triangle g of AAᵀ. It holds the products of row i of part p with all earlier
// rows and with itself. Features j with written[j] are left out, because they are stored as dense columns.
func (r *Rows) addRow(
	g []float64,
	c *columns,
	p *part,
	i int,
	written []bool,
) {
	at := p.first + i
	dst := g[at*r.n : at*r.n+at+1]
	idx, val := p.sparse.Row(i)
	for k, j := range idx {
		if written[j] {
			continue
		}
		v := val[k]
		lo := c.ptr[j]
		hi := c.ptr[j+1]
		rows := c.row[lo:hi]
		vals := c.val[lo:hi]
		for e, row := range rows {
			if int(row) >= len(dst) {
				break
			}
			dst[row] += v * vals[e]
		}
	}
	if r.root != nil {
		for k := range dst {
			dst[k] *= r.root[at] * r.root[k]
		}
	}
}

// chunk is the number of rows that a goroutine processes at a time.
const chunk = 32

// inParallel calls visit for every row, on GOMAXPROCS goroutines.
func (r *Rows) inParallel(visit func(p *part, i int)) {
	var next atomic.Int64
	work := func() {
		for {
			lo := int(next.Add(1)-1) * chunk
			if lo >= r.n {
				return
			}
			for i := lo; i < min(lo+chunk, r.n); i++ {
				p := r.partOf(i)
				visit(p, i-p.first)
			}
		}
	}
	if r.NNZ() < 1<<14 {
		work()
		return
	}
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(work)
	}
	all.Wait()
}

// mostShares is the largest number of workers among which the rows are divided.
const mostShares = 4

// workers returns the number of goroutines among which the rows are divided. It is 1 if there are few entries, or
// few entries per column. It depends only on the rows and not on the machine, because the rounded results depend on
// it.
func (r *Rows) workers() int {
	entries := r.NNZ()
	if entries < 1<<16 {
		return 1
	}
	return int(math.Max(1, math.Min(mostShares, entries/(2*float64(r.d)))))
}

// divide divides the rows among workers. It calls do for each worker k with its range of rows, lo to hi−1.
func (r *Rows) divide(workers int, do func(k, lo, hi int)) {
	inShares(r.n, workers, do)
}

// inShares divides n items among workers. It calls do for each worker k with its range of items, lo to hi−1. The
// calls run at the same time.
func inShares(n, workers int, do func(k, lo, hi int)) {
	var all sync.WaitGroup
	for k := 1; k < workers; k++ {
		all.Go(func() {
			do(k, n*k/workers, n*(k+1)/workers)
		})
	}
	do(0, 0, n/workers)
	all.Wait()
}

// partOf returns the part that contains row i.
func (r *Rows) partOf(i int) *part {
	lo, hi := 0, len(r.parts)
	for hi-lo > 1 {
		if m := (lo + hi) / 2; r.parts[m].first <= i {
			lo = m
		} else {
			hi = m
		}
	}
	return &r.parts[lo]
}

// gather overwrites p with the columns in list of the sparse rows. The columns are as stored, neither weighted nor
// centred.
func (r *Rows) gather(list []int, p engine.Matrix) {
	where := make([]int32, r.d)
	for k, j := range list {
		where[j] = int32(k) + 1
	}
	r.inParallel(func(from *part, i int) {
		dst := p.Row(from.first + i)
		clear(dst)
		idx, val := from.sparse.Row(i)
		for k, j := range idx {
			if at := where[j]; at > 0 {
				dst[at-1] = val[k]
			}
		}
	})
}

// centreBoth overwrites the lower triangle of the n×n matrix g with (I − qqᵀ)g(I − qqᵀ). For h = gq and
// s = qᵀh, this matrix is g − qhᵀ − hqᵀ + s·qqᵀ.
func centreBoth(g, q []float64) {
	n := len(q)
	h := make([]float64, n)
	for i := range n {
		row := g[i*n : i*n+i]
		h[i] += vec.Dot(row, q[:i]) + g[i*n+i]*q[i]
		vec.Axpy(q[i], row, h[:i])
	}
	s := vec.Dot(q, h)
	for i := range n {
		row := g[i*n : i*n+i+1]
		a := q[i]
		b := h[i] - s*q[i]
		for j := range row {
			row[j] -= a*h[j] + b*q[j]
		}
	}
}
