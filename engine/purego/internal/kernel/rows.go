package kernel

// A Rows holds the loops that centre rows and sum the squares of their elements. All kernels compute the same bits.
// They make the same operations as the Go versions, in the same order and without fused multiply-adds.
type Rows struct {
	// Centre computes z_j = (x_j − origin_j) − mean_j.
	Centre func(n int, x, origin, mean, z *float64)

	// Spread4 processes four rows of X, each of n elements, in order. For each element x_ij of row i, it adds
	// z_ij = x_ij − origin_j to sum_j, and z_ij² to squares_j.
	Spread4 func(n int, x *float64, ldx int, origin, sum, squares *float64)

	// Norms4 computes the sums of squares Σ x_ij² of four rows of X, each of n elements. Each sum is computed as
	// (p₀ + p₂) + (p₁ + p₃). The partial sum p_q adds the squares of elements q, q+4, … of the row. If n is
	// not a multiple of four, the squares of the last n mod 4 elements are added to p₀.
	Norms4 func(n int, x *float64, ldx int) (s0, s1, s2, s3 float64)

	// Squares4 computes the sums of squares Σ x_ij² of four rows of X, each of n elements. Each sum is computed as
	// (p₀ + p₁) + (p₂ + p₃) from the same partial sums as in Norms4.
	Squares4 func(n int, x *float64, ldx int) (s0, s1, s2, s3 float64)
}

var rowsGo = Rows{centreGo, spread4Go, norms4Go, squares4Go}

func centreGo(n int, x, origin, mean, z *float64) {
	origins := slice(origin, 0, n)
	means := slice(mean, 0, n)
	zs := slice(z, 0, n)
	for j, v := range slice(x, 0, n) {
		zs[j] = (v - origins[j]) - means[j]
	}
}

func spread4Go(
	n int,
	x *float64,
	ldx int,
	origin, sum, squares *float64,
) {
	x0 := slice(x, 0, n)
	x1 := slice(x, ldx, n)
	x2 := slice(x, 2*ldx, n)
	x3 := slice(x, 3*ldx, n)
	sums := slice(sum, 0, n)
	qs := slice(squares, 0, n)
	for j, o := range slice(origin, 0, n) {
		z0 := x0[j] - o
		z1 := x1[j] - o
		z2 := x2[j] - o
		z3 := x3[j] - o
		sums[j] = (((sums[j] + z0) + z1) + z2) + z3
		qs[j] = (((qs[j] + float64(z0*z0)) + float64(z1*z1)) + float64(z2*z2)) + float64(z3*z3)
	}
}

func norms4Go(n int, x *float64, ldx int) (s0, s1, s2, s3 float64) {
	return Norm2(slice(x, 0, n)),
		Norm2(slice(x, ldx, n)),
		Norm2(slice(x, 2*ldx, n)),
		Norm2(slice(x, 3*ldx, n))
}

func squares4Go(n int, x *float64, ldx int) (s0, s1, s2, s3 float64) {
	return Squares(slice(x, 0, n)),
		Squares(slice(x, ldx, n)),
		Squares(slice(x, 2*ldx, n)),
		Squares(slice(x, 3*ldx, n))
}

// Norm2 returns the sum of the squares of x. The bits are the same as in Norms4.
func Norm2(x []float64) float64 {
	s0, s1, s2, s3 := fourSums(x)
	return (s0 + s2) + (s1 + s3)
}

// Squares returns the sum of the squares of x. The bits are the same as in Squares4.
func Squares(x []float64) float64 {
	s0, s1, s2, s3 := fourSums(x)
	return (s0 + s1) + (s2 + s3)
}

func fourSums(x []float64) (s0, s1, s2, s3 float64) {
	for ; len(x) >= 4; x = x[4:] {
		s0 += float64(x[0] * x[0])
		s1 += float64(x[1] * x[1])
		s2 += float64(x[2] * x[2])
		s3 += float64(x[3] * x[3])
	}
	for _, v := range x {
		s0 += float64(v * v)
	}
	return s0, s1, s2, s3
}
