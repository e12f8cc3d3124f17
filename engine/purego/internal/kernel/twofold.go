package kernel

// A Twofold is the loops of sums that are kept as two numbers: what plain addition makes,
// and what it lost. Nothing is lost without being seen because each sum begins with a
// large number, its base, which is taken away at the end. For s within a factor of two of
// the base,
//
//	t = fl(a·x + s),   z = t − s,   e = fl(a·x − z)
//
// z is exact (P. Sterbenz), e is what rounding took from the sum but for a rounding of
// its own, and no branch is needed. This is the extraction of S. Rump, T. Ogita, S. Oishi,
// "Accurate floating-point summation", SIAM J. Sci. Comput. 31 (2008), with the product in
// it by a fused multiply-add.
//
// A base is 3/2 of a power of two, of more than twice the magnitudes of all that is added
// to it: [Base].
type Twofold struct {
	// Maxima writes the largest magnitude of each of four rows of length n, and raises c to
	// the magnitudes in them: c_j = max(c_j, |a_ij|).
	Maxima func(n int, a *float64, lda int, m, c *float64)

	// ColMax raises c to those magnitudes times the factor f of each row:
	// c_j = max(c_j, f_i·|a_ij|).
	ColMax func(n int, f, a *float64, lda int, c *float64)

	// Dots computes s + l = A·x for four rows of length n, each with a base; s and l are
	// in s[0:4] and s[4:8].
	Dots func(n int, base, a *float64, lda int, x, s *float64)

	// Open begins n sums: h_j = Base(sigma·c_j), l_j = 0.
	Open func(n int, sigma float64, c, h, l *float64)

	// Axpys adds to them: h + l += cᵀ·A for four rows, c in c[0:4] and c[4:8].
	Axpys func(n int, c, a *float64, lda int, h, l *float64)

	// Close takes the bases away and adds the sums, each with the bound eps·c_j of its
	// error, to gh + gl with the bounds ge.
	Close func(n int, sigma, eps float64, c, h, l, gh, gl, ge *float64)

	// Add adds the sums h + l with the bounds e to gh + gl with the bounds ge.
	Add func(n int, h, l, e, gh, gl, ge *float64)
}
