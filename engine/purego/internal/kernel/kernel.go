// Package kernel contains the innermost loops of the dense products for each instruction set. The instruction sets
// are AVX-512, AVX2 with FMA, and NEON. Generators in the folder _asm write these loops. There is also a version in
// portable Go.
//
// A kernel works on float64 numbers behind pointers and checks nothing. Callers must ensure that all elements
// exist. A leading dimension, such as lda, is the distance between the beginnings of two rows, in elements.
package kernel

//go:generate go -C ../../../../_asm run . -isa avx512 -pkg kernel -out ../engine/purego/internal/kernel/avx512_amd64.s -stubs ../engine/purego/internal/kernel/avx512_amd64.go
//go:generate go -C ../../../../_asm run . -isa avx2 -pkg kernel -out ../engine/purego/internal/kernel/avx2_amd64.s -stubs ../engine/purego/internal/kernel/avx2_amd64.go
//go:generate go -C ../../../../_asm run ./neon -out ../engine/purego/internal/kernel/neon_arm64.s -stubs ../engine/purego/internal/kernel/neon_arm64.go

// A Kernel holds the loops for one instruction set. The bits of results do not depend on how callers divide the
// rows and columns of a product. For example, Dot4 gives the same bits as four calls of Dot1. A tile is a part of a
// product C = A·B that is computed in registers. An element of C has the same bits whatever the width of its tile.
type Kernel struct {
	Name string // avx512, avx2, neon or generic

	// Unit is the number of rows of a tile. The number of columns of a tile is a multiple of Unit, at most
	// len(Tile)·Unit.
	Unit int

	// Tile[u−1] computes a matrix C = alpha·Aᵀ·B with Unit rows and u·Unit columns. A and B are packed matrices of
	// k rows, A with Unit columns and B with u·Unit columns. If add is true, the product is added to C.
	Tile []tile

	// TileRowsA[u−1] and TileRowsB[u−1] compute the same bits as Tile[u−1] from operands that are not packed.
	// TileRowsA reads the Unit rows of Aᵀ, which are lda elements apart. TileRowsB reads the k rows of B, which are
	// ldb elements apart.
	TileRowsA []tileRowsA
	TileRowsB []tileRowsB

	// Pack[u−1] copies k rows of u·Unit elements. Element r of row l is copied from src[l·ld+r] to dst[l·stride+r].
	Pack []pack

	// PackT copies and transposes Unit rows of k elements. Element l of row r is copied from src[r·ld+l] to
	// dst[l·stride+r].
	PackT func(k int, src *float64, ld int, dst *float64, stride int)

	// Prefetch fetches the given number of cache lines, beginning at p, into the second-level cache. In some
	// kernels it does nothing.
	Prefetch func(lines int, p *float64)

	// Dot1 computes the inner product of a row a of n elements and the vector x. Dot4 computes the inner products
	// of four rows, which are lda elements apart, and x.
	Dot1 func(n int, a, x *float64) (s0 float64)
	Dot4 func(n int, a *float64, lda int, x *float64) (s0, s1, s2, s3 float64)

	// Axpy1 adds a row a of n elements, multiplied by c0, to y. Axpy4 adds four rows, which are lda elements apart,
	// multiplied by c0 to c3.
	Axpy1 func(n int, c0 float64, a, y *float64)
	Axpy4 func(n int, c0, c1, c2, c3 float64, a *float64, lda int, y *float64)

	// AxpyRows adds count rows of the matrix A to y, where count > 0. For each e < count in turn, it adds row
	// index[e]−first of A, multiplied by c[e]. It computes the bits of count calls of Axpy1.
	AxpyRows func(n, count int, c *float64, index *int32, first int, a *float64, lda int, y *float64)

	// Symv4 combines a call of Dot4 with x and a call of Axpy4 with y for the same four rows of n elements. It
	// reads the rows only once.
	Symv4 func(n int, c0, c1, c2, c3 float64, a *float64, lda int, x, y *float64) (s0, s1, s2, s3 float64)

	// Dots[u−1] computes S = A·Xᵀ, and Axpys[u−1] computes Y += Cᵀ·A. A has 4 rows of n elements. X and Y have u
	// rows of n elements, and S and C are 4×u. The bits are the same as with u calls of Dot4 or Axpy4. The slices
	// Dots and Axpys have the same length.
	Dots  []dots
	Axpys []axpys

	Twofold Twofold
	Cosines Cosines
	Rows    Rows
	Secular Secular
}

type (
	dots  = func(n int, a *float64, lda int, x *float64, ldx int, s *float64, lds int)
	axpys = func(n int, c *float64, ldc int, a *float64, lda int, y *float64, ldy int)
)

type (
	pack      = func(k int, src *float64, ld int, dst *float64, stride int)
	tile      = func(k int, alpha float64, a, b, c *float64, ldc int, add bool)
	tileRowsA = func(k int, alpha float64, a *float64, lda int, b, c *float64, ldc int, add bool)
	tileRowsB = func(k int, alpha float64, a, b *float64, ldb int, c *float64, ldc int, add bool)
)

// DotsMany computes S = A·Xᵀ for a matrix A of 4 rows of n elements. X has any number t of rows of n elements, and
// S is 4×t. DotsMany divides the rows of X into groups of about the same size, at most len(k.Dots). It calls one of
// k.Dots for each group.
func (k *Kernel) DotsMany(
	n, t int,
	a *float64,
	lda int,
	x *float64,
	ldx int,
	s *float64,
	lds int,
) {
	groups := (t + len(k.Dots) - 1) / len(k.Dots)
	for g := range groups {
		q := g * t / groups
		end := (g + 1) * t / groups
		k.Dots[end-q-1](n, a, lda, at(x, q*ldx), ldx, at(s, q), lds)
	}
}

// AxpysMany computes Y += Cᵀ·A for a matrix A of 4 rows of n elements. Y has any number t of rows of n elements,
// and C is 4×t. AxpysMany divides the rows of Y into groups of about the same size, at most len(k.Axpys). It calls
// one of k.Axpys for each group.
func (k *Kernel) AxpysMany(
	n, t int,
	c *float64,
	ldc int,
	a *float64,
	lda int,
	y *float64,
	ldy int,
) {
	groups := (t + len(k.Axpys) - 1) / len(k.Axpys)
	for g := range groups {
		q := g * t / groups
		end := (g + 1) * t / groups
		k.Axpys[end-q-1](n, at(c, q), ldc, a, lda, at(y, q*ldy), ldy)
	}
}

// MR returns the number of rows of the largest tile, and NR returns its number of columns.
func (k *Kernel) MR() int { return k.Unit }
func (k *Kernel) NR() int { return k.Unit * len(k.Tile) }

// All returns the kernels that this machine supports, beginning with the fastest. The last kernel is always
// "generic".
func All() []*Kernel { return append(native(), &generic) }

// Find returns the kernel with the given name, or nil if this machine or this build does not have it.
func Find(name string) *Kernel {
	for _, k := range All() {
		if k.Name == name {
			return k
		}
	}
	return nil
}
