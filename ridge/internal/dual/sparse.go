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

// columns are the entries of sparse rows, column by column.
type columns struct {
	ptr []int // of d columns, and their end
	row []int32
	val []float64
}

// index returns the columns of sparse rows. It makes them once.
func (r *Rows) index() *columns {
	if r.columns != nil {
		return r.columns
	}
	c := &columns{ptr: make([]int, r.d+1)}
	for _, p := range r.parts {
		for i := range p.n {
			idx, _ := p.sparse.Row(i)
			for _, j := range idx {
				c.ptr[j+1]++
			}
		}
	}
	for j := range r.d {
		c.ptr[j+1] += c.ptr[j]
	}
	c.row, c.val = make([]int32, c.ptr[r.d]), make([]float64, c.ptr[r.d])
	next := append([]int(nil), c.ptr[:r.d]...)
	for _, p := range r.parts {
		for i := range p.n {
			idx, val := p.sparse.Row(i)
			for k, j := range idx {
				at := next[j]
				c.row[at], c.val[at] = int32(p.first+i), val[k]
				next[j] = at + 1
			}
		}
	}
	r.columns = c
	return c
}

// heavyShare is the share of rows that a column has entries in from which on it is written out: a
// product of two entries by way of the index takes, measured, some forty times as long as one of
// a matrix product, of which there are n² for each column.
const heavyShare = 1.0 / 6

// light overwrites G with the part of the columns that have few entries, and returns the others.
// Their rows are centred by what centring does to G: (I − qqᵀ)G(I − qqᵀ), q having the elements
// √(w/Σw). As these columns are zero in most rows, they are not far from zero beside their spread.
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
	r.inParallel(func(p *part, i int) { r.addRow(out.G, c, p, i, written) })
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

// addRow adds to row i of G, counted in its part, the products with rows up to it.
func (r *Rows) addRow(g []float64, c *columns, p *part, i int, written []bool) {
	at := p.first + i
	dst := g[at*r.n : at*r.n+at+1]
	idx, val := p.sparse.Row(i)
	for k, j := range idx {
		if written[j] {
			continue
		}
		v := val[k]
		lo, hi := c.ptr[j], c.ptr[j+1]
		rows, vals := c.row[lo:hi], c.val[lo:hi]
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

// chunk is how many rows a goroutine takes at a time.
const chunk = 32

// inParallel calls do for every row, each in one of GOMAXPROCS goroutines.
func (r *Rows) inParallel(do func(p *part, i int)) {
	var next atomic.Int64
	work := func() {
		for {
			lo := int(next.Add(1)-1) * chunk
			if lo >= r.n {
				return
			}
			for i := lo; i < min(lo+chunk, r.n); i++ {
				p := r.partOf(i)
				do(p, i-p.first)
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

// mostShares is how many parts rows are divided into at most.
const mostShares = 4

// workers is how many goroutines share the entries: so many as follow from the rows alone, for each
// has sums of its own, and what these come to is not to depend on the machine. Few entries, or few for
// each column, are not worth several.
func (r *Rows) workers() int {
	entries := r.NNZ()
	if entries < 1<<16 {
		return 1
	}
	return int(math.Max(1, math.Min(mostShares, entries/(2*float64(r.d)))))
}

// divide has each of so many workers, counted from 0, do some rows that follow each other.
func (r *Rows) divide(workers int, do func(k, lo, hi int)) { inShares(r.n, workers, do) }

// inShares has each of so many workers do some of n things that follow each other.
func inShares(n, workers int, do func(k, lo, hi int)) {
	var all sync.WaitGroup
	for k := 1; k < workers; k++ {
		all.Go(func() { do(k, n*k/workers, n*(k+1)/workers) })
	}
	do(0, 0, n/workers)
	all.Wait()
}

// partOf is the part of row i.
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

// gather overwrites p with the columns of sparse rows that are in the list, as they are.
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

// centreBoth overwrites the lower triangle of the n×n matrix g with that of (I − qqᵀ)g(I − qqᵀ):
// with h = gq and s = qᵀh that is g − qhᵀ − hqᵀ + s·qqᵀ.
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
		row, a, b := g[i*n:i*n+i+1], q[i], h[i]-s*q[i]
		for j := range row {
			row[j] -= a*h[j] + b*q[j]
		}
	}
}
