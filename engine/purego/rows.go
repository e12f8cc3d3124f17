package purego

import (
	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// RowLoops holds the loops of one kernel over the elements of rows. All kernels compute the same bits, except in
// Axpy, AxpyRows and Poles. The zero value is not usable.
type RowLoops struct{ kernel *kernel.Kernel }

// RowLoopsOf returns the loops of the kernel with the given name. If this machine does not have this kernel, it
// returns portable loops in Go.
func RowLoopsOf(name string) RowLoops {
	k := kernel.Find(name)
	if k == nil {
		k = kernel.Find("generic")
	}
	return RowLoops{k}
}

// RowLoops returns the loops of the kernel in use.
func (b *Backend) RowLoops() RowLoops { return RowLoops{b.kernel} }

// Centre overwrites z with (x − origin) − mean, element by element. See engine.Centre.
func (l RowLoops) Centre(x, origin, mean, z []float64) {
	n := len(z)
	matrix.CheckLength(n, len(x))
	matrix.CheckLength(n, len(origin))
	matrix.CheckLength(n, len(mean))
	if n > 0 {
		l.kernel.Rows.Centre(n, &x[0], &origin[0], &mean[0], &z[0])
	}
}

// Spread adds the elements of z = row − origin to sum and their squares to squares, for each row of x in turn. See
// engine.Spread.
func (l RowLoops) Spread(x matrix.Matrix, origin, sum, squares []float64) {
	matrix.Check(&x)
	n := x.Cols
	for _, v := range [][]float64{origin, sum, squares} {
		matrix.CheckLength(n, len(v))
	}
	if n == 0 {
		return
	}
	i := 0
	for ; i+4 <= x.Rows; i += 4 {
		l.kernel.Rows.Spread4(
			n,
			&x.Data[i*x.Stride],
			x.Stride,
			&origin[0],
			&sum[0],
			&squares[0],
		)
	}
	for ; i < x.Rows; i++ {
		for j, v := range x.Row(i) {
			z := v - origin[j]
			sum[j] += z
			squares[j] += float64(z * z)
		}
	}
}

// Axpy adds c·x to y, where x and y have the same length. The bits depend on the kernel, because some kernels use
// fused multiply-adds.
func (l RowLoops) Axpy(c float64, x, y []float64) {
	n := len(y)
	matrix.CheckLength(n, len(x))
	if n > 0 {
		l.kernel.Axpy1(n, c, &x[0], &y[0])
	}
}

// AxpyRows adds rows of the matrix a to y. For each e in turn, it adds row index[e]−first, multiplied by c[e]. The
// bits are the same as with a call of Axpy for each e.
func (l RowLoops) AxpyRows(
	c []float64,
	index []int32,
	first int,
	a matrix.Matrix,
	y []float64,
) {
	matrix.Check(&a)
	matrix.CheckLength(a.Cols, len(y))
	matrix.CheckLength(len(c), len(index))
	if len(index) == 0 || len(y) == 0 {
		return
	}
	for _, row := range index {
		if uint(int(row)-first) >= uint(a.Rows) {
			panic("purego: the index of a row is out of range")
		}
	}
	l.kernel.AxpyRows(
		len(y),
		len(index),
		&c[0],
		&index[0],
		first,
		&a.Data[0],
		a.Stride,
		&y[0],
	)
}

// Poles sets delta[i] to (d[i] − origin) − tau. It returns the sums of zz[i]/delta[i] and of zz[i]/delta[i]². The
// result partials is the sum of all partial sums of the first sum. If down is true, Poles begins with the last
// element. See package eigen.
func (l RowLoops) Poles(
	down bool,
	origin, tau float64,
	d, zz, delta []float64,
) (sum, slope, partials float64) {
	n := len(delta)
	matrix.CheckLength(n, len(d))
	matrix.CheckLength(n, len(zz))
	if n == 0 {
		return 0, 0, 0
	}
	poles := l.kernel.Secular.Poles
	if down {
		poles = l.kernel.Secular.PolesDown
	}
	return poles(n, origin, tau, &d[0], &zz[0], &delta[0])
}

// ScaleQuotients multiplies y[i] by delta[i]/(d[i] − pole).
func (l RowLoops) ScaleQuotients(pole float64, delta, d, y []float64) {
	n := len(y)
	matrix.CheckLength(n, len(delta))
	matrix.CheckLength(n, len(d))
	if n > 0 {
		l.kernel.Secular.ScaleQuotients(n, pole, &delta[0], &d[0], &y[0])
	}
}

// SquaredNorms returns the squared norms of the rows of x, which has at most four rows. See engine.SquaredNorms.
func (l RowLoops) SquaredNorms(x matrix.Matrix) (s [4]float64) {
	matrix.Check(&x)
	if x.Rows == len(s) && x.Cols > 0 {
		s[0], s[1], s[2], s[3] = l.kernel.Rows.Norms4(x.Cols, &x.Data[0], x.Stride)
		return s
	}
	for i := range x.Rows {
		s[i] = kernel.Norm2(x.Row(i))
	}
	return s
}

// BlockSquares divides x into blocks of BlockOfSquares elements. It writes the sum of the squares of each block to
// an element of sums. See engine.BlockSquares.
func (l RowLoops) BlockSquares(x []float64, sums []float64) {
	const block = BlockOfSquares
	i := 0
	n := (len(x) + block - 1) / block
	matrix.CheckLength(n, len(sums))
	for ; 4*block <= len(x)-i*block; i += 4 {
		s := sums[i : i+4 : i+4]
		s[0], s[1], s[2], s[3] = l.kernel.Rows.Squares4(block, &x[i*block], block)
	}
	for ; i < n; i++ {
		sums[i] = kernel.Squares(x[i*block : min((i+1)*block, len(x))])
	}
}

// BlockOfSquares is the number of elements in a block whose squares BlockSquares adds.
const BlockOfSquares = 256
