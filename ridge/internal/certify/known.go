// Package certify computes proved error bounds for solutions of ridge regression. It computes them from plain data:
// the results of a summary, of a pass over the rows, or of a factorisation. docs/math.md derives the bounds.
//
// Comments use this notation:
//
//   - A and b are the rows and a target, and γ is the penalty
//   - K = AᵀA, H = K + γI and c = Aᵀb
//   - f is the objective, x* the exact solution, and f* = f(x*)
//   - B is the sketch of A, with singular values σ and right singular vectors V as rows
//   - η is the shrinkage of B, which bounds what the sketch has lost, and ρ = η/2
//   - Ĥ_R = BᵀB + (γ+ρ)I
package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

const (
	eps     = roundoff.Eps
	inflate = roundoff.Inflate
	few     = roundoff.Few
	// A product with upward or downward covers the rounding errors of a few operations in an upper or a lower bound.
	upward   = 1 + few*eps
	downward = 1 - few*eps
)

// Evidence holds what a ridge.Summary knows about the rows A with d features and their t targets: a sketch, sums
// and means.
type Evidence struct {
	Sketch  *fd.Spectrum
	Backend engine.Backend

	Rows, Decays int64
	Weight       float64 // Σw
	Weighted     bool    // some rows have a weight other than 1, or were decayed
	Intercept    bool
	// Projected describes how columns without penalty were projected out of the rows. It is nil if all columns have
	// a penalty.
	Projected *Projection

	Columns
	Sums
	Witness
	Reading
}

// Columns describes the columns of the features and targets: their means, and bounds on the round-off of centring
// and scaling them. First come the d features, then the t targets.
type Columns struct {
	// Displaced[j] is a bound on the norm of the round-off in column j of the features and targets. It has d+t
	// elements, for d features and t targets.
	Displaced []float64
	// Means holds the means that were subtracted from the rows, and MeanErrors bounds their errors. Both have d+t
	// elements. Without an intercept both are nil.
	Means, MeanErrors []float64
	// Units, Scaled and reach describe features whose entries were rounded when they were scaled; see
	// [Columns.Rounded]. All three are nil if the entries are exact. Displaced and MeanErrors include this
	// rounding, too.
	Units  []float64 // bounds on the relative error of an entry, in units of roundoff.Unit, d
	Scaled []float64 // bounds on the norm of the rounding in each column, d
	reach  []float64 // bounds on the norms of the columns before centring, d
}

// Sums holds the sums over the rows.
type Sums struct {
	Cross   []float64 // c as computed, t×d
	TSS     []float64 // ‖b‖² as computed, t
	NonZero []bool    // element 0: a feature is nonzero; element 1+j: target j is nonzero
	// Rounding bounds the errors of the elements of Cross. The element aᵀb, for a column a of the features and a
	// target b, has an error of at most Rounding·eps·‖a‖‖b‖. Rounding is 0 if the sums are compensated.
	Rounding float64
}

// Reading describes how passes read the rows.
type Reading struct {
	Sparse  bool // some rows are sparse
	Workers int  // number of workers that share the rows of a pass; 0 means one
}

// Known holds the Evidence, and the bounds derived from it that hold for every penalty γ. The sketch B of the rows
// A brackets AᵀA:
//
//	BᵀB − pad·I ⪯ AᵀA ⪯ BᵀB + (η + pad)·I,   pad = bound.RoundOff.
//
// η is the shrinkage of B, a bound on what the sketch has lost.
type Known struct {
	Evidence
	eigen   spectral.Eigen
	bound   fd.Bound // of the sketch, plus the round-off of centring and scaling the rows
	factor  factors
	norm    norms
	targets []target
	// cOff holds, for each target b, the part of Aᵀb that is orthogonal to the singular vectors of the sketch, t×d.
	// It may be nil if these vectors span the whole space, see New.
	cOff []float64

	// pencils holds bounds for leave-one-out errors that are used instead of the sketch, see Equilibrated. It may
	// be nil.
	pencils []*Pencil
	widest  float64 // the largest element of S, with pencils
}

// A target describes one column b of Y.
type target struct {
	displaced float64             // bounds the norm of the round-off of b
	meanOff   float64             // bounds the error of the mean of b
	c         spectral.Projection // projection of Aᵀb
}

// New derives the bounds from e, and keeps the slices of e. For each target b, it splits c = Aᵀb into two parts.
// One is the projection onto the right singular vectors of the sketch, and the other is orthogonal to these
// vectors.
//
// If the singular vectors span the whole space, the orthogonal parts are only round-off. Their norms are below
// factors.onto·eps·‖c‖. If there are also many targets, New does not store the orthogonal parts.
func New(e Evidence) *Known {
	d := e.Sketch.Dim
	t := len(e.TSS)
	k := &Known{
		Evidence: e,
		bound:    e.Sketch.Bound,
		eigen: spectral.Eigen{
			Dim:    d,
			Values: e.Sketch.Sigma2,
			V:      e.Sketch.V,
			Rest:   leastOf(e.Sketch),
		},
		factor:  newFactors(&e),
		targets: make([]target, t),
	}
	k.Columns = k.Columns.Rounded(k.Units, k.columnNorms(), math.Sqrt(k.Weight)*downward)
	k.norm = k.summarisedNorms()
	size := 2*math.Sqrt(k.norm.staged2) + k.norm.displaced
	k.bound.RoundOff += k.norm.displaced * size * inflate
	k.norm.least = math.Max(0, k.eigen.Rest-k.bound.RoundOff)
	for j := range k.targets {
		k.targets[j].displaced = k.Displaced[d+j]
		if e.Intercept {
			k.targets[j].meanOff = k.MeanErrors[d+j]
		}
	}
	k.norm.read, k.norm.columns = k.readNorms()
	r := len(k.eigen.Values)
	if r == d && t >= roundoff.ManyTargets {
		along := make([]float64, t*d)
		e.Backend.Gemm(
			false,
			true,
			1,
			engine.View(t, d, e.Cross),
			engine.View(d, d, k.eigen.V),
			0,
			engine.View(t, d, along),
		)
		for j := range k.targets {
			k.targets[j].c = spectral.Projection{
				Along: along[j*d : (j+1)*d],
				Norm:  vec.Norm(k.C(j)),
			}
		}
		return k
	}
	k.cOff = make([]float64, t*d)
	g := &spectral.Gradients{
		G:     e.Cross,
		Along: make([]float64, t*r),
		Off:   k.cOff,
	}
	spectral.NewResolvent(&k.eigen, e.Backend).ProjectAll(t, g)
	for j := range k.targets {
		k.targets[j].c = g.Of(j, &k.eigen)
	}
	return k
}

// ReadSparse returns the bounds for passes over sparse rows, which have other round-off. Such a pass does not
// centre the rows, but subtracts the means from the products.
func (k *Known) ReadSparse() *Known {
	e := k.Evidence
	e.Sparse = true
	return New(e)
}

// leastOf returns the smallest eigenvalue of BᵀB for the sketch B. It is 0 if p has fewer eigenvalues than B has
// columns.
func leastOf(p *fd.Spectrum) float64 {
	if r := len(p.Sigma2); r == p.Dim {
		return p.Sigma2[r-1]
	}
	return 0
}

// Eigen returns the eigenvalues and eigenvectors of BᵀB.
func (k *Known) Eigen() *spectral.Eigen { return &k.eigen }

// Bound returns the error bound of the sketch. The bound includes the round-off of centring and scaling the rows.
func (k *Known) Bound() fd.Bound { return k.bound }

// Rank returns an upper bound on the rank of A.
func (k *Known) Rank() int {
	return rank(k.Rows, k.eigen.Dim, k.Intercept)
}

// rank returns a bound on the rank of n rows of d features: the smaller of n and d. With an intercept it uses n−1
// instead of n, because the weighted sum of all centred rows is zero.
func rank(n int64, d int, intercept bool) int {
	if intercept {
		n--
	}
	return int(max(min(int64(d), n), 0))
}

// C returns the computed Aᵀb of target j.
func (k *Known) C(j int) []float64 {
	d := k.eigen.Dim
	return k.Cross[j*d : (j+1)*d]
}

// CNorm returns ‖C(j)‖.
func (k *Known) CNorm(j int) float64 { return k.targets[j].c.Norm }

// norms holds norms of the rows A, and bounds on their round-off. There are three versions of the rows:
//   - exact: without round-off
//   - summed: as they were added to the ridge.Summary, centred and scaled with round-off
//   - read: as a pass reads them
type norms struct {
	size      float64   // ‖A‖_F of the summed rows
	displaced float64   // bounds the norm of the round-off of the summed rows
	staged2   float64   // bounds ‖A‖²₂ of the summed rows
	largest2  float64   // bounds ‖A‖²₂ of the exact rows
	least     float64   // a lower bound on the smallest eigenvalue of K
	read      float64   // ‖A‖_F of the rows as a pass reads them
	columns   []float64 // bounds on the norms of the columns, as a pass reads them
	root      float64   // √Σw
	meanOff   float64   // bounds the norm of the error of the means by which a pass centres the features
}

// summarisedNorms returns the norms that can be computed from the summary alone.
func (k *Known) summarisedNorms() norms {
	d, b := k.eigen.Dim, k.bound
	n := norms{
		size:    math.Sqrt(b.Frobenius2) * (1 + k.factor.squares*eps),
		staged2: math.Min(b.Frobenius2*(1+k.factor.squares*eps), b.FD()+k.eigen.Largest()) + b.RoundOff,
		root:    math.Sqrt(k.Weight),
	}
	for _, v := range k.Displaced[:d] {
		n.displaced = math.Hypot(n.displaced, v)
	}
	if k.Weighted {
		n.displaced += roundoff.WeightedRow * n.size
	}
	n.largest2 = math.Pow(math.Sqrt(n.staged2)+n.displaced, 2) * upward
	if k.Intercept {
		n.meanOff = vec.Norm(k.MeanErrors[:d])
	}
	return n
}

// readNorms returns bounds on the Frobenius norm and the column norms of the rows that a pass reads. A pass
// subtracts the rounded means from dense rows, and does not centre sparse rows.
func (k *Known) readNorms() (frobenius float64, columns []float64) {
	d := k.eigen.Dim
	frobenius = k.norm.size + k.norm.displaced
	columns = k.columnNorms()
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

// columnNorms returns bounds on the norms of the centred columns of A. The squared norm of column j is at most
// (BᵀB)_jj + η plus round-off. Here B is the sketch of A, and the shrinkage η bounds what it has lost.
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

// targetNorm returns a bound on the norm of target j as a pass reads it. A pass centres the target by a mean that
// may have an error.
func (k *Known) targetNorm(j int) float64 {
	target := &k.targets[j]
	return math.Hypot(math.Sqrt(k.TSS[j])+target.displaced, k.norm.root*target.meanOff)
}

// Unproven reports whether no bound on the round-off of the rows is known. Then nothing can be proved.
func (k *Known) Unproven() bool {
	return math.IsInf(k.norm.displaced, 1)
}

// OutOfRange looks for a quantity that is outside 2⁻²⁴⁰ to 2²⁴⁰, and returns its name and value. The
// quantities are ‖A‖² for the rows A, the sum of squares of each target, and the values of the penalty γ.
// Outside this range a bound could overflow or underflow. A sum of squares that underflowed to 0 is out of range,
// too. A sum of squares of zeros is allowed.
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
