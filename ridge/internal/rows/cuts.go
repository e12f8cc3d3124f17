package rows

import (
	"unsafe"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A block has to be known to be good before any of it counts, and its mean before it is centred.
// Check finds out both in one sweep over the rows, for every cut that Load is going to stage.

// sumsOfCuts are what Check has added up of the features of each cut of a block, in their order.
type sumsOfCuts struct {
	cuts []cutSums
	used int       // of the cuts; the memory of others is used again
	next int       // the one that Load is to stage next
	part []float64 // the sum of a part of the rows, d
}

// cutSums are the sums of n rows that begin at x.
type cutSums struct {
	x      *float64
	n      int
	sum    []float64 // of the rows less the origin, times their weights, d
	spread []float64 // of the squares of that, d
}

// begin makes the sums of the next cut, all zero.
func (a *sumsOfCuts) begin(x *float64, n, d int) *cutSums {
	if a.used == len(a.cuts) {
		a.cuts = append(a.cuts, cutSums{})
	}
	c := &a.cuts[a.used]
	a.used++
	c.x, c.n = x, n
	c.sum, c.spread, a.part = vec.Grow(c.sum, d), vec.Grow(c.spread, d), vec.Grow(a.part, d)
	clear(c.sum)
	clear(c.spread)
	clear(a.part)
	return c
}

// take returns the sums of these n rows, nil where they are not those of the next cut.
func (a *sumsOfCuts) take(x *float64, n int) *cutSums {
	if a.next == a.used || a.cuts[a.next].x != x || a.cuts[a.next].n != n {
		return nil
	}
	a.next++
	return &a.cuts[a.next-1]
}

// Check is [CheckBlock], and refuses too what [Stage.Overflows], for a block that is then cut into
// RowsPerStage rows at a time and loaded. Nothing that can be observed is changed.
func (s *Stage) Check(b dataset.Block, first int, raw float64) (float64, error) {
	s.added.used, s.added.next = 0, 0
	if err := CheckShape(b, s.d, s.t, first); err != nil {
		return 0, err
	}
	sums := s.intercept && b.Sparse == nil && s.Weight.Value() > 0 // without weight there is no origin yet
	most := RowsPerStage(s.d, b.Sparse != nil)
	for lo := 0; lo < b.N; lo += most {
		var err error
		if raw, err = s.checkCut(b, lo, min(lo+most, b.N), first, raw, sums); err != nil {
			s.added.used = 0
			return 0, err
		}
	}
	if s.Overflows(b) {
		s.added.used = 0
		return 0, &fd.RangeError{Row: first + max(b.N-1, 0)}
	}
	return raw, nil
}

// checkCut is Check for rows lo to hi, which are added up if sums is set.
func (s *Stage) checkCut(b dataset.Block, lo, hi, first int, raw float64, sums bool) (float64, error) {
	var c *cutSums
	if sums {
		c = s.added.begin(&b.X[lo*s.d], hi-lo, s.d)
	}
	for i := lo; i < hi; i += checkedRows {
		end := min(i+checkedRows, hi)
		var err error
		if raw, err = checkRows(b, i, end, s.d, s.t, first, raw); err != nil {
			return 0, err
		}
		if sums {
			c.add(b.W, b.X, i, end, s.Origin[:s.d], s.added.part)
			if end == hi || (end-lo)%roundoff.MeanPart == 0 {
				c.endPart(s.added.part)
			}
		}
	}
	return raw, nil
}

// add adds rows lo to hi of x, to the sum of a part.
func (c *cutSums) add(w, x []float64, lo, hi int, origin, part []float64) {
	d := len(origin)
	if w == nil {
		engine.Spread(engine.View(hi-lo, d, x[lo*d:hi*d]), origin, part, c.spread)
		return
	}
	for i := lo; i < hi; i++ {
		for j, u := range x[i*d : (i+1)*d] {
			z := u - origin[j]
			vz := w[i] * z
			part[j] += vz
			c.spread[j] += vz * z
		}
	}
}

// endPart adds the sum of a part to that of all rows, and clears it for the next.
func (c *cutSums) endPart(part []float64) {
	vec.Axpy(1, part, c.sum)
	clear(part)
}

// sumFeatures sets the mean of the block to the sum of n rows x less the origin, and its spread:
// those that Check has found, or by going over the rows now.
func (s *Stage) sumFeatures(n int, w, x []float64) {
	c := s.added.take(unsafe.SliceData(x), n)
	if c == nil {
		s.added.used, s.added.next = 0, 0
		c = s.added.begin(unsafe.SliceData(x), n, s.d)
		for lo := 0; lo < n; lo += roundoff.MeanPart {
			c.add(w, x, lo, min(lo+roundoff.MeanPart, n), s.Origin[:s.d], s.added.part)
			c.endPart(s.added.part)
		}
		s.added.used = 0
	}
	copy(s.block.mean, c.sum)
	copy(s.block.spread, c.spread)
}

// sumWritten is sumFeatures for sparse rows that are written out, one at a time.
func (s *Stage) sumWritten(b dataset.Block) {
	s.sparse.row = vec.Grow(s.sparse.row, s.d)
	s.added.used, s.added.next = 0, 0
	c := s.added.begin(nil, b.N, s.d)
	for i := range b.N {
		densify(b.Sparse, i, s.sparse.row)
		var w []float64
		if b.W != nil {
			w = b.W[i : i+1]
		}
		c.add(w, s.sparse.row, 0, 1, s.Origin[:s.d], s.added.part)
		if (i+1)%roundoff.MeanPart == 0 || i+1 == b.N {
			c.endPart(s.added.part)
		}
	}
	s.added.used = 0
	copy(s.block.mean, c.sum)
	copy(s.block.spread, c.spread)
}
