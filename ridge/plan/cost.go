package plan

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// This file estimates the costs of the methods, in flops per element of A (n×d). A sketch of m rows takes p new rows
// between two shrinks:
//
//	exact      d for AᵀA, and d²/(3n) for each γ. If a reduction of AᵀA to tridiagonal form serves all γ, it takes
//	           3d²/n (measured; half of it waits for memory) and then 8d/n for each γ.
//	           If n < d, n and d are interchanged.
//	sketch     2m + p + 2m(m+p)/p, which is 7m if p = m. If m = d it is d + d²/p, and if AᵀA is
//	           kept it is d.
//	a pass     4 for each vector that is multiplied; CG has one for each γ and target.
//	galerkin   4m more in total for the vectors of the sketch, and at most 32 vectors in a pass.
//
// [Choose] uses only these costs and an assumed cost of reading. [New] adds the costs that do not grow with n·d.

const (
	productFlops = 4
	// galerkinShare is the number of passes that Galerkin needs, divided by the number of passes that CG needs. On
	// seven data sets, this ratio was 0.43 to 0.8.
	galerkinShare = 2.0 / 3
)

// reduceFlops is the measured cost of reducing a d×d matrix to tridiagonal form, in units of d³ flops.
const reduceFlops = 3

// exactFlops returns the cost of a direct method for n rows, d features and k values of the penalty γ. The unit is
// flops per element of the n×d matrix of rows. n ≤ 0 means that the number of rows is unknown.
func exactFlops(n int64, d, k int) float64 {
	flops := float64(d)
	if n > 0 && factorFor(k) == ridge.Tridiagonal {
		each := math.Min(float64(k)/3, reduceFlops)*float64(d) + 8*float64(k)
		flops += each * float64(d) / float64(n)
	} else if n > 0 {
		flops += float64(k) * float64(d) * float64(d) / 3 / float64(n)
	}
	return flops
}

// sketchFlops returns the cost of computing a sketch of m rows that shrinks after every p new rows. The unit is
// flops per element of the matrix of rows. The cost of the eigenproblems is not included. For d features and a
// matrix B of m+p rows, a shrink takes (2mp + p²)·d flops for the new part of BBᵀ. It takes 2m(m+p)·d flops for
// the next sketch.
func sketchFlops(m, p float64) float64 {
	return 2*m + p + 2*m*(m+p)/p
}

// prefersGalerkin reports whether Galerkin should be used instead of CG: it must not cost more. If there is only
// one system to solve, the vectors that Galerkin keeps must also fit in 200 MiB. Their memory is estimated from d
// features and m rows of the sketch.
func prefersGalerkin(galerkin, cg float64, d, m, systems int) bool {
	const most = 200 << 20
	return galerkin <= cg &&
		(systems > 1 || 6*8*float64(m+1)*float64(d) <= most)
}

// A cost holds a number of flops, a number of bytes to read, and the memory in bytes.
type cost struct{ flops, read, memory float64 }

func (c cost) times(f float64) cost {
	return cost{f * c.flops, f * c.read, c.memory}
}

func (c cost) plus(o cost) cost {
	return cost{c.flops + o.flops, c.read + o.read, c.memory + o.memory}
}

func (c cost) holding(bytes float64) cost {
	return c.plus(cost{memory: bytes})
}

// prepareFlops is the measured cost of preparing one number of dense rows for a matrix product, in flops.
const prepareFlops = 250

func (o *forecast) exactCost(n int64, k int, maxBytes float64) cost {
	if n < int64(o.d) {
		return o.dualCost(n, k, maxBytes)
	}
	numbers := float64(n) * float64(o.d)
	return cost{
		flops:  numbers * (prepareFlops + exactFlops(n, o.d, k)),
		read:   o.rowBytes() * float64(n),
		memory: ridge.DirectBytes(factorFor(k), n, o.d, o.t, k, false),
	}
}

// eigenFlops is the measured cost of an eigenproblem of an n×n matrix, in units of n³ flops.
const eigenFlops = 7

// sumFlops is the cost of an addition to a compensated sum, in flops.
const sumFlops = 20

// keepsScatter reports whether a sketch of this size stores AᵀA itself.
func (o *forecast) keepsScatter(size int) bool {
	keeps, err := fd.Config{
		Dim:    o.d,
		Size:   size,
		Shrink: o.cfg.Shrink,
		Store:  o.cfg.Store,
	}.Scatter()
	return err == nil && keeps // ignores the error, which sketchCost returns
}

func (o *forecast) numVectors(size int) int {
	if o.keepsScatter(size) {
		return o.d
	}
	return size
}

// sketchCost returns the cost per row of sketching n rows. lanes is the number of parallel sketches.
//
//   - A shrink of a sketch of m rows and p new rows solves an eigenproblem of order m+p. If the sketch has as many
//     rows as there are features, the order is the number of features.
//   - A sketch that stores AᵀA solves an eigenproblem only when it is read.
//   - Merging parallel sketches needs additional memory: half as much as the sketches themselves.
func (o *forecast) sketchCost(n int64, size, lanes int) (cost, error) {
	store := fd.StoreRows
	if o.keepsScatter(size) {
		store = fd.StoreScatter
	}
	kept, taken, err := fd.Config{Dim: o.d, Size: size, Store: store}.Buffer()
	if err != nil {
		return cost{}, err
	}
	cfg, err := ridge.SummaryConfig{
		Dim:   o.d,
		Size:  size,
		Store: store,
		Lanes: lanes,
	}.WithLanes(n)
	if err != nil {
		return cost{}, err
	}
	sketches := float64(1)
	if cfg.Lanes > 1 {
		sketches = 1.5 * float64(cfg.Lanes)
	}
	be := o.be
	m := float64(kept)
	p := float64(taken)
	d := float64(o.d)
	t := float64(o.t)
	k, live := m+p, kept+taken
	if o.sparse {
		// Sparse rows stay sparse until a shrink. They take less memory, so more of them fit between two shrinks.
		live, err = (fd.Config{Dim: o.d, Size: size, Store: store}).Order()
		if err != nil {
			return cost{}, err
		}
	}
	// products is the number of flops of the matrix products for each row. order is the order of the eigenproblem
	// of a shrink.
	products := sketchFlops(m, p) * d
	order := k
	shrink := eigenFlops * order * order * order / p
	if r := o.keepsSparse(live - kept); r > taken {
		products = o.sparseSketchFlops(m, float64(r))
		shrink = 0
	}
	// work is the number of floats in copies of the Gram matrix, in eigenvectors, and in workspace.
	measured := float64(live)*float64(live) +
		4*math.Min(m, 256)*math.Min(float64(live), 512) +
		3*m*m +
		m*float64(live)
	work := measured +
		m*float64(live) +
		float64(live)*float64(live) -
		k*k +
		float64(max(be.SymEigWork(live, kept), be.LeftMulWork(kept, o.d, live)))
	switch {
	case store == fd.StoreScatter:
		return cost{
			flops: (prepareFlops+d)*d + sumFlops*d*d/2/p + 2*t*d,
			read:  o.rowBytes(),
			memory: 8 * sketches * (p*d +
				7*d*d +
				float64(be.SymEigWork(o.d, o.d)) +
				3*t*d +
				o.stagedNumbers()),
		}, nil
	case kept == o.d:
		products = k * d * d / p
		order = d
		work = float64(be.SymEigWork(kept, kept))
		shrink = eigenFlops * d * d * d / p
	}
	return cost{
		flops: products + shrink + 2*t*o.entries,
		read:  o.rowBytes(),
		memory: 8 * sketches * (k*d +
			order*order +
			work +
			3*t*d +
			o.stagedNumbers()),
	}, nil
}

// stagedNumbers returns the number of floats in the buffers in front of a sketch. These buffers hold sums, and rows
// that the sketch has not yet taken.
func (o *forecast) stagedNumbers() float64 {
	n := float64(rows.RowsPerStage(o.d, o.sparse))
	d := float64(o.d)
	t := float64(o.t)
	// sums and sparseSums are the numbers of floats for each column. They hold sums over rows and blocks, and
	// bounds on the round-off of these sums.
	const sums, sparseSums = 12, 6
	if o.sparse {
		return (sums+sparseSums)*(d+t) +
			n*t +
			1.5*n*d/fd.SparseShare
	}
	return sums*(d+t) + n*t
}

// fitCost returns the cost of solving q systems with a sketch of the given size. There is one system for each
// penalty and target.
func (o *forecast) fitCost(size, q int) cost {
	m := float64(o.numVectors(size))
	d := float64(o.d)
	c := cost{
		flops:  4*m*m*d + 4*float64(q)*m*d,
		memory: 8 * (m*d + 2*float64(q)*d),
	}
	if o.keepsScatter(size) {
		c.flops += eigenFlops * d * d * d
	}
	return c
}

// separateCost returns the cost of an iteration that computes one gradient for each of q systems in each pass.
func (o *forecast) separateCost(numRows int64, size, q, passes int) cost {
	n := float64(numRows)
	m := float64(o.numVectors(size))
	d := float64(o.d)
	pass := cost{
		flops: (o.gradientFlops()*n + 10*m*d) * float64(q),
		read:  o.rowBytes() * n,
	}
	return pass.times(float64(passes)).holding(13 * 8 * float64(q) * d)
}

// galerkinCost returns the cost of the given number of Galerkin passes for q systems. It assumes that each new
// vector is made orthogonal to a subspace of the largest size.
func (o *forecast) galerkinCost(numRows int64, size, q, passes int) cost {
	n := float64(numRows)
	m := float64(o.numVectors(size))
	d := float64(o.d)
	most := krylov.SubspaceRows(int(min(int64(o.d), numRows)), o.numVectors(size), q)
	numPasses, kept := float64(passes), float64(most)
	vectors := math.Min(krylov.BlockRows*numPasses, kept+float64(q)*numPasses)
	deflated := m
	if o.keepsScatter(size) {
		deflated = 0 // a sketch that keeps AᵀA has lost nothing, so CG runs
	}
	once := cost{flops: o.gradientFlops()*n*(deflated+vectors) + 8*kept*vectors*d}
	pass := cost{flops: 10 * m * float64(q) * d, read: o.rowBytes() * n}
	held := 2*(kept+float64(q+o.t))*d +
		8*float64(q)*d +
		5*kept*kept
	return once.plus(pass.times(numPasses)).holding(8 * held)
}

// factorFor returns the method that [ridge.Exact] uses to factor AᵀA + γI for k positive values of the penalty γ.
func factorFor(k int) ridge.Method {
	return ridge.Exact.For(
		1,
		1,
		slices.Repeat([]float64{1}, k),
	)
}
