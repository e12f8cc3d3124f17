package kernel

import "unsafe"

var generic = Kernel{
	Name:      "generic",
	Unit:      4,
	Tile:      []tile{tileGo},
	TileRowsA: []tileRowsA{tileRowsAGo},
	TileRowsB: []tileRowsB{tileRowsBGo},
	Pack:      []pack{packGo},
	PackT:     packTGo,
	Prefetch:  prefetchGo,
	Dot1:      dot1Go,
	Dot4:      dot4Go,
	Symv4:     symv4Go,
	Axpy1:     axpy1Go,
	Axpy4:     axpy4Go,
	AxpyRows:  axpyRowsGo,
	Dots:      []dots{dotsGo},
	Axpys:     []axpys{axpysGo},
	Twofold:   twofoldGo,
	Cosines:   cosinesGo,
	Rows:      rowsGo,
	Secular:   secularGo,
}

// at returns the address of element i of the array that begins at p.
func at(p *float64, i int) *float64 {
	return (*float64)(unsafe.Add(unsafe.Pointer(p), 8*i))
}

func slice(p *float64, i, n int) []float64 {
	return unsafe.Slice(at(p, i), n)
}

func tileGo(
	k int,
	alpha float64,
	a, b, c *float64,
	ldc int,
	add bool,
) {
	tileOf(k, alpha, a, 1, 4, b, 4, c, ldc, add)
}

func tileRowsAGo(
	k int,
	alpha float64,
	a *float64,
	lda int,
	b, c *float64,
	ldc int,
	add bool,
) {
	tileOf(k, alpha, a, lda, 1, b, 4, c, ldc, add)
}

func tileRowsBGo(
	k int,
	alpha float64,
	a, b *float64,
	ldb int,
	c *float64,
	ldc int,
	add bool,
) {
	tileOf(k, alpha, a, 1, 4, b, ldb, c, ldc, add)
}

// tileOf computes the 4×4 matrix C = alpha·A·B, or adds alpha·A·B to C if add is true. Element (r, l) of A is
// a[r·row + l·step], and row l of B begins at b[l·ldb]. tileOf computes two rows of C at a time, because their
// eight sums fit into registers.
func tileOf(
	k int,
	alpha float64,
	a *float64,
	row, step int,
	b *float64,
	ldb int,
	c *float64,
	ldc int,
	add bool,
) {
	for r := 0; r < 4; r += 2 {
		var s00, s01, s02, s03, s10, s11, s12, s13 float64
		for l := range k {
			y := (*[4]float64)(unsafe.Pointer(at(b, l*ldb)))
			x0 := *at(a, r*row+l*step)
			x1 := *at(a, (r+1)*row+l*step)
			s00 += x0 * y[0]
			s01 += x0 * y[1]
			s02 += x0 * y[2]
			s03 += x0 * y[3]
			s10 += x1 * y[0]
			s11 += x1 * y[1]
			s12 += x1 * y[2]
			s13 += x1 * y[3]
		}
		update(slice(c, r*ldc, 4), alpha, s00, s01, s02, s03, add)
		update(slice(c, (r+1)*ldc, 4), alpha, s10, s11, s12, s13, add)
	}
}

func update(
	c []float64,
	alpha, s0, s1, s2, s3 float64,
	add bool,
) {
	if !add {
		c[0], c[1], c[2], c[3] = alpha*s0, alpha*s1, alpha*s2, alpha*s3
		return
	}
	c[0] += alpha * s0
	c[1] += alpha * s1
	c[2] += alpha * s2
	c[3] += alpha * s3
}

func packGo(k int, src *float64, ld int, dst *float64, stride int) {
	for l := range k {
		*(*[4]float64)(unsafe.Pointer(at(dst, l*stride))) = *(*[4]float64)(unsafe.Pointer(at(src, l*ld)))
	}
}

func packTGo(k int, src *float64, ld int, dst *float64, stride int) {
	for r := range 4 {
		for l, x := range slice(src, r*ld, k) {
			*at(dst, l*stride+r) = x
		}
	}
}

// prefetchGo does nothing, because Go has no prefetch instruction.
func prefetchGo(int, *float64) {}

func dot1Go(n int, a, x *float64) float64 {
	return dot(slice(a, 0, n), slice(x, 0, n))
}

func dot4Go(
	n int,
	a *float64,
	lda int,
	x *float64,
) (s0, s1, s2, s3 float64) {
	xs := slice(x, 0, n)
	return dot(slice(a, 0, n), xs),
		dot(slice(a, lda, n), xs),
		dot(slice(a, 2*lda, n), xs),
		dot(slice(a, 3*lda, n), xs)
}

func dot(a, x []float64) float64 {
	x = x[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * x[i]
		s1 += a[i+1] * x[i+1]
		s2 += a[i+2] * x[i+2]
		s3 += a[i+3] * x[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * x[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func axpy1Go(n int, c float64, a, y *float64) {
	ys := slice(y, 0, n)
	for j, v := range slice(a, 0, n) {
		ys[j] += c * v
	}
}

func axpyRowsGo(
	n, count int,
	c *float64,
	index *int32,
	first int,
	a *float64,
	lda int,
	y *float64,
) {
	for e, row := range unsafe.Slice(index, count) {
		axpy1Go(n, *at(c, e), at(a, (int(row)-first)*lda), y)
	}
}

func axpy4Go(
	n int,
	c0, c1, c2, c3 float64,
	a *float64,
	lda int,
	y *float64,
) {
	ys := slice(y, 0, n)
	a0 := slice(a, 0, n)
	a1 := slice(a, lda, n)
	a2 := slice(a, 2*lda, n)
	a3 := slice(a, 3*lda, n)
	for j, v := range ys {
		v += c0 * a0[j]
		v += c1 * a1[j]
		v += c2 * a2[j]
		v += c3 * a3[j]
		ys[j] = v
	}
}

func symv4Go(
	n int,
	c0, c1, c2, c3 float64,
	a *float64,
	lda int,
	x, y *float64,
) (s0, s1, s2, s3 float64) {
	s0, s1, s2, s3 = dot4Go(n, a, lda, x)
	axpy4Go(n, c0, c1, c2, c3, a, lda, y)
	return s0, s1, s2, s3
}

// dotsGo and axpysGo process only one vector x or y per call. The kernels in assembly process several, so that the
// matrix A is read once for all of them. In Go this would save no time, because the arithmetic takes longer than
// reading A.
func dotsGo(
	n int,
	a *float64,
	lda int,
	x *float64,
	_ int,
	s *float64,
	lds int,
) {
	*s, *at(s, lds), *at(s, 2*lds), *at(s, 3*lds) = dot4Go(n, a, lda, x)
}

func axpysGo(
	n int,
	c *float64,
	ldc int,
	a *float64,
	lda int,
	y *float64,
	_ int,
) {
	axpy4Go(n, *c, *at(c, ldc), *at(c, 2*ldc), *at(c, 3*ldc), a, lda, y)
}
