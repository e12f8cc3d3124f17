// Package certify turns evidence into bounds. Evidence is plain data: what a summary, a
// pass over the rows or a factorisation has found. Bounds are functions of it and of
// nothing else, and are made here alone; docs/math.md derives them.
//
// Notation: K = AᵀA, H = K + γI, c = Aᵀb, B the sketch with singular values σ and right
// singular vectors V, η its shrinkage, ρ = η/2.
package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

const (
	eps     = roundoff.Eps
	inflate = roundoff.Inflate
	few     = roundoff.Few
)

// Evidence is what a summary has found of the rows of A (d features) and their t targets.
type Evidence struct {
	Sketch  *fd.Spectrum
	Backend engine.Backend

	Rows, Decays int64
	Weight       float64 // Σw
	Weighted     bool    // some rows came with weights, or were decayed
	Intercept    bool

	Columns
	Sums
	Witness
	Reading
}

// Columns is what staging has done to the columns of [A Y] before anything was made of the
// rows.
type Columns struct {
	// Displaced bounds, in norm, what rounding has put wrong in each column, d+t.
	Displaced []float64
	// Means are those that rows are centred by, MeanErrors what these are off by, d+t;
	// nil without intercept.
	Means, MeanErrors []float64
}

// Sums are what was added up over the rows.
type Sums struct {
	Cross   []float64 // c as computed, t×d
	TSS     []float64 // ‖b‖² as computed, t
	NonZero []bool    // the features, and each target, are not all zero, 1+t
}

// Reading says how passes read the rows.
type Reading struct {
	Sparse  bool // some of them are sparse
	Workers int  // whose sums are added up; 0 is one
}

// Known is what follows for all γ. The true K satisfies
//
//	BᵀB − pad·I ⪯ K ⪯ BᵀB + (η + pad)·I,   pad = bound.RoundOff.
type Known struct {
	Evidence
	eigen   resolvent.Eigen
	bound   fd.Bound // of the sketch, with what rounding has done to the rows before
	factor  factors
	norm    norms
	targets []target
	cOff    []float64 // the part of each c orthogonal to V, t×d
}

// A target is what is known of one column b of Y.
type target struct {
	displaced float64              // how far, in norm, rounding has put it wrong
	meanOff   float64              // how far its mean is off
	c         resolvent.Projection // of Aᵀb
}

// New derives what follows from the evidence of a summary, which it keeps.
func New(e Evidence) *Known {
	d, t := e.Sketch.Dim, len(e.TSS)
	k := &Known{
		Evidence: e, bound: e.Sketch.Bound,
		eigen:   resolvent.Eigen{Dim: d, Values: e.Sketch.Sigma2, V: e.Sketch.V, Rest: leastOf(e.Sketch)},
		factor:  newFactors(&e),
		targets: make([]target, t), cOff: make([]float64, t*d),
	}
	k.norm = k.summarisedNorms()
	k.bound.RoundOff += k.norm.displaced * (2*math.Sqrt(k.norm.staged2) + k.norm.displaced) * inflate
	k.norm.least = math.Max(0, k.eigen.Rest-k.bound.RoundOff)
	for j := range k.targets {
		k.targets[j].displaced = e.Displaced[d+j]
		if e.Intercept {
			k.targets[j].meanOff = e.MeanErrors[d+j]
		}
	}
	k.norm.read, k.norm.columns = k.readNorms()
	g := &resolvent.Gradients{G: e.Cross, Along: make([]float64, t*len(k.eigen.Values)), Off: k.cOff}
	resolvent.New(&k.eigen, e.Backend).ProjectAll(t, g)
	for j := range k.targets {
		k.targets[j].c = g.Of(j, &k.eigen)
	}
	return k
}

// ReadSparse is what follows where passes turn out to read sparse rows, from whose products
// the means are taken off afterwards.
func (k *Known) ReadSparse() *Known {
	e := k.Evidence
	e.Sparse = true
	return New(e)
}

// leastOf is the eigenvalue of BᵀB on the complement of V: 0. Where V spans all of space, a
// complement is nothing but round-off, and the least of the eigenvalues is taken for it.
func leastOf(p *fd.Spectrum) float64 {
	if r := len(p.Sigma2); r == p.Dim {
		return p.Sigma2[r-1]
	}
	return 0
}

// Eigen is the decomposition of BᵀB.
func (k *Known) Eigen() *resolvent.Eigen { return &k.eigen }

// Bound is that of the sketch, with what rounding has done to the rows before.
func (k *Known) Bound() fd.Bound { return k.bound }

// Rank bounds that of A.
func (k *Known) Rank() int { return rank(k.Rows, k.eigen.Dim, k.Intercept) }

// rank bounds that of n rows of d features, of which centring takes one.
func rank(n int64, d int, intercept bool) int {
	if intercept {
		n--
	}
	return int(max(min(int64(d), n), 0))
}

// C is AᵀY of target j as computed.
func (k *Known) C(j int) []float64 {
	d := k.eigen.Dim
	return k.Cross[j*d : (j+1)*d]
}

// CNorm is the norm of C(j).
func (k *Known) CNorm(j int) float64 { return k.targets[j].c.Norm }

// Norms of A, and how far rounding has moved it.
type norms struct {
	size      float64   // ‖A‖_F of the rows that were summed
	displaced float64   // how far, in norm, rounding had put these wrong
	staged2   float64   // a bound on ‖A‖²₂ of the rows that were summed
	largest2  float64   // a bound on ‖A‖²₂ of the true rows
	least     float64   // a lower bound on the least eigenvalue of K
	read      float64   // ‖A‖_F as a pass reads the rows
	columns   []float64 // bounds on the norms of its columns, as a pass reads them
	root      float64   // √Σw
	meanOff   float64   // the error, in norm, of the means by which a pass centres the features
}

// summarisedNorms are those that don't depend on how passes read the rows.
func (k *Known) summarisedNorms() norms {
	d, b := k.eigen.Dim, k.bound
	n := norms{
		size:    math.Sqrt(b.Frobenius2) * (1 + few*eps),
		staged2: math.Min(b.Frobenius2, b.FD()+k.eigen.Largest()) + b.RoundOff,
		root:    math.Sqrt(k.Weight),
	}
	for _, v := range k.Displaced[:d] {
		n.displaced = math.Hypot(n.displaced, v)
	}
	if k.Weighted {
		n.displaced += roundoff.WeightedRow * n.size
	}
	n.largest2 = math.Pow(math.Sqrt(n.staged2)+n.displaced, 2) * (1 + few*eps)
	if k.Intercept {
		n.meanOff = vec.Norm(k.MeanErrors[:d])
	}
	return n
}

// readNorms are ‖A‖_F and bounds on the norms of the columns of the rows as a pass reads
// them: dense ones less the rounded means, sparse ones from where they are. Of the
// columns, K_jj ≤ (BᵀB)_jj + η.
func (k *Known) readNorms() (frobenius float64, columns []float64) {
	d := k.eigen.Dim
	frobenius, columns = k.norm.size+k.norm.displaced, k.columnNorms()
	if !k.Intercept {
		return frobenius, columns
	}
	far := k.norm.meanOff
	for j := range columns {
		v := k.MeanErrors[j]
		if k.Sparse {
			v += math.Abs(k.Means[j])
		}
		columns[j] = math.Hypot(columns[j], k.norm.root*v)
	}
	if k.Sparse {
		far += vec.Norm(k.Means[:d])
	}
	return math.Hypot(frobenius, k.norm.root*far), columns
}

// columnNorms bounds the norms of the columns of A, centred.
func (k *Known) columnNorms() []float64 {
	d, values := k.eigen.Dim, k.eigen.Values
	out := make([]float64, d)
	for j := range out {
		out[j] = k.bound.FD()
	}
	for i, s2 := range values {
		for j, v := range k.eigen.V[i*d : (i+1)*d] {
			out[j] += s2 * v * v
		}
	}
	for j, v := range out {
		out[j] = math.Sqrt(v) * (1 + float64(len(values)+8)*eps)
	}
	return out
}

// targetNorm bounds ‖b‖ for target j, as a pass reads it.
func (k *Known) targetNorm(j int) float64 {
	return math.Hypot(math.Sqrt(k.TSS[j])+k.targets[j].displaced, k.norm.root*k.targets[j].meanOff)
}

// Unproven reports that nothing is known of what rounding has done to the rows.
func (k *Known) Unproven() bool { return math.IsInf(k.norm.displaced, 1) }

// OutOfRange finds a quantity so large or so small that what a certificate is made of
// would leave the range of float64: beyond 2⁻²⁴⁰ to 2²⁴⁰. A square that has underflowed to
// 0 is too small; rows that are all zero are not.
func (k *Known) OutOfRange(gammas ...float64) (what string, value float64, found bool) {
	const most = 0x1p240
	outside := func(v, bound float64, some bool) bool {
		return (some && !(v >= 1/most)) || !(bound <= most)
	}
	if n := k.norm; outside(n.size*n.size, n.read*n.read, k.NonZero[0]) {
		return "‖A‖²", n.size * n.size, true
	}
	for j, v := range k.TSS {
		if n := k.targetNorm(j); outside(v, n*n, k.NonZero[1+j]) {
			return "‖b‖²", v, true
		}
	}
	for _, gamma := range gammas {
		if outside(gamma, gamma, true) {
			return "gamma", gamma, true
		}
	}
	return "", 0, false
}
