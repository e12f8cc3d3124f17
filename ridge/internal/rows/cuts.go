package rows

import (
	"unsafe"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A cut is a range of at most RowsPerStage rows of a block. Check validates all cuts of a block before Load adds
// the first cut. Check also computes the sums of dense features. Without these sums, Load would have to read the
// features twice: once for their mean and once to store them.

// sumsOfCuts holds the sums of features that Check computed, for each cut of a block.
type sumsOfCuts struct {
	cuts []cutSums
	used int       // number of valid elements of cuts; the other elements hold memory for reuse
	next int       // index of the next cut to load
	part []float64 // sum of a group of MeanPart rows, d
}

// cutSums holds the sums for a cut of n rows. x points to the first number of the cut, so that the cut can be
// recognised.
type cutSums struct {
	x      *float64
	n      int
	sum    []float64 // Σw·(row − origin), d
	spread []float64 // Σw·(row − origin)², d
}

// begin appends a cut whose sums are all zero, and returns the cut.
func (a *sumsOfCuts) begin(x *float64, n, d int) *cutSums {
	if a.used == len(a.cuts) {
		a.cuts = append(a.cuts, cutSums{})
	}
	c := &a.cuts[a.used]
	a.used++
	c.x, c.n = x, n
	c.sum = vec.Grow(c.sum, d)
	c.spread = vec.Grow(c.spread, d)
	a.part = vec.Grow(a.part, d)
	clear(c.sum)
	clear(c.spread)
	clear(a.part)
	return c
}

// take returns the stored sums of the next cut. If the next cut does not begin at x or does not have n rows, take
// returns nil.
func (a *sumsOfCuts) take(x *float64, n int) *cutSums {
	if a.next == a.used ||
		a.cuts[a.next].x != x ||
		a.cuts[a.next].n != n {
		return nil
	}
	a.next++
	return &a.cuts[a.next-1]
}

// Check validates a block as [CheckBlock] does. It also returns an error if [Stage.Overflows] returns true for the
// block. After a successful Check, the caller calls Load for each cut, a range of at most [RowsPerStage] rows.
// Check keeps the sums over the rows of each cut, so that Load need not compute them.
func (s *Stage) Check(b dataset.Block, firstRow int, raw float64) (float64, error) {
	s.added.used, s.added.next = 0, 0
	if err := CheckShape(b, s.d, s.t, firstRow); err != nil {
		return 0, err
	}
	sums := s.intercept && b.Sparse == nil && s.Weight.Value() > 0 // without weight there is no origin yet
	most := RowsPerStage(s.d, b.Sparse != nil)
	for lo := 0; lo < b.N; lo += most {
		var err error
		raw, err = s.checkCut(b, lo, min(lo+most, b.N), firstRow, raw, sums)
		if err != nil {
			s.added.used = 0
			return 0, err
		}
	}
	if s.Overflows(b) {
		s.added.used = 0
		return 0, &fd.RangeError{Row: firstRow + max(b.N-1, 0)}
	}
	return raw, nil
}

// checkCut does the work of Check for rows lo to hi−1. If the argument sums is true, it also computes the sums of
// the features for Load.
func (s *Stage) checkCut(
	b dataset.Block,
	lo, hi, firstRow int,
	raw float64,
	sums bool,
) (float64, error) {
	var c *cutSums
	if sums {
		c = s.added.begin(&b.X[lo*s.d], hi-lo, s.d)
	}
	for i := lo; i < hi; i += checkedRows {
		end := min(i+checkedRows, hi)
		var err error
		raw, err = checkRows(b, i, end, s.d, s.t, firstRow, raw)
		if err != nil {
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

// add adds rows lo to hi−1 of the matrix x, with the weights w, to the sums. With z = row − origin, it adds
// Σw·z to part, and Σw·z² to c.spread.
func (c *cutSums) add(
	w, x []float64,
	lo, hi int,
	origin, part []float64,
) {
	d := len(origin)
	if w == nil {
		rows := engine.View(hi-lo, d, x[lo*d:hi*d])
		engine.Spread(rows, origin, part, c.spread)
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

// endPart adds part, the sum of a group of rows, to c.sum and sets part to zero.
func (c *cutSums) endPart(part []float64) {
	vec.Axpy(1, part, c.sum)
	clear(part)
}

// sumFeatures computes sums over n rows of features x with the weights w. With z = row − origin, it stores Σw·z in
// s.block.mean and Σw·z² in s.block.spread. If Check has already computed these sums, sumFeatures copies them.
func (s *Stage) sumFeatures(n int, w, x []float64) {
	c := s.added.take(unsafe.SliceData(x), n)
	if c == nil {
		s.added.used, s.added.next = 0, 0
		c = s.added.begin(unsafe.SliceData(x), n, s.d)
		for lo := 0; lo < n; lo += roundoff.MeanPart {
			hi := min(lo+roundoff.MeanPart, n)
			c.add(w, x, lo, hi, s.Origin[:s.d], s.added.part)
			c.endPart(s.added.part)
		}
		s.added.used = 0
	}
	copy(s.block.mean, c.sum)
	copy(s.block.spread, c.spread)
}

// sumWritten does the work of sumFeatures for sparse rows. It converts one row at a time to a dense row.
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
