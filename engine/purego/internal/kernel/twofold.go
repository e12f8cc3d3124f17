package kernel

// A Twofold holds the loops for sums with twice the precision. A sum is stored as two numbers: the sum s as plain
// addition computes it, and the accumulated round-off l. A sum starts with a large number, its base, which is
// subtracted at the end. One step adds a·x:
//
//	t = fl(a·x + s),   z = t − s,   e = fl(a·x − z)
//
// Then t replaces s, and e is added to l. As long as s is within a factor of two of the base, z is exact (P.
// Sterbenz), and e is the round-off of t, rounded once. No branches are needed. This is the extraction of S. Rump, T.
// Ogita, S. Oishi, "Accurate floating-point summation", SIAM J. Sci. Comput. 31 (2008), with a fused multiply-add for
// the product.
//
// A base is 3/2 times a power of two that exceeds twice the sum of the magnitudes of all terms, see [Base].
type Twofold struct {
	// Maxima sets m_i to the largest |a_ij| of row i, for four rows i of length n. It also sets c_j = max(c_j, |a_ij|).
	Maxima func(n int, a *float64, lda int, m, c *float64)

	// ColMax sets c_j = max(c_j, f_i·|a_ij|) for four rows i of length n.
	ColMax func(n int, f, a *float64, lda int, c *float64)

	// Dots computes the sums A·x for four rows of length n. It writes the sums to s[0:4], and their accumulated
	// round-off to s[4:8]. base holds the bases of the sums.
	Dots func(n int, base, a *float64, lda int, x, s *float64)

	// Open starts n sums h + l: h_j is the base of sum j, [Base](sigma·c_j), and l_j is 0. sigma·c_j must bound the sum
	// of the magnitudes of the terms of sum j.
	Open func(n int, sigma float64, c, h, l *float64)

	// Axpys adds f_i times row i of A to the n sums h + l, for four rows. f_i is stored as two numbers, f[i] + f[4+i].
	Axpys func(n int, f, a *float64, lda int, h, l *float64)

	// Close ends n sums that Open began with the same sigma and c. It subtracts the base of each sum, adds the result to
	// the pair gh + gl, and adds the error bound eps·c_j to ge_j.
	Close func(n int, sigma, eps float64, c, h, l, gh, gl, ge *float64)

	// Add adds n sums h + l to the sums gh + gl. It adds their error bounds e to ge.
	Add func(n int, h, l, e, gh, gl, ge *float64)
}
