package gram

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
)

// sums are what a pass has added up so far for q vectors. Contributions are summed with
// compensation, so that the error of a gradient doesn't grow with n: plainly over some
// rows, which go through a q×d matrix that stays small beside them, then these sums by
// Neumaier's method. Sparse rows beside which it would not be small go to these at once.
type sums struct {
	d         int
	products  []neumaier.Sum // q×d
	plain     []float64      // q×d, to be added to products; empty until there are plain sums
	chain     int            // calls, or sparse rows, in plain
	rss, ones []neumaier.Sum // ‖r‖² and 1ᵀr of each vector
	rows      int64
	weight    neumaier.Sum
	sparse    bool // some rows were sparse, in this pass or one before
}

// reset begins the sums for q vectors.
func (s *sums) reset(q int) {
	if n := q * s.d; cap(s.products) < n || cap(s.rss) < q {
		s.products = make([]neumaier.Sum, n)
		s.rss, s.ones = make([]neumaier.Sum, q), make([]neumaier.Sum, q)
	}
	s.products, s.rss, s.ones = s.products[:q*s.d], s.rss[:q], s.ones[:q]
	clear(s.products)
	clear(s.rss)
	clear(s.ones)
	s.plain = s.plain[:0]
	s.chain, s.rows, s.weight = 0, 0, neumaier.Sum{}
}

// begin makes room for plain sums.
func (s *sums) begin() {
	if len(s.plain) < len(s.products) {
		s.plain = vec.Grow(s.plain, len(s.products))
		clear(s.plain)
	}
}

// lengthen counts more additions to plain, and folds before there are more than longest.
func (s *sums) lengthen(more, longest int) {
	s.begin()
	if s.chain > 0 && s.chain+more > longest {
		s.fold()
	}
	s.chain += more
}

// fold adds the plain sums to the compensated ones.
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

// weigh takes note of the weights of a block.
func (s *sums) weigh(b dataset.Block) {
	if b.W == nil {
		s.weight.Add(float64(b.N))
		return
	}
	for _, w := range b.W[:b.N] {
		s.weight.Add(w)
	}
}

// put writes what was summed behind dst: the products, ‖r‖² and 1ᵀr of each vector, rows,
// weight and whether some rows were sparse.
func (s *sums) put(dst []float64) []float64 {
	dst = slices.Grow(dst, len(s.products)+2*len(s.rss)+3+questionWords)
	for _, list := range [][]neumaier.Sum{s.products, s.rss, s.ones} {
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

// totals are what put has written, added up over all workers.
type totals struct {
	products, rss, ones []float64
	rows, weight        float64
	sparse              bool
}

// totals reads what put has written, of as many vectors as s has.
func (s *sums) totals(found []float64) totals {
	q := len(s.rss)
	n := q * s.d
	rest := found[n+2*q:]
	return totals{found[:n], found[n : n+q], found[n+q : n+2*q], rest[0], rest[1], rest[2] > 0}
}
