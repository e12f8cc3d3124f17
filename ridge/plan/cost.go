package plan

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// What each method takes, for [Choose] and [New]. Flops are for each of the n·d
// numbers of A:
//
//	exact      d for K, and d²/(3n) for each γ; where all take one reduction no more than
//	           3d²/n, measured (half of it waits for memory), and 8d/n for each; where there are
//	           fewer rows than features n stands for d in this, and d for n
//	sketch     2m + p + 2m(m+p)/p for p rows between two shrinks, which is 7m where p = m;
//	           Plan: d + d²/p where m = d, d where AᵀA is kept
//	a pass     4 for each vector that is multiplied: one for each γ and target
//	galerkin   4m more for the sketch's vectors, and no more than 32 vectors a pass
//
// Choose (auto.go) leaves it at that, and counts some more flops for reading a number,
// for it chooses before anything is read. Plan has a summary, of which it has the passes, and
// adds what doesn't grow with n·d.

const (
	productFlops = 4
	// galerkinShare is how many of CG's passes Galerkin makes at most, as a rule: 0.43 to 0.8
	// on seven data sets. Its bound is that of CG.
	galerkinShare = 2.0 / 3
)

// reduceFlops is the cost of a reduction to tridiagonal form over d³, in flops of a matrix
// product: as measured at d = 1024 and 2048, slower than its count of operations.
const reduceFlops = 3

// exactFlops are those of a direct solution for k γ. Where n is not known, n <= 0, it is taken
// to be large enough for d³ not to count.
func exactFlops(n int64, d, k int) float64 {
	flops := float64(d)
	if n > 0 && factorFor(k) == ridge.Tridiagonal {
		flops += (math.Min(float64(k)/3, reduceFlops)*float64(d) + 8*float64(k)) * float64(d) / float64(n)
	} else if n > 0 {
		flops += float64(k) * float64(d) * float64(d) / 3 / float64(n)
	}
	return flops
}

// sketchFlops are those of a sketch of m rows, p between two shrinks, its eigenproblems
// left out: the products 2mp + p² of BBᵀ and 2m(m+p) of the rebuilt B.
func sketchFlops(m, p float64) float64 { return 2*m + p + 2*m*(m+p)/p }

// prefersGalerkin says that Galerkin is to run rather than CG: it must take no longer and, for
// one system, its vectors no more than 200 MiB. As a rule it keeps half of those it may, six
// for each row of the sketch.
func prefersGalerkin(galerkin, cg float64, d, m, systems int) bool {
	const most = 200 << 20
	return galerkin <= cg && (systems > 1 || 6*8*float64(m+1)*float64(d) <= most)
}

// A cost is what a step takes: flops, bytes of rows read, bytes of memory held.
type cost struct{ flops, read, memory float64 }

func (c cost) times(f float64) cost { return cost{f * c.flops, f * c.read, c.memory} }

func (c cost) plus(o cost) cost { return cost{c.flops + o.flops, c.read + o.read, c.memory + o.memory} }

func (c cost) holding(bytes float64) cost { return c.plus(cost{memory: bytes}) }

// handledFlops is what it takes to bring a number of dense rows into a block, to centre, check and
// pack it for AᵀA, in flops of a matrix product: measured.
const handledFlops = 250

// exactCost returns the cost of a direct solution for k γ within most bytes.
func (o *outlook) exactCost(n int64, k int, most float64) cost {
	if n < int64(o.d) {
		return o.dualCost(n, k, most)
	}
	numbers := float64(n) * float64(o.d)
	return cost{flops: numbers * (handledFlops + exactFlops(n, o.d, k)), read: o.rowBytes() * float64(n), memory: ridge.DirectBytes(factorFor(k), n, o.d, o.t, k, false)}
}

// eigenFlops is the cost of a symmetric eigenproblem of order n over n³, in flops of
// a matrix product: measured, it is slower than its count of operations.
const eigenFlops = 7

// sumFlops is what adding a number to a compensated sum takes, in flops of a matrix product.
const sumFlops = 20

// keepsScatter says that a sketch of that size keeps AᵀA itself, if it is otherwise as that of the
// summary at hand.
func (o *outlook) keepsScatter(size int) bool {
	keeps, err := fd.Config{Dim: o.d, Size: size, Shrink: o.cfg.Shrink, Store: o.cfg.Store}.Scatter()
	return err == nil && keeps // the error is that of Buffer, which sketchCost returns
}

// kept is how many singular vectors a sketch of that size has.
func (o *outlook) kept(size int) int {
	if o.keepsScatter(size) {
		return o.d
	}
	return size
}

// sketchCost is that of a row, with its share of a shrink, and of c. A shrink is an eigenproblem
// of order m+p or, where the sketch keeps d rows and loses nothing, of order d, for BᵀB. Where it
// keeps AᵀA none is solved before it is read. n rows may have several lanes, and half as many
// sketches more while these are merged.
func (o *outlook) sketchCost(n int64, size, lanes int) (cost, error) {
	store := fd.StoreRows
	if o.keepsScatter(size) {
		store = fd.StoreScatter
	}
	kept, taken, err := fd.Config{Dim: o.d, Size: size, Store: store}.Buffer()
	if err != nil {
		return cost{}, err
	}
	cfg, err := ridge.SummaryConfig{Dim: o.d, Size: size, Store: store, Lanes: lanes}.WithLanes(n)
	if err != nil {
		return cost{}, err
	}
	sketches := float64(1)
	if cfg.Lanes > 1 {
		sketches = 1.5 * float64(cfg.Lanes)
	}
	be, m, p, d, t := o.be, float64(kept), float64(taken), float64(o.d), float64(o.t)
	k, live := m+p, kept+taken
	if o.sparse {
		// Of sparse rows that stay so no more entries are kept than take the memory of p rows.
		if live, err = (fd.Config{Dim: o.d, Size: size, Store: store}).Order(); err != nil {
			return cost{}, err
		}
	}
	products, order := sketchFlops(m, p)*d, k // of a row, and of a shrink's eigenproblem
	shrink := eigenFlops * order * order * order / p
	if r := o.keepsSparse(live - kept); r > taken {
		products, shrink = o.sparseSketchFlops(m, float64(r)), 0
	}
	// G twice, U, and what measures U.
	measured := float64(live)*float64(live) + 4*math.Min(m, 256)*math.Min(float64(live), 512) + 3*m*m + m*float64(live)
	work := measured + m*float64(live) + float64(live)*float64(live) - k*k + float64(max(be.SymEigWork(live, kept), be.LeftMulWork(kept, o.d, live)))
	switch {
	case store == fd.StoreScatter:
		return cost{
			flops:  (handledFlops+d)*d + sumFlops*d*d/2/p + 2*t*d,
			read:   o.rowBytes(),
			memory: 8 * sketches * (p*d + 7*d*d + float64(be.SymEigWork(o.d, o.d)) + 3*t*d + o.staged()),
		}, nil
	case kept == o.d:
		products, order, work = k*d*d/p, d, float64(be.SymEigWork(kept, kept))
		shrink = eigenFlops * d * d * d / p
	}
	return cost{
		flops:  products + shrink + 2*t*o.entries,
		read:   o.rowBytes(),
		memory: 8 * sketches * (k*d + order*order + work + 3*t*d + o.staged()),
	}, nil
}

// staged is how many numbers staging takes: dense rows are added up where they lie, sparse ones, of
// which no more than an eighth are entries, are copied, at three halves of a number an entry.
func (o *outlook) staged() float64 {
	n, d, t := float64(rows.RowsPerStage(o.d, o.sparse)), float64(o.d), float64(o.t)
	const sums, ofSparse = 12, 6 // of the rows and of a block, and bounds on what they are off by
	if o.sparse {
		return (sums+ofSparse)*(d+t) + n*t + 1.5*n*d/fd.SparseShare
	}
	return sums*(d+t) + n*t
}

// fitCost is that of decomposing the sketch once and fitting q systems to it.
func (o *outlook) fitCost(size, q int) cost {
	m, d := float64(o.kept(size)), float64(o.d)
	c := cost{flops: 4*m*m*d + 4*float64(q)*m*d, memory: 8 * (m*d + 2*float64(q)*d)}
	if o.keepsScatter(size) {
		c.flops += eigenFlops * d * d * d
	}
	return c
}

// separateCost is that of so many passes, each with a gradient of q systems and the
// application of Ĥ⁻¹ to them.
func (o *outlook) separateCost(count int64, size, q, passes int) cost {
	n, m, d := float64(count), float64(o.kept(size)), float64(o.d)
	pass := cost{flops: (o.gradientFlops()*n + 10*m*d) * float64(q), read: o.rowBytes() * n}
	return pass.times(float64(passes)).holding(13 * 8 * float64(q) * d)
}

// galerkinCost is that of Galerkin in so many passes: products of the sketch's
// vectors once and of a block of others in each pass, which before are made orthogonal to
// the subspace, as if that were full; when it is, only one for each system follows.
func (o *outlook) galerkinCost(count int64, size, q, passes int) cost {
	n, m, d := float64(count), float64(o.kept(size)), float64(o.d)
	most := krylov.SubspaceRows(int(min(int64(o.d), count)), o.kept(size), q)
	made, kept := float64(passes), float64(most)
	vectors := math.Min(krylov.BlockRows*made, kept+float64(q)*made)
	deflated := m
	if o.keepsScatter(size) {
		deflated = 0 // of which nothing is left to be learned
	}
	once := cost{flops: o.gradientFlops()*n*(deflated+vectors) + 8*kept*vectors*d}
	pass := cost{flops: 10 * m * float64(q) * d, read: o.rowBytes() * n}
	held := 2*(kept+float64(q+o.t))*d + 8*float64(q)*d + 5*kept*kept
	return once.plus(pass.times(made)).holding(8 * held)
}

// factorFor returns the factorisation of AᵀA that Exact stands for at k positive γ.
func factorFor(k int) ridge.Method { return ridge.Exact.For(1, 1, slices.Repeat([]float64{1}, k)) }

// GramBytes returns the memory in bytes of a summary that keeps AᵀA, and of its eigenproblem.
func GramBytes(be engine.Backend, d, t int) uint64 {
	_, taken, err := fd.Config{Dim: d, Size: d, Store: fd.StoreScatter}.Buffer()
	if err != nil {
		return math.MaxUint64
	}
	n, q := float64(d), float64(d+t)
	return uint64(8 * (float64(taken)*n + 5*n*n + 3*q*n + float64(be.SymEigWork(d, d))))
}
