package eigen

import (
	"math"
	"unsafe"
)

// leafRows is the largest tridiagonal block given to the QL iteration.
const leafRows = 24

// divider holds the state of one divide and conquer. Rows and columns of a
// block [lo, hi) of T are numbered within the block where a slice is cut to
// it. The row in which an eigenvector lies is its slot.
type divider struct {
	kr   Kernels
	n    int
	d, e []float64 // T; solved blocks hold eigenvalues in d, by slot
	q    []float64 // n×n: eigenvectors of the solved blocks, by slot
	perm []int     // the slots of each solved block by ascending eigenvalue

	// Of one merge.
	deflation
	solution
	packed []float64 // the kept rows of q, grouped by kind, without their zeros
	group  []int     // where each of kept stands in packed
	row    []float64 // n of scratch
}

// A deflation parts the slots of a merge into those of which the secular equation is made
// and the others.
type deflation struct {
	z       []float64 // the coupling vector, by slot
	kind    []int     // by slot
	order   []int     // all slots by ascending d
	kept    []int     // the slots in the secular equation, by ascending d
	dropped []int     // the deflated slots, by ascending d
}

// A solution is the secular equation of a merge and what solves it.
type solution struct {
	eq      secular
	lambda  []float64 // its roots
	zhat    []float64 // the coupling vector whose roots these are exactly
	vectors []float64 // eigenvectors of D + rho·zᵀz as rows
}

func divideWork(n, k int) int {
	return 13*n + n*n + packedWork(n) + vectorsWork(n, k)
}

// packedWork is n₁² + n₂² for the halves n₁ + n₂ = n: a merge makes a row dense
// only by dropping another.
func packedWork(n int) int {
	return (n/2)*(n/2) + (n-n/2)*(n-n/2)
}

// vectorsWork covers the last merge, of which k rows are kept, and those of the
// halves.
func vectorsWork(n, k int) int {
	return max(k*n, (n-n/2)*(n-n/2))
}

// divide computes all eigenvalues of the tridiagonal matrix T with diagonal d and
// off-diagonal e[0:n−1] in descending order into w, and the eigenvectors of the
// k leading ones, k > 0, as the rows of v (k×n). d and e, both of length n, are
// overwritten. It reports false when an iteration does not converge.
//
// Sources: Cuppen (1981); Gu, Eisenstat (1995).
func divide(kr Kernels, n, k int, d, e, w, v []float64, ldv int, work []float64) bool {
	s := newDivider(kr, n, k, d, e, work)
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

func newDivider(kr Kernels, n, k int, d, e, work []float64) divider {
	cut := func(size int) []float64 {
		x := work[:size:size]
		work = work[size:]
		return x
	}
	return divider{
		kr: kr, n: n, d: d, e: e,
		q: cut(n * n), perm: ints(cut(n)),
		deflation: deflation{
			z: cut(n), kind: ints(cut(n)), order: ints(cut(n)), kept: ints(cut(n)), dropped: ints(cut(n)),
		},
		solution: solution{
			eq:     secular{d: cut(n), z: cut(n), zz: cut(n)},
			lambda: cut(n), zhat: cut(n), vectors: cut(vectorsWork(n, k)),
		},
		packed: cut(packedWork(n)), group: ints(cut(n)), row: cut(n),
	}
}

// ints reinterprets x as integers, one for each element, so that index arrays fit
// in the caller's workspace. An int is neither larger than a float64 nor more
// strictly aligned, and neither holds pointers.
func ints(x []float64) []int {
	return unsafe.Slice((*int)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// solve finds the eigenpairs of the block [lo, hi), the eigenvectors of at least
// the k leading ones. It tears the block in two,
//
//	T = diag(T₁, T₂) + |e|·uᵀu,   u = (0, …, 0, 1, sign(e), 0, …, 0),
//
// solves the halves and merges them.
func (s *divider) solve(lo, hi, k int) bool {
	if hi-lo <= leafRows {
		return s.leaf(lo, hi)
	}
	mid := lo + (hi-lo)/2
	coupling := s.e[mid-1]
	s.d[mid-1] -= math.Abs(coupling)
	s.d[mid] -= math.Abs(coupling)
	return s.solve(lo, mid, mid-lo) && s.solve(mid, hi, hi-mid) && s.merge(lo, mid, hi, k, coupling)
}

// leaf finds all eigenpairs of the block [lo, hi) by the QL iteration.
func (s *divider) leaf(lo, hi int) bool {
	n := hi - lo
	d, q, perm := s.d[lo:hi], s.q[lo*s.n+lo:], s.perm[lo:hi]
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

// sortByValue sorts slots, few or nearly in order, by ascending d.
func sortByValue(slots []int, d []float64) {
	for i, slot := range slots {
		j := i
		for ; j > 0 && d[slots[j-1]] > d[slot]; j-- {
			slots[j] = slots[j-1]
		}
		slots[j] = slot
	}
}
