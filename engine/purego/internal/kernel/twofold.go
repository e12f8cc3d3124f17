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
	// Maxima processes four rows of n elements a_ij. It sets m_i to the largest |a_ij| in row i. It raises c_j to
	// the largest |a_ij| in column j if c_j is smaller.
	Maxima func(n int, a *float64, lda int, m, c *float64)

	// ColMax processes four rows of n elements a_ij. It raises c_j to the largest f_i·|a_ij| in column j if c_j is
	// smaller.
	ColMax func(n int, f, a *float64, lda int, c *float64)

	// Dots computes the inner products of four rows of A, each of n elements, with x. It writes the sums to s[0:4],
	// and their accumulated round-off to s[4:8]. The array base holds the bases of the four sums.
	Dots func(n int, base, a *float64, lda int, x, s *float64)

	// Open starts n sums that are stored as pairs h_j + l_j. It sets h_j to the base of sum j, which is
	// [Base](sigma·c_j), and l_j to 0. The number sigma·c_j must bound the sum of the magnitudes of the terms of
	// sum j.
	Open func(n int, sigma float64, c, h, l *float64)

	// Axpys adds four rows of A, each multiplied by a factor, to the n sums h + l that Open started. The factor of
	// row i is the sum of two numbers, f[i] + f[4+i].
	Axpys func(n int, f, a *float64, lda int, h, l *float64)

	// Close ends the n sums h + l that Open started with the same sigma and c. It subtracts the base of each sum
	// and adds the result to the sum gh + gl. It adds the error bound eps·c_j to ge_j.
	Close func(n int, sigma, eps float64, c, h, l, gh, gl, ge *float64)

	// Add adds n numbers h + l, each stored as a pair, to the sums gh + gl. It adds their error bounds e to ge.
	Add func(n int, h, l, e, gh, gl, ge *float64)
}
