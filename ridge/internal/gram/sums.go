package gram

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// sums holds the sums of a pass so far, for q vectors. The sums are compensated (Neumaier), so that the error of a
// gradient does not grow with the number of rows. Plain sums of the products of a group of rows are computed first,
// in a q×d matrix. But if a group has fewer entries than this matrix, each product is added to the compensated sums
// directly.
type sums struct {
	d         int
	products  []twofold.Total // q×d
	plain     []float64       // q×d, plain sums not yet added to products; empty before the first plain sum
	chain     int             // number of backend calls, or of sparse rows, whose results are in plain
	rss, ones []twofold.Total // ‖r‖² and 1ᵀr for each vector
	rows      int64
	weight    twofold.Total
	sparse    bool // some rows of this pass or an earlier one were sparse
}

// reset sets the sums to zero, for q vectors.
func (s *sums) reset(q int) {
	n := q * s.d
	if cap(s.products) < n || cap(s.rss) < q {
		s.products = make([]twofold.Total, n)
		s.rss = make([]twofold.Total, q)
		s.ones = make([]twofold.Total, q)
	}
	s.products = s.products[:q*s.d]
	s.rss = s.rss[:q]
	s.ones = s.ones[:q]
	clear(s.products)
	clear(s.rss)
	clear(s.ones)
	s.plain = s.plain[:0]
	s.chain = 0
	s.rows = 0
	s.weight = twofold.Total{}
}

// begin allocates the plain sums.
func (s *sums) begin() {
	if len(s.plain) < len(s.products) {
		s.plain = vec.Grow(s.plain, len(s.products))
		clear(s.plain)
	}
}

// lengthen must be called before n additions to the plain sums. The error of plain sums grows with the number of
// additions. If this number would exceed limit, lengthen first adds the plain sums to the compensated sums.
func (s *sums) lengthen(n, limit int) {
	s.begin()
	if s.chain > 0 && s.chain+n > limit {
		s.fold()
	}
	s.chain += n
}

// fold adds the plain sums to the compensated sums.
func (s *sums) fold() {
	if s.chain == 0 {
		return
	}
	for i, x := range s.plain {
		s.products[i].Add(x)
	}
	clear(s.plain)
	s.chain = 0
}

// weigh adds the weights of the rows of a block to the total weight.
func (s *sums) weigh(b dataset.Block) {
	if b.W == nil {
		s.weight.Add(float64(b.N))
		return
	}
	for _, w := range b.W[:b.N] {
		s.weight.Add(w)
	}
}

// put appends the sums to dst. With the residuals r of a vector, these are Aᵀr for all vectors, then ‖r‖² for
// all, then 1ᵀr for all. Three numbers follow: the number of rows, their weight, and 1 if some rows were sparse,
// otherwise 0.
func (s *sums) put(dst []float64) []float64 {
	dst = slices.Grow(dst, len(s.products)+2*len(s.rss)+3+questionWords)
	for _, list := range [][]twofold.Total{s.products, s.rss, s.ones} {
		for i := range list {
			dst = append(dst, list[i].Value())
		}
	}
	sparse := 0.0
	if s.sparse {
		sparse = 1
	}
	return append(dst, float64(s.rows), s.weight.Value(), sparse)
}

// totals holds the numbers that the method put appends, added up over all workers.
type totals struct {
	products, rss, ones []float64
	rows, weight        float64
	sparse              bool
}

// totals returns the sums over all workers. found holds these sums in the order of the method put.
func (s *sums) totals(found []float64) totals {
	q := len(s.rss)
	n := q * s.d
	rest := found[n+2*q:]
	return totals{found[:n], found[n : n+q], found[n+q : n+2*q], rest[0], rest[1], rest[2] > 0}
}
