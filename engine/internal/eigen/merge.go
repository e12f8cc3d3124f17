package eigen

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// The kind of an eigenvector says which of its two halves may have nonzero elements.
const (
	firstHalf = iota
	bothHalves
	secondHalf
	deflated // not in the secular equation
)

// merge computes the eigenvalues and eigenvectors of a block of T from the solutions of its two halves. The block
// has rows lo to hi, hi excluded, and the second half begins at row mid. The halves are coupled by the entry e of
// T. Let the rows of Q₁ and Q₂ be the eigenvectors of the halves, and let D be the diagonal matrix of all their
// eigenvalues. Then the block is
//
//	Qᵀ·(D + rho·zᵀz)·Q,   Q = diag(Q₁, Q₂),
//
// where rho = 2|e|. The coupling vector z consists of the last column of Q₁ and the first column of Q₂, scaled to
// norm one. merge computes at least the eigenvectors of the k largest eigenvalues.
func (s *divider) merge(lo, mid, hi, k int, e float64) bool {
	n1, n := mid-lo, hi-lo
	d := s.d[lo:hi]
	q := s.q[lo*s.n+lo:]
	perm := s.perm[lo:hi]

	s.couple(n1, n, q, math.Signbit(e))
	s.mergeOrders(n1, d, perm)
	s.deflate(n1, n, d, q, 2*math.Abs(e))
	groups := s.pack(n1, n, q)
	s.makeRoom(n, d, q)

	kept := len(s.kept)
	stored := min(k, kept)
	if !s.solveSecular(stored) {
		return false
	}
	copy(d, s.lambda[:kept])
	wanted := s.sortSlots(n, k, d, perm)
	s.eigenvectors(stored, wanted)
	s.multiply(n1, n, wanted, groups, q)
	return true
}

// couple sets the coupling vector z, scaled to norm one, and the kind of each eigenvector. If the matrix entry that
// couples the two halves is negative, couple changes the sign of the second half of z.
func (s *divider) couple(n1, n int, q []float64, negative bool) {
	s.z = s.z[:n]
	s.kind = s.kind[:n]
	second := math.Sqrt2 / 2
	if negative {
		second = -second
	}
	for i := range n1 {
		s.z[i] = math.Sqrt2 / 2 * q[i*s.n+n1-1]
		s.kind[i] = firstHalf
	}
	for i := n1; i < n; i++ {
		s.z[i] = second * q[i*s.n+n1]
		s.kind[i] = secondHalf
	}
}

// mergeOrders sets s.order to the indices of the n eigenvalues d in ascending order. The argument perm[:n1] is the
// order of the first n1 eigenvalues, and perm[n1:] is the order of the rest.
func (s *deflation) mergeOrders(n1 int, d []float64, perm []int) {
	s.order = s.order[:0]
	first := perm[:n1]
	second := perm[n1:]
	for len(first) > 0 || len(second) > 0 {
		if len(second) == 0 ||
			len(first) > 0 && d[first[0]] <= d[n1+second[0]] {
			s.order = append(s.order, first[0])
			first = first[1:]
		} else {
			s.order = append(s.order, n1+second[0])
			second = second[1:]
		}
	}
}

// deflate divides the slots (row indices of eigenvectors) into kept and dropped slots. It stores the secular
// equation of the kept slots in s.eq. It drops a slot in two cases:
//
//   - The element of the coupling vector z in this slot is negligible.
//   - The eigenvalue is very close to the next one. Then a rotation can make the element of z zero, and the
//     off-diagonal entry that the rotation creates is negligible.
//
// The neglected part is at most 8·eps times the norm of the block, plus eps² times the norm of the whole matrix.
// The second part ensures that the secular equation neither overflows nor underflows.
//
// Source: Dongarra, Sorensen, SIAM J. Sci. Stat. Comput. 8 (1987).
func (s *divider) deflate(n1, n int, d, q []float64, rho float64) {
	s.kept = s.kept[:0]
	s.dropped = s.dropped[:0]
	smallest := d[s.order[0]]
	largest := d[s.order[n-1]]
	tol := 8 * eps * max(-smallest, largest, rho, eps)
	last := -1 // the last slot whose element of z is not negligible
	for _, slot := range s.order {
		if rho*math.Abs(s.z[slot]) <= tol {
			s.drop(slot)
			continue
		}
		if last >= 0 && !s.rotateAway(last, slot, n, d, q, tol) {
			s.kept = append(s.kept, last)
		}
		last = slot
	}
	if last >= 0 {
		s.kept = append(s.kept, last)
	}
	sortByValue(s.dropped, d)

	kept := len(s.kept)
	f := &s.eq
	f.d = f.d[:kept]
	f.z = f.z[:kept]
	f.zz = f.zz[:kept]
	for i, slot := range s.kept {
		f.d[i], f.z[i] = d[slot], s.z[slot]
		f.zz[i] = f.z[i] * f.z[i]
	}
	f.rho = rho
}

func (s *deflation) drop(slot int) {
	s.kind[slot] = deflated
	s.dropped = append(s.dropped, slot)
}

// rotateAway makes element i of the coupling vector z zero by a rotation of slots i and j, and drops slot i. d[i]
// must be at most d[j]. If the off-diagonal entry that the rotation creates is larger than tol, rotateAway changes
// nothing and returns false.
func (s *divider) rotateAway(
	i, j, n int,
	d, q []float64,
	tol float64,
) bool {
	zi := s.z[i]
	zj := s.z[j]
	r := math.Hypot(zi, zj)
	sin := -zi / r
	cos := zj / r
	gap := d[j] - d[i]
	if math.Abs(gap*sin*cos) > tol {
		return false
	}
	s.z[j] = r
	d[i], d[j] = d[i]+gap*(sin*sin), d[j]-gap*(sin*sin)
	rotate(q[i*s.n:i*s.n+n], q[j*s.n:j*s.n+n], cos, sin)
	if s.kind[i] != s.kind[j] {
		s.kind[j] = bothHalves
	}
	s.drop(i)
	return true
}

// pack copies the kept eigenvectors to s.packed without their zero halves. It returns the number of eigenvectors of
// each kind. s.packed holds first the left halves (n1 elements each) of the kinds firstHalf and bothHalves. Then it
// holds the right halves (n−n1 elements each) of the kinds bothHalves and secondHalf.
func (s *divider) pack(n1, n int, q []float64) (groups [3]int) {
	for _, slot := range s.kept {
		groups[s.kind[slot]]++
	}
	n2 := n - n1
	next := [3]int{0, groups[firstHalf], groups[firstHalf] + groups[bothHalves]}
	right := s.packed[(groups[firstHalf]+groups[bothHalves])*n1:]
	s.group = s.group[:len(s.kept)]
	for i, slot := range s.kept {
		kind := s.kind[slot]
		at := next[kind]
		next[kind]++
		s.group[i] = at
		row := q[slot*s.n : slot*s.n+n]
		if kind != secondHalf {
			copy(s.packed[at*n1:], row[:n1])
		}
		if kind != firstHalf {
			copy(right[(at-groups[firstHalf])*n2:], row[n1:])
		}
	}
	return groups
}

// makeRoom moves the dropped eigenvalues and eigenvectors out of the first slots. The new eigenvalues and
// eigenvectors will be stored in these slots.
func (s *divider) makeRoom(n int, d, q []float64) {
	kept := len(s.kept)
	free := kept
	for i, slot := range s.dropped {
		if slot >= kept {
			continue
		}
		for s.kind[free] == deflated {
			free++
		}
		d[free] = d[slot]
		copy(q[free*s.n:free*s.n+n], q[slot*s.n:])
		s.dropped[i] = free
		free++
	}
}

// solveSecular computes all roots λⱼ of the secular equation, whose poles are the old eigenvalues dᵢ. For the
// nStored largest roots, it writes the differences dᵢ − λⱼ to the rows of s.vectors. It sets s.zhat to a
// vector ẑ near the coupling vector z. For ẑ the computed roots are exact, by Löwner's formula
//
//	ẑᵢ² = Πⱼ(λⱼ − dᵢ) / Π_{j≠i}(dⱼ − dᵢ).
//
// Eigenvectors computed from ẑ are orthogonal even for very close roots.
//
// Source: Gu, Eisenstat (1995).
func (s *divider) solveSecular(nStored int) bool {
	d := s.eq.d
	kept := len(d)
	s.lambda = s.lambda[:kept]
	s.zhat = s.zhat[:kept]
	for i := range s.zhat {
		s.zhat[i] = 1
	}
	for j := range kept {
		delta := s.row[:kept]
		if at := j - (kept - nStored); at >= 0 {
			delta = s.vectors[at*kept : (at+1)*kept]
		}
		var ok bool
		s.lambda[j], ok = s.eq.root(j, delta)
		if !ok {
			return false
		}
		zhat := s.zhat[:len(delta)]
		s.eq.loops.ScaleQuotients(d[j], delta[:j], d[:j], zhat[:j])
		zhat[j] *= delta[j]
		s.eq.loops.ScaleQuotients(d[j], delta[j+1:], d[j+1:], zhat[j+1:])
	}
	for i, x := range s.zhat {
		s.zhat[i] = math.Copysign(math.Sqrt(math.Abs(x)), s.eq.z[i])
	}
	return true
}

// sortSlots sets perm to the indices of the n eigenvalues d in ascending order. It merges the new eigenvalues with
// the dropped ones, which are both sorted already. It returns how many of the k largest eigenvalues are new.
func (s *deflation) sortSlots(
	n, k int,
	d []float64,
	perm []int,
) (wanted int) {
	root := len(s.kept) - 1
	dropped := s.dropped
	for i := n - 1; i >= 0; i-- {
		last := len(dropped) - 1
		if last < 0 || root >= 0 && d[root] >= d[dropped[last]] {
			perm[i] = root
			root--
			if i >= n-k {
				wanted++
			}
		} else {
			perm[i] = dropped[last]
			dropped = dropped[:last]
		}
	}
	return wanted
}

// eigenvectors computes the eigenvectors of the nWanted largest roots λ. Element i is ẑᵢ/(dᵢ − λ) for the
// vector ẑ in s.zhat and the pole dᵢ, before the vector is scaled to length 1. solveSecular has written dᵢ −
// λ to s.vectors for the nStored ≥ nWanted largest roots. The eigenvectors replace the first nWanted rows of
// s.vectors. Their columns have the order of s.packed.
func (s *divider) eigenvectors(nStored, nWanted int) {
	kept := len(s.kept)
	zhat := s.zhat[:kept]
	group := s.group[:kept]
	row := s.row[:kept]
	for at := nStored - nWanted; at < nStored; at++ {
		delta := s.vectors[at*kept : (at+1)*kept]
		var sum float64
		for i, x := range delta {
			x = zhat[i] / x
			sum += x * x
			row[group[i]] = x
		}
		f := 1 / math.Sqrt(sum)
		for i, x := range row {
			delta[i] = f * x
		}
	}
	copy(s.vectors, s.vectors[(nStored-nWanted)*kept:nStored*kept])
}

// multiply computes the eigenvectors of the nWanted largest roots by multiplying s.vectors by the kept eigenvectors
// of the halves. It omits the halves of these eigenvectors that are zero.
func (s *divider) multiply(
	n1, n, nWanted int,
	groups [3]int,
	q []float64,
) {
	kept := len(s.kept)
	n2 := n - n1
	if nWanted == 0 {
		return
	}
	// A product over zero rows is zero.
	left := groups[firstHalf] + groups[bothHalves]
	right := groups[bothHalves] + groups[secondHalf]
	out := q[(kept-nWanted)*s.n:]
	s.kr.Gemm(
		false,
		false,
		1,
		matrix.Strided(nWanted, left, s.vectors, kept),
		matrix.View(left, n1, s.packed),
		0,
		matrix.Strided(nWanted, n1, out, s.n),
	)
	s.kr.Gemm(
		false,
		false,
		1,
		matrix.Strided(nWanted, right, s.vectors[groups[firstHalf]:], kept),
		matrix.View(right, n2, s.packed[left*n1:]),
		0,
		matrix.Strided(nWanted, n2, out[n1:], s.n),
	)
}
