// Package kernel contains the innermost loops of the dense products for each instruction set: AVX-512, AVX2
// with FMA, and NEON, written by the generators in _asm, and portable Go.
//
// A kernel works on float64 numbers behind pointers and checks nothing. Callers must ensure that all elements
// exist. Leading dimensions are numbers of elements.
package kernel

//go:generate go -C ../../../../_asm run . -isa avx512 -pkg kernel -out ../engine/purego/internal/kernel/avx512_amd64.s -stubs ../engine/purego/internal/kernel/avx512_amd64.go
//go:generate go -C ../../../../_asm run . -isa avx2 -pkg kernel -out ../engine/purego/internal/kernel/avx2_amd64.s -stubs ../engine/purego/internal/kernel/avx2_amd64.go
//go:generate go -C ../../../../_asm run ./neon -out ../engine/purego/internal/kernel/neon_arm64.s -stubs ../engine/purego/internal/kernel/neon_arm64.go

// A Kernel holds the loops for one instruction set. The bits of results do not depend on how rows and columns are
// divided into calls. For example, Dot4 gives the same bits as four calls of Dot1. A tile is a part of a product C =
// A·B that is computed in registers; an element of C has the same bits in any tile.
type Kernel struct {
	Name string // avx512, avx2, neon or generic

	// Unit is the number of rows of a tile. A tile has Unit to len(Tile)·Unit columns.
	Unit int

	// Tile[u−1] computes the Unit×(u·Unit) matrix C = alpha·AᵀB for packed A (k×Unit) and B (k×u·Unit). If add
	// is true, the product is added to C.
	Tile []tile

	// TileRowsA[u−1] and TileRowsB[u−1] give the same bits as Tile[u−1]. TileRowsA reads rows of Aᵀ instead of
	// packed A. TileRowsB reads rows of B instead of packed B.
	TileRowsA []tileRowsA
	TileRowsB []tileRowsB

	// Pack[u−1] copies u·Unit columns of k rows: dst[l·stride+r] = src[l·ld+r].
	Pack []pack

	// PackT copies k columns of Unit rows: dst[l·stride+r] = src[r·ld+l].
	PackT func(k int, src *float64, ld int, dst *float64, stride int)

	// Prefetch fetches cache lines, from p on, into the second-level cache. It may do nothing.
	Prefetch func(lines int, p *float64)

	// Dot1 and Dot4 compute s = A·x for one and four rows of length n.
	Dot1 func(n int, a, x *float64) (s0 float64)
	Dot4 func(n int, a *float64, lda int, x *float64) (s0, s1, s2, s3 float64)

	// Axpy1 and Axpy4 compute y += cᵀ·A for one and four rows of length n.
	Axpy1 func(n int, c0 float64, a, y *float64)
	Axpy4 func(n int, c0, c1, c2, c3 float64, a *float64, lda int, y *float64)

	// AxpyRows computes y += Σ cₑ·(row indexₑ − first of A) over e < count, where count > 0, with the bits of
	// a call of Axpy1 for each e in turn.
	AxpyRows func(n, count int, c *float64, index *int32, first int, a *float64, lda int, y *float64)

	// Symv4 computes s = A·x and y += cᵀ·A for four rows A of length n. These are the products of Dot4 and Axpy4,
	// but A is read once.
	Symv4 func(n int, c0, c1, c2, c3 float64, a *float64, lda int, x, y *float64) (s0, s1, s2, s3 float64)

	// For u vectors at a time, Dots[u−1] computes S = A·Xᵀ, and Axpys[u−1] computes Y += Cᵀ·A. A is 4×n, X
	// and Y are u×n, and S and C are 4×u. The bits are the same as with u calls of Dot4 or Axpy4. Dots and Axpys have
	// the same length.
	Dots  []dots
	Axpys []axpys

	Twofold Twofold
	Cosines Cosines
	Rows    Rows
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

// DotsMany computes S = A·Xᵀ for A (4×n) and any number t of vectors, the rows of X (t×n). It divides the
// vectors into groups of about the same size, at most len(k.Dots), and calls Dots for each group.
func (k *Kernel) DotsMany(n, t int, a *float64, lda int, x *float64, ldx int, s *float64, lds int) {
	groups := (t + len(k.Dots) - 1) / len(k.Dots)
	for g := range groups {
		q, end := g*t/groups, (g+1)*t/groups
		k.Dots[end-q-1](n, a, lda, at(x, q*ldx), ldx, at(s, q), lds)
	}
}

// AxpysMany computes Y += Cᵀ·A for A (4×n), C (4×t) and any number t of vectors, the rows of Y (t×n). It
// divides the vectors into groups of about the same size, at most len(k.Axpys), and calls Axpys for each group.
func (k *Kernel) AxpysMany(n, t int, c *float64, ldc int, a *float64, lda int, y *float64, ldy int) {
	groups := (t + len(k.Axpys) - 1) / len(k.Axpys)
	for g := range groups {
		q, end := g*t/groups, (g+1)*t/groups
		k.Axpys[end-q-1](n, at(c, q), ldc, a, lda, at(y, q*ldy), ldy)
	}
}

// MR and NR return the number of rows and columns of the largest tile.
func (k *Kernel) MR() int { return k.Unit }
func (k *Kernel) NR() int { return k.Unit * len(k.Tile) }

// All returns the kernels that run on this machine, the fastest first. The last is always "generic".
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
