package eigen

import (
	"math"
	"unsafe"
)

// leafRows is the largest order of a tridiagonal block that is solved by QL iteration. Larger blocks are divided.
const leafRows = 24

// divider is the state of the divide and conquer algorithm for a tridiagonal matrix T. A block is the part of T
// with rows and columns lo to hi, hi excluded. In the slices for a block, index 0 belongs to row lo. The slot of an
// eigenvector is the index of its row in q.
type divider struct {
	kr   Kernels
	n    int
	d, e []float64 // T; in solved blocks, d holds the eigenvalues by slot
	q    []float64 // n×n: eigenvectors of the solved blocks, by slot
	perm []int     // for each solved block, its slots in ascending order of the eigenvalues

	// State of one merge.
	deflation
	solution
	packed []float64 // kept rows of q, grouped by kind, without their known zeros
	group  []int     // index in packed of each kept row
	row    []float64 // workspace, n
}

// A deflation divides the eigenvectors of two solved halves into kept and dropped ones. Only kept eigenvectors take
// part in the secular equation, whose roots are the new eigenvalues. Eigenvectors are identified by their slots,
// which are row indices.
type deflation struct {
	z       []float64 // the coupling vector z, by slot
	kind    []int     // by slot
	order   []int     // all slots by ascending d
	kept    []int     // slots in the secular equation, by ascending d
	dropped []int     // deflated slots, by ascending d
}

// A solution holds the secular equation of two halves that are merged, and the roots of this equation. The roots
// are the new eigenvalues.
type solution struct {
	eq      secular
	lambda  []float64 // the roots
	zhat    []float64 // the coupling vector that makes these roots exact
	vectors []float64 // eigenvectors of D + rho·zᵀz as rows
}

func divideWork(n, k int) int {
	return 13*n + n*n + packedWork(n) + vectorsWork(n, k)
}

// packedWork returns the length of divider.packed, which is n₁² + n₂² for halves of orders n₁ and n₂. The
// n₁ eigenvectors of the first half have n₁ elements, and the n₂ eigenvectors of the second half have n₂. A
// rotation combines two eigenvectors and drops one of them, so the total does not grow.
func packedWork(n int) int {
	return (n/2)*(n/2) + (n-n/2)*(n-n/2)
}

// vectorsWork returns the length of solution.vectors. The last merge stores k rows of n elements. A merge inside a
// half stores at most a square matrix with the order of this half.
func vectorsWork(n, k int) int {
	return max(k*n, (n-n/2)*(n-n/2))
}

// divide computes all eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal e[0:n−1]. It writes
// them to w in descending order. It writes the eigenvectors of the k largest eigenvalues, k > 0, to the rows of v
// (k×n). It overwrites d and e, which both have length n. It returns false if an iteration does not converge.
//
// Sources: Cuppen (1981); Gu, Eisenstat (1995).
func divide(
	kr Kernels,
	loops Loops,
	n, k int,
	d, e, w, v []float64,
	ldv int,
	work []float64,
) bool {
	s := newDivider(kr, loops, n, k, d, e, work)
	clear(s.q)
	if !s.solve(0, n, k) {
		return false
	}
	for i := range n {
		w[i] = d[s.perm[n-1-i]]
	}
	for i := range k {
		copy(v[i*ldv:i*ldv+n], s.q[s.perm[n-1-i]*n:])
	}
	return true
}

func newDivider(
	kr Kernels,
	loops Loops,
	n, k int,
	d, e, work []float64,
) divider {
	cut := func(size int) []float64 {
		x := work[:size:size]
		work = work[size:]
		return x
	}
	return divider{
		kr:   kr,
		n:    n,
		d:    d,
		e:    e,
		q:    cut(n * n),
		perm: ints(cut(n)),
		deflation: deflation{
			z:       cut(n),
			kind:    ints(cut(n)),
			order:   ints(cut(n)),
			kept:    ints(cut(n)),
			dropped: ints(cut(n)),
		},
		solution: solution{
			eq: secular{
				loops: loops,
				d:     cut(n),
				z:     cut(n),
				zz:    cut(n),
			},
			lambda:  cut(n),
			zhat:    cut(n),
			vectors: cut(vectorsWork(n, k)),
		},
		packed: cut(packedWork(n)),
		group:  ints(cut(n)),
		row:    cut(n),
	}
}

// ints returns the memory of x as a slice of integers, so that a workspace of float64 can hold indices. The
// conversion is safe, because neither type holds pointers. An int is also not larger than a float64 and needs no
// stricter alignment.
func ints(x []float64) []int {
	return unsafe.Slice((*int)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// solve computes all eigenvalues and at least the eigenvectors of the k largest ones. It computes them for the
// block of T with rows lo to hi, hi excluded. It splits the block at the off-diagonal entry e in its middle,
//
//	block = diag(T₁, T₂) + |e|·uᵀu,   u = (0, …, 0, 1, sign(e), 0, …, 0).
//
// It solves the tridiagonal halves T₁ and T₂ and merges the solutions.
func (s *divider) solve(lo, hi, k int) bool {
	if hi-lo <= leafRows {
		return s.leaf(lo, hi)
	}
	mid := lo + (hi-lo)/2
	coupling := s.e[mid-1]
	s.d[mid-1] -= math.Abs(coupling)
	s.d[mid] -= math.Abs(coupling)
	return s.solve(lo, mid, mid-lo) &&
		s.solve(mid, hi, hi-mid) &&
		s.merge(lo, mid, hi, k, coupling)
}

// leaf computes all eigenvalues and eigenvectors of the block with rows lo to hi, hi excluded, by QL iteration.
func (s *divider) leaf(lo, hi int) bool {
	n := hi - lo
	d := s.d[lo:hi]
	q := s.q[lo*s.n+lo:]
	perm := s.perm[lo:hi]
	for i := range n {
		q[i*s.n+i] = 1
		perm[i] = i
	}
	if !ql(d, s.e[lo:hi], q, s.n, n) {
		return false
	}
	sortByValue(perm, d)
	return true
}

// sortByValue sorts the indices in slots by ascending values of d. It uses insertion sort, because there are few
// slots or they are nearly sorted.
func sortByValue(slots []int, d []float64) {
	for i, slot := range slots {
		j := i
		for ; j > 0 && d[slots[j-1]] > d[slot]; j-- {
			slots[j] = slots[j-1]
		}
		slots[j] = slot
	}
}
