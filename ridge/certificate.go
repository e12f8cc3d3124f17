package ridge

import (
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

const eps = 0x1p-52

// The round-off terms of the certificates, in units of eps. A sum of n products, in
// whatever order, is off by at most n·eps/2 of the sum of their magnitudes, and rows
// that are repeated come close to that: all their roundings go the same way.
const (
	// lostResidual squared is what the square of an entry of Ax − b loses at most to
	// underflow.
	lostResidual = 0x1p-511
	// weightedRow, in units of one, is for a root and a product: a row times √w.
	weightedRow = 2 * eps
	// roundFactor is for a few operations, dot and norm.
	roundFactor = 8
	// sumFactor is for c and ‖b‖²: sums over sumRows rows and those of compensated
	// sums.
	sumFactor = sumRows/2 + 4
)

// passFactor is for the gradient of a pass: what a call of the backend adds up, what the
// plain sums of calls do, and a product's own rounding. Sparse rows may come after dense
// ones, and the mean's share is taken off from theirs.
func passFactor(be engine.Backend, sparse bool) float64 {
	chain := be.Accuracy().Gradient + manyCalls
	if sparse {
		return float64((chain+sparseChain+1)/2 + 8)
	}
	return float64((chain+1)/2 + 4)
}

// skewV is for the rows of V, which are orthonormal to so many eps.
const skewV = 32

// dotFactor is for the product of a dense row with weights.
func dotFactor(be engine.Backend, d int) float64 { return be.Accuracy().Dot(d) + roundFactor }

// A knowledge is what the summary alone proves, shared by all γ and targets. The
// true K satisfies
//
//	BᵀB − pad·I ⪯ K ⪯ BᵀB + (η + pad)·I,
//
// so that with lower(γ) = BᵀB + (γ−pad)I and upper(γ) = BᵀB + (γ+η+pad)I every
// quadratic form of H(γ)⁻¹ lies between those of their inverses.
type knowledge struct {
	spec      *fd.Spectrum
	be        engine.Backend
	d, t      int
	rows      int64
	intercept bool
	sparse    bool // a pass reads sparse rows, see reads

	sums    float64   // the factor for what was summed over the rows, and rounded by each decay
	long    float64   // what the number of rows adds to any factor for sums
	pass    float64   // the factor for what a pass sums
	workers float64   // those whose sums were added up, but one
	dots    float64   // and for the product of a row with weights
	onto    float64   // and for a projection onto V, twice, relative to a vector's norm
	along   float64   // and for a sum over the rows of V
	bound   fd.Bound  // of the sketch, with what rounding has done to the rows before
	size    float64   // ‖A‖_F of the staged rows
	frob    float64   // ‖A‖_F as a pass reads the rows
	columns []float64 // bounds on the norms of the columns of A, as a pass reads them
	staged  float64   // a bound on ‖A‖²₂ of the staged rows
	largest float64   // and of the true ones
	least   float64   // and from below on the least eigenvalue of K: 0 where the sketch has fewer than d rows
	root    float64   // √Σw
	mean    float64   // how far, in norm, the means are off that a pass centres by
	tss     []float64
	off     float64            // how far, in norm, the stage has put the features wrong
	offs    []float64          // and each target
	means   []float64          // how far its mean is off
	centre  []float64          // the means themselves, d+t; nil without intercept
	some    []bool             // the features, and each target, are not all zero
	spreads map[float64]spread // by γ
	cross   []float64          // c, t×d
	c       []projection       // of c for each target
	rest    []float64          // c − VᵀVc, t×d
	witness witness
}

// A projection is what a certificate needs of a vector g: its coefficients along
// V and the squared norm of the rest. Quadratic forms of any (BᵀB + sI)⁻¹ follow
// in O(m).
type projection struct {
	along []float64
	rest2 float64
	norm  float64 // ‖g‖
	floor float64 // the eigenvalue of BᵀB that the rest is taken for, see floor
}

// floor is the eigenvalue of BᵀB on the complement of V: 0. Where V spans all, what is
// left there is round-off, to which the least of the eigenvalues does justice.
func floor(p *fd.Spectrum) float64 {
	if r := len(p.Sigma2); r == p.Dim {
		return p.Sigma2[r-1]
	}
	return 0
}

// newKnowledge takes over m.
func newKnowledge(s *Summary, m *sketched, c []float64) *knowledge {
	st, b := s.stage, m.spec.Bound
	rows := float64(st.rows)
	long := rows * rows * ulp // of the corrections of compensated sums
	k := &knowledge{
		spec: m.spec, be: s.be, bound: b, d: s.cfg.Dim, t: s.cfg.Targets, rows: st.rows, intercept: s.cfg.Intercept, cross: c,
		sums: sumFactor + long + 4*float64(st.decays), long: long,
		onto: 2*dotFactor(s.be, s.cfg.Dim) + skewV, along: float64(len(m.spec.Sigma2))/2 + roundFactor,
		root: math.Sqrt(st.weight.Value()), some: st.some, spreads: map[float64]spread{}, witness: s.witness(),
	}
	k.size = math.Sqrt(b.Frobenius2) * (1 + roundFactor*eps)
	k.staged = math.Min(b.Frobenius2, b.FD()+first(m.spec.Sigma2)) + b.RoundOff
	for j := range k.d {
		k.off = math.Hypot(k.off, st.displaced(j, 0))
	}
	if st.weighted {
		k.off += weightedRow * k.size
	}
	k.largest = math.Pow(math.Sqrt(k.staged)+k.off, 2) * (1 + roundFactor*eps)
	k.bound.RoundOff += k.off * (2*math.Sqrt(k.staged) + k.off) * inflate
	for j := range k.t {
		k.tss = append(k.tss, math.Max(0, s.yy[j].Value()))
		k.offs = append(k.offs, st.displaced(k.d+j, math.Sqrt(k.tss[j])))
	}
	k.least = math.Max(0, floor(k.spec)-k.bound.RoundOff)
	k.reads(s, s.sparse)
	k.c, k.rest = make([]projection, k.t), make([]float64, len(c))
	m.projections(k.t, c, k.rest, k.c)
	return k
}

// reads is what is known of the rows as a pass reads them: dense ones less the rounded
// means, sparse ones from where they are. Passes may read other ones than the summary has
// seen.
func (k *knowledge) reads(s *Summary, sparse bool) {
	k.sparse = sparse
	clear(k.spreads)
	k.columns = columnNorms(k.spec, k.bound.FD())
	k.frob = k.size + k.off
	k.means = make([]float64, k.t)
	k.pass, k.dots = passFactor(k.be, sparse)+k.long+k.workers, dotFactor(k.be, k.d)
	if sparse {
		k.dots = 5*float64(k.d)/8 + 2*roundFactor
	}
	if !k.intercept {
		return
	}
	means, wrong := s.stage.means(), s.stage.meanErrors()
	k.mean, k.centre = norm(wrong[:k.d]), means
	copy(k.means, wrong[k.d:])
	far := k.mean
	for j := range k.columns {
		v := wrong[j]
		if sparse {
			v += math.Abs(means[j])
		}
		k.columns[j] = math.Hypot(k.columns[j], k.root*v)
	}
	if sparse {
		far += norm(means[:k.d])
	}
	k.frob = math.Hypot(k.frob, k.root*far)
}

// target bounds ‖b‖ for target j, as a pass reads it.
func (k *knowledge) target(j int) float64 {
	return math.Hypot(math.Sqrt(k.tss[j])+k.offs[j], k.root*k.means[j])
}

// inverse bounds ‖H⁻¹‖.
func (k *knowledge) inverse(gamma float64) float64 { return 1 / (gamma + k.least) }

// through bounds ‖AH⁻¹‖: the largest √λ/(λ+γ) over the eigenvalues λ of K.
func (k *knowledge) through(gamma float64) float64 {
	if k.least > gamma {
		return math.Sqrt(k.least) / (k.least + gamma)
	}
	return 1 / (2 * math.Sqrt(gamma))
}

// addedUp has the certificates account for a pass of W workers, whose sums were added
// up in whatever order: the sum of W numbers is off by at most (W−1)·eps/2 of the sum
// of their magnitudes. Of component j of a gradient these are at most ‖a_j^w‖‖r^w‖, for
// the rows of worker w, and together, by Cauchy and Schwarz, ‖a_j‖‖r‖; and those of
// μ_j·1ᵀr, which is taken off the gradient of sparse rows, √Σw·|μ_j|·‖r‖, as much again
// at most, with the a_j of such rows. ‖r‖² is off by (W−1)·eps/2 of itself, ‖r‖ by
// half as much.
func (k *knowledge) addedUp(workers int) {
	k.workers = float64(workers - 1)
	k.pass += k.workers
}

// A ScaleError reports data, their weight or a γ so large or so small that what a
// certificate is made of, up to ‖A‖²‖b‖²/γ², would leave the range of float64: scale
// them by powers of two. A square that has underflowed to 0 is too small; rows that are
// all zero are not.
type ScaleError struct {
	What  string  // "‖A‖²", "‖b‖²", "gamma", or "Σw" where [Summary.Decay] is refused
	Value float64 // outside of 2⁻²⁴⁰ to 2²⁴⁰, of Σw below 2⁻⁹⁰⁰
}

func (e *ScaleError) Error() string {
	if e.What == "Σw" {
		return fmt.Sprintf("ridge: after this decay the rows seen would weigh %g, next to nothing: begin a new summary", e.Value)
	}
	return fmt.Sprintf("ridge: %s is %g, too large or too small to certify anything; scale the data so that it is within 1e-72 to 1e72", e.What, e.Value)
}

// ErrUnproven reports a summary with an intercept and weights that an earlier version of
// this package wrote: it didn't record how far from their means rows were when they
// came, so that nothing can be certified. Make it anew from the rows.
var ErrUnproven = errors.New("ridge: the summary was written by a version that did not record how far its weighted rows were moved by centring; nothing can be certified, make it anew")

// inRange refuses what cannot be certified.
func (k *knowledge) inRange(gammas ...float64) error {
	if math.IsInf(k.off, 1) {
		return ErrUnproven
	}
	const most = 0x1p240
	check := func(what string, v, bound float64, some bool) error {
		if (some && !(v >= 1/most)) || !(bound <= most) {
			return &ScaleError{what, v}
		}
		return nil
	}
	if err := check("‖A‖²", k.size*k.size, k.frob*k.frob, k.some[0]); err != nil {
		return err
	}
	for j, v := range k.tss {
		if err := check("‖b‖²", v, k.target(j)*k.target(j), k.some[1+j]); err != nil {
			return err
		}
	}
	for _, gamma := range gammas {
		if err := check("gamma", gamma, gamma, true); err != nil {
			return err
		}
	}
	return nil
}

// columnNorms bounds the norms of the columns of A by those of B:
// K_jj ≤ (BᵀB)_jj + η.
func columnNorms(p *fd.Spectrum, eta float64) []float64 {
	norms := make([]float64, p.Dim)
	for j := range norms {
		norms[j] = eta
	}
	for i, s2 := range p.Sigma2 {
		for j, v := range p.V[i*p.Dim : (i+1)*p.Dim] {
			norms[j] += s2 * v * v
		}
	}
	for j, v := range norms {
		norms[j] = math.Sqrt(v) * (1 + float64(len(p.Sigma2)+8)*eps)
	}
	return norms
}

// A spread is what an error of a gradient that is at most the norm ‖a_j‖ of a
// column of A in each component makes of the weights.
type spread struct {
	weights float64 // bounds ‖H⁻¹δ‖
	energy  float64 // bounds ‖H^{-½}δ‖
}

// spread bounds, for |δ_j| ≤ ‖a_j‖, with L = lower(γ),
//
//	‖H^{-½}δ‖ ≤ Σ‖a_j‖√(e_jᵀL⁻¹e_j),   ‖H⁻¹δ‖ ≤ (1 + ρ‖H⁻¹‖)·Σ‖a_j‖·‖Ĥ_R⁻¹e_j‖,
//
// neither of which depends on the units of the columns, where ‖A‖_F/√γ and ‖A‖_F/γ
// are as large as the largest of them.
func (k *knowledge) spread(gamma float64) spread {
	if s, ok := k.spreads[gamma]; ok {
		return s
	}
	d, b, e, floor := k.d, k.bound, k.envelope(gamma), floor(k.spec)
	shifted := gamma + b.Shift()
	inverse, solved, along := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, s2 := range k.spec.Sigma2 {
		above, own := e.above(s2), 1/(s2+shifted)
		for j, v := range k.spec.V[i*d : (i+1)*d] {
			v *= v
			along[j] += v
			inverse[j] += v * above
			solved[j] += v * own * own
		}
	}
	var s spread
	for j, a := range k.columns {
		rest := math.Max(0, 1-along[j]) + (k.along+2*skewV)*eps
		s.energy += a * math.Sqrt(inverse[j]+rest*e.above(floor))
		s.weights += a * math.Sqrt(solved[j]+rest/(shifted+floor)/(shifted+floor))
	}
	// As quads has it for the round-off of evaluating these.
	most := k.inverse(gamma)
	round := 1 + roundFactor*eps*(1+(k.largest+gamma)*most)
	s.energy = math.Min(s.energy*round, k.frob*math.Sqrt(most))
	s.weights = math.Min(math.Min(s.weights*(1+b.RFD()*most)*round, s.energy*math.Sqrt(most)), k.frob*most)
	k.spreads[gamma] = s
	return s
}

func first(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return x[0]
}

// projections decomposes each of the q rows of g into dst. rest (q×d) is
// overwritten. The results alias m's own memory: they are valid until it is used
// again.
func (m *sketched) projections(q int, g, rest []float64, dst []projection) {
	d, r := m.spec.Dim, len(m.spec.Sigma2)
	m.project(q, g, rest)
	for i := range q {
		n := norm(rest[i*d : (i+1)*d])
		dst[i] = projection{along: m.h[i*r : (i+1)*r], rest2: n * n, norm: norm(g[i*d : (i+1)*d]), floor: floor(m.spec)}
	}
}

// quad is gᵀ(BᵀB + sI)⁻¹g.
func (p *projection) quad(sigma2 []float64, s float64) float64 {
	q := p.rest2 / (p.floor + s)
	for i, h := range p.along {
		q += h * h / (sigma2[i] + s)
	}
	return q
}

// weighted is gᵀφ(BᵀB)g for a function φ of the eigenvalues.
func (p *projection) weighted(sigma2 []float64, phi func(s2 float64) float64) float64 {
	q := p.rest2 * phi(p.floor)
	for i, h := range p.along {
		q += h * h * phi(sigma2[i])
	}
	return q
}

// solved is ‖(BᵀB + sI)⁻¹g‖.
func (p *projection) solved(sigma2 []float64, s float64) float64 {
	q := p.rest2 / (p.floor + s) / (p.floor + s)
	for i, h := range p.along {
		v := h / (sigma2[i] + s)
		q += v * v
	}
	return math.Sqrt(q)
}

// shifts returns the s of lower(γ) and upper(γ). Where lower is not positive
// definite beyond doubt, ok is false and all that is known below is H ⪰ (γ + least)I.
func (k *knowledge) shifts(gamma float64) (lower, upper float64, ok bool) {
	b, floor := k.bound, floor(k.spec)
	lower = gamma - b.RoundOff
	return lower, gamma + b.FD(), lower+floor > 0.5*(gamma+floor)
}

// An envelope is what is known of H(γ)⁻¹: functions of BᵀB, written as those of its
// eigenvalues, with below(BᵀB) ⪯ H⁻¹ ⪯ above(BᵀB).
type envelope struct {
	gamma, lower, upper float64
	least               float64 // H ⪰ least·I
	ok                  bool    // lower is of use, see shifts
}

func (k *knowledge) envelope(gamma float64) envelope {
	lower, upper, ok := k.shifts(gamma)
	return envelope{gamma, lower, upper, gamma + k.least, ok}
}

func (e envelope) below(s2 float64) float64 { return 1 / (s2 + e.upper) }

func (e envelope) above(s2 float64) float64 {
	if e.ok {
		return 1 / (s2 + e.lower)
	}
	return 1 / e.least
}

func (e envelope) middle(s2 float64) float64 { return (e.below(s2) + e.above(s2)) / 2 }

// gap is above − below, without cancellation.
func (e envelope) gap(s2 float64) float64 {
	if e.ok {
		return (e.upper - e.lower) / (s2 + e.lower) / (s2 + e.upper)
	}
	return (s2 + (e.upper - e.least)) / e.least / (s2 + e.upper)
}

// ball is where x* of target j is. With D = above − below, M = middle and ‖W‖ ≤ 1,
// H⁻¹ = M + ½D^{½}WD^{½}, so x* is within ½√(‖D‖·cᵀDc) of Mc. Round-off is the
// caller's to add.
func (k *knowledge) ball(e envelope, j int) (radius float64) {
	widest := math.Max(e.gap(floor(k.spec)), e.gap(first(k.spec.Sigma2)))
	return math.Sqrt(widest*k.c[j].weighted(k.spec.Sigma2, e.gap)) / 2
}

// apply returns φᵢ(BᵀB)c_j as row i·t + j of a matrix of d columns, for functions φ
// of the eigenvalues.
func (k *knowledge) apply(phi ...func(s2 float64) float64) []float64 {
	d, r, q := k.d, len(k.spec.Sigma2), len(phi)*k.t
	h, x := make([]float64, q*r), make([]float64, q*d)
	for i, f := range phi {
		for j := range k.t {
			row := i*k.t + j
			for l, v := range k.c[j].along {
				h[row*r+l] = f(k.spec.Sigma2[l]) * v
			}
			off := f(floor(k.spec))
			for l, v := range k.rest[j*d : (j+1)*d] {
				x[row*d+l] = off * v
			}
		}
	}
	k.be.Gemm(false, false, 1, engine.View(q, r, h), engine.View(r, d, k.spec.V), 1, engine.View(q, d, x))
	return x
}

// quads brackets gᵀH⁻¹g, see energies.
func (k *knowledge) quads(p *projection, gamma, dg float64) Interval {
	v := k.energies(p, gamma, dg)
	if !(v.Hi <= 0x1p500) { // its square may overflow
		return Interval{0, math.Inf(1)}
	}
	return squared(v.Lo, v.Hi)
}

// energies brackets ‖H^{-½}g‖, for a g known up to an error of norm dg, to which the
// round-off of its projection onto V adds.
func (k *knowledge) energies(p *projection, gamma, dg float64) Interval {
	lower, upper, ok := k.shifts(gamma)
	most := math.Sqrt(k.inverse(gamma))
	var lo float64
	hi := p.norm * most
	if p.norm >= 0x1p-400 && p.norm <= 0x1p400 { // squares neither underflow nor overflow
		lo = math.Sqrt(p.quad(k.spec.Sigma2, upper))
		if ok {
			hi = math.Min(hi, math.Sqrt(p.quad(k.spec.Sigma2, lower)))
		}
	}
	// ‖H^{-½}(g+δ)‖ ≤ ‖H^{-½}g‖ + ‖δ‖·‖H⁻¹‖^{½}.
	round := 1 + 2*k.along*eps
	slack := (dg + k.onto*eps*p.norm) * most
	out := Interval{math.Max(0, lo/round-slack), hi*round + slack}
	if !(out.Hi <= math.MaxFloat64) || !(out.Lo <= out.Hi) {
		return Interval{0, math.Inf(1)}
	}
	return out
}

// crossError bounds the error of the computed c for target j: that of the sums, and
// what the stage has put wrong. Products with zeros have none.
func (k *knowledge) crossError(j int) float64 {
	if !k.some[0] || !k.some[1+j] {
		return 0
	}
	b := math.Sqrt(k.tss[j])
	return (k.sums*eps*k.size*b + k.off*(b+k.offs[j]) + math.Sqrt(k.staged)*k.offs[j]) * inflate
}

// squaresError bounds the error of the computed ‖b‖² of target j.
func (k *knowledge) squaresError(j int) float64 {
	return k.sums*eps*k.tss[j] + k.offs[j]*(2*math.Sqrt(k.tss[j])+k.offs[j])*inflate
}

// witnessError bounds that of Kh, for the h of the witness.
func (k *knowledge) witnessError() float64 {
	return k.sums*eps*k.size*k.size + k.off*(2*math.Sqrt(k.staged)+k.off)*inflate
}

// residualError bounds, in norm, the round-off of Ax − b for target j, r its norm:
// that of the products, of rows and targets less their means and of r itself.
func (k *knowledge) residualError(j int, x []float64, r float64) float64 {
	return eps * (k.dots*weigh(k.columns, x) + roundFactor*k.target(j) + (roundFactor+k.workers/4)*r)
}

// meanShift bounds what means that are off by δ and δ_y do to Ax − b for target j: they
// add (δᵀx − δ_y)·1 to it, of norm √W·|δᵀx − δ_y|, orthogonal to it.
func (k *knowledge) meanShift(j int, x float64) float64 { return k.root * (k.mean*x + k.means[j]) }

// centring bounds what they do to the gradient, W·δ(δᵀx − δ_y): the columns of A and
// Ax − b are orthogonal to 1.
func (k *knowledge) centring(j int, x float64) float64 { return k.root * k.mean * k.meanShift(j, x) }

// roundOff bounds ‖H⁻¹δg‖ and ‖H^{-½}δg‖ for the round-off δg of a gradient that a
// pass computed at x, with residual r, for target j. The error of Ax − b reaches x
// through H⁻¹Aᵀ. Component i of what it makes of the gradient is at most ‖a_i‖ times its
// norm, and so is that of accumulating Aᵀr a multiple of ‖a_i‖‖r‖.
func (k *knowledge) roundOff(gamma float64, j int, x []float64, r float64) (weights, energy float64) {
	s, xn, most := k.spread(gamma), norm(x), k.inverse(gamma)
	r = math.Hypot(r, math.Sqrt(float64(k.rows))*lostResidual)
	residual := k.residualError(j, x, r)
	sums := k.pass * eps * (r + residual)
	own := roundFactor*eps*gamma*xn + k.centring(j, xn)
	energy = residual + s.energy*sums + own*math.Sqrt(most)
	weights = residual*math.Min(k.through(gamma), s.weights) + s.weights*sums + own*most
	return math.Min(weights, energy*math.Sqrt(most)), energy
}

// errorOneShot bounds ‖x̂ − x*‖ and ‖x̂ − x*‖/‖x*‖ for x̂ = Ĥ⁻¹c of target j,
// Ĥ = BᵀB + (γ+shift)I. From x̂ − x* = H⁻¹(H − Ĥ)x̂ and = Ĥ⁻¹(H − Ĥ)x*:
//
//	‖x̂ − x*‖ ≤ ‖H⁻¹‖·‖K − BᵀB − shift·I‖·‖x̂‖,   ‖x̂ − x*‖ ≤ q‖x*‖,
//
// and by way of the middle of ball, which is closer where η > γ.
func (k *knowledge) errorOneShot(gamma, shift float64, j int, x float64) (abs, rel float64) {
	if x == 0 && k.c[j].norm == 0 && k.tss[j] == 0 {
		return 0, 0
	}
	b := k.bound
	s := gamma + shift
	off := math.Max(shift, b.Shrinkage-shift) + b.RoundOff
	// What arithmetic adds to x̂: the error of c, and of applying Ĥ⁻¹.
	most := k.inverse(gamma)
	round := (k.crossError(j)+k.onto*eps*k.c[j].norm)*most + k.along*eps*x
	abs = off*most*x + round
	env := k.envelope(gamma)
	away := k.c[j].weighted(k.spec.Sigma2, func(s2 float64) float64 {
		v := 1/(s2+s) - env.middle(s2)
		return v * v
	})
	abs = math.Min(abs, (math.Sqrt(away)+k.ball(env, j))*(1+16*eps)+3*round)
	q := off / (s + floor(k.spec))
	rel = relative(abs, x)
	if x > round {
		rel = math.Min(rel, q+round*(1+q)/(x-round))
	}
	return abs, rel
}

// errorFromGradient bounds ‖x − x*‖ = ‖H⁻¹g‖ by the least of
//
//	‖H⁻¹‖·‖g‖,   √(‖H⁻¹‖·gᵀĤ⁻¹g) for Ĥ ⪯ H,   (1 + ρ‖H⁻¹‖)·‖Ĥ_R⁻¹g‖,
//
// plus round, the share of round-off in g.
func (k *knowledge) errorFromGradient(gamma float64, g *projection, round float64) float64 {
	b := k.bound
	most := k.inverse(gamma)
	e := g.norm * most
	if g.norm < 0x1p-400 { // its square may underflow
		return e*(1+16*eps) + round
	}
	onto := k.onto * eps * g.norm // what the projection is off by
	if lower, _, ok := k.shifts(gamma); ok {
		e = math.Min(e, math.Sqrt(g.quad(k.spec.Sigma2, lower)*most)+onto*most)
	}
	s := gamma + b.Shift()
	e = math.Min(e, (1+b.RFD()*most)*(g.solved(k.spec.Sigma2, s)+onto/(s+floor(k.spec))))
	return e*(1+2*k.along*eps) + round
}

// relative turns a bound on ‖x̂ − x*‖ into one on ‖x̂ − x*‖/‖x*‖, given ‖x̂‖.
func relative(abs, x float64) float64 {
	switch {
	case abs == 0:
		return 0
	case abs < x:
		return abs / (x - abs)
	}
	return math.Inf(1)
}

// effectiveDimension brackets tr(H⁻¹K) = Σφ(λᵢ), φ(λ) = λ/(λ+γ), by what is known
// of the eigenvalues of K: λᵢ = σᵢ² + eᵢ with 0 ≤ eᵢ ≤ η, Σeᵢ = T, the tail mass,
// and no more than rank(A) of them positive (σᵢ = 0 past the sketch). φ is concave,
// so the sum is least where T goes first to the largest σᵢ², η to each, and greatest
// where it fills up the smallest ones to one level. Round-off blurs each λᵢ by pad.
func (k *knowledge) effectiveDimension(gamma float64) Interval {
	b := k.bound
	rank := float64(k.rank())
	slope := gamma * k.inverse(gamma) * k.inverse(gamma) // the steepest of φ
	pad := float64(k.d) * (b.RoundOff*slope + roundFactor*eps)
	return Interval{
		Lo: math.Min(rank, math.Max(0, k.leastDimension(gamma)-pad)),
		Hi: math.Min(rank, k.mostDimension(gamma)+pad),
	}
}

// rank bounds that of A.
func (k *knowledge) rank() int {
	n := k.rows
	if k.intercept {
		n--
	}
	return int(max(min(int64(k.d), n), 0))
}

func (k *knowledge) leastDimension(gamma float64) float64 {
	eta := k.bound.Shrinkage
	left := 0.0 // of T, in units of η
	if eta > 0 {
		left = k.bound.Tail / eta
	}
	df := 0.0
	for _, s2 := range k.spec.Sigma2 {
		part := math.Min(1, left)
		left -= part
		df += (1-part)*ratio(s2, gamma) + part*ratio(s2+eta, gamma)
	}
	free := math.Max(0, float64(k.rank()-len(k.spec.Sigma2)))
	return df + math.Min(left, free)*ratio(eta, gamma)
}

// mostDimension is the lesser of two relaxations: Σeᵢ = T without eᵢ ≤ η, and the
// other way round.
func (k *knowledge) mostDimension(gamma float64) float64 {
	eta, s2 := k.bound.Shrinkage, k.spec.Sigma2
	free := math.Max(0, float64(k.rank()-len(s2)))
	// Raising the level to s2[i] takes s2[i] − level for each one below it.
	level, below, left := 0.0, free, k.bound.Tail
	for i := len(s2); i > 0 && (s2[i-1]-level)*below <= left; i-- {
		left -= (s2[i-1] - level) * below
		level, below = s2[i-1], below+1
	}
	if below > 0 {
		level += left / below
	}
	filled, capped := free*ratio(level, gamma), free*ratio(eta, gamma)
	for _, v := range s2 {
		filled += ratio(math.Max(v, level), gamma)
		capped += ratio(v+eta, gamma)
	}
	return math.Min(filled, capped)
}

// ratio is λ/(λ+γ).
func ratio(lambda, gamma float64) float64 { return lambda / (lambda + gamma) }

// measured is what a pass over the data found at x for one target.
type measured struct {
	gradient projection
	rss      float64 // ‖Ax − b‖²
	bound    float64 // on ‖x − x*‖
}

// certificate assembles what is known of the weights x (t×d) at γ. m is nil for
// a one-shot fit; shift is that of the Ĥ which made it.
func (k *knowledge) certificate(gamma, shift float64, x []float64, m []measured) Certificate {
	return k.certify(gamma, shift, x, k.sketchNorms(k.t, x), m)
}

// certify is certificate with bx[j] = ‖Bx_j‖², which a path computes for all its γ
// at once.
func (k *knowledge) certify(gamma, shift float64, x, bx []float64, m []measured) Certificate {
	b := k.bound
	c := Certificate{
		Shrinkage:          b.FD(),
		Contraction:        (math.Max(shift, b.Shrinkage-shift) + b.RoundOff) / (gamma + shift + floor(k.spec)),
		EffectiveDimension: k.effectiveDimension(gamma),
	}
	for j := range k.t {
		xn := norm(x[j*k.d : (j+1)*k.d])
		var e, rel, energy float64
		objective := k.objective(gamma, j)
		move := math.Inf(1)
		var rss Interval
		if m == nil {
			e, rel = k.errorOneShot(gamma, shift, j, xn)
			rss = k.rssFromSketch(j, x[j*k.d:(j+1)*k.d], xn, bx[j])
			move = k.moveOneShot(gamma, shift, j, xn)
			energy = k.energyOneShot(gamma, shift, j, xn)
		} else {
			e = m[j].bound
			rel = relative(e, xn)
			rss = k.rssMeasured(j, m[j].rss, x[j*k.d:(j+1)*k.d])
			off := k.energiesMeasured(gamma, j, x[j*k.d:(j+1)*k.d], &m[j])
			objective = intersect(objective, k.objectiveMeasured(gamma, xn, rss, squared(off.Lo, off.Hi)))
			energy = off.Hi
		}
		c.ErrorBound = append(c.ErrorBound, e)
		c.RelativeErrorBound = append(c.RelativeErrorBound, rel)
		c.EnergyBound = append(c.EnergyBound, math.Min(energy, k.excess(gamma, xn, rss, objective)))
		c.InterceptBound = append(c.InterceptBound, k.interceptError(j, xn, e))
		c.Objective = append(c.Objective, objective)
		c.TSS = append(c.TSS, widenBy(k.tss[j], k.squaresError(j)))
		c.RSS = append(c.RSS, rss)
		c.GCV = append(c.GCV, k.gcv(c.EffectiveDimension, k.rssAtOptimum(gamma, j, xn, e, move, objective, rss)))
	}
	return c
}

// interceptError bounds how far ȳ − x̂ᵀx̄ is from that of the exact solution for target j,
// given ‖x̂‖ and a bound on ‖x̂ − x*‖.
func (k *knowledge) interceptError(j int, x, e float64) float64 {
	if !k.intercept {
		return 0
	}
	return interceptOff(norm(k.centre[:k.d]), k.mean, k.centre[k.d+j], k.means[j], x, e)
}

// interceptOff is interceptError for means of norm far, of the features, and level, of the
// target, that are off by so much each.
func interceptOff(far, farError, level, levelError, x, e float64) float64 {
	if math.IsInf(e, 1) {
		return e
	}
	return (levelError + farError*(x+e) + far*e + 2*roundFactor*eps*(math.Abs(level)+far*x)) * inflate
}

// sketchNorms returns ‖Bx‖² for each row of x (q×d).
func (k *knowledge) sketchNorms(q int, x []float64) []float64 {
	out, r := make([]float64, q), len(k.spec.Sigma2)
	h := make([]float64, q*r)
	k.be.Gemm(false, true, 1, engine.View(q, k.d, x), engine.View(r, k.d, k.spec.V), 0, engine.View(q, r, h))
	for i := range out {
		for l, s2 := range k.spec.Sigma2 {
			out[i] += s2 * h[i*r+l] * h[i*r+l]
		}
	}
	return out
}

// objective brackets f* = ½(‖b‖² − cᵀH⁻¹c).
func (k *knowledge) objective(gamma float64, j int) Interval {
	q := k.quads(&k.c[j], gamma, k.crossError(j))
	pad := k.squaresError(j)
	return Interval{math.Max(0, (k.tss[j]-q.Hi-pad)/2), math.Max(0, (k.tss[j]-q.Lo+pad)/2)}
}

// energiesMeasured brackets ‖H^{½}(x − x*)‖ = ‖H^{-½}g‖ for the gradient g measured at x.
func (k *knowledge) energiesMeasured(gamma float64, j int, x []float64, m *measured) Interval {
	_, energy := k.roundOff(gamma, j, x, math.Sqrt(m.rss))
	return k.energies(&m.gradient, gamma, energy/math.Sqrt(k.inverse(gamma)))
}

// objectiveMeasured brackets f* from the gap 2(f(x) − f*), the square of that norm, with
// ‖Ax − b‖² and ‖x‖.
func (k *knowledge) objectiveMeasured(gamma, x float64, rss, gap Interval) Interval {
	f := gamma * x * x
	pad := roundFactor * eps * f
	return Interval{
		math.Max(0, (rss.Lo+f-gap.Hi-pad)/2),
		math.Max(0, (rss.Hi+f-gap.Lo+pad)/2),
	}
}

// rssFromSketch brackets ‖Ax − b‖² = ‖b‖² − 2cᵀx + xᵀKx, with
// xᵀKx ∈ ‖Bx‖² + [0, η]‖x‖².
func (k *knowledge) rssFromSketch(j int, x []float64, xn, bx float64) Interval {
	b := k.bound
	cx := dot(k.cross[j*k.d:(j+1)*k.d], x)
	base := k.tss[j] - 2*cx + bx
	own := k.onto * eps * math.Sqrt(k.largest) * xn // what ‖Bx‖ is off by
	pad := k.squaresError(j) + 2*roundFactor*eps*(k.c[j].norm*xn+k.tss[j]) + own*(2*math.Sqrt(bx)+own) + 2*k.along*eps*bx
	pad += 2*k.crossError(j)*xn + b.RoundOff*xn*xn
	if !(pad <= math.MaxFloat64) || !(bx <= math.MaxFloat64) {
		return Interval{0, math.Inf(1)}
	}
	return Interval{math.Max(0, base-pad), math.Max(0, base+b.Shrinkage*xn*xn+pad)}
}

// rssMeasured widens a computed ‖r‖² by the round-off of r = Ax − b and of its square.
func (k *knowledge) rssMeasured(j int, rss float64, x []float64) Interval {
	r := math.Sqrt(rss)
	pad := k.residualError(j, x, r) + math.Sqrt(float64(k.rows))*lostResidual
	lo, shift := math.Max(0, r-pad), k.meanShift(j, norm(x))
	return Interval{math.Max(0, lo*lo-shift*shift), (r + pad) * (r + pad)}
}

// moveOneShot bounds ‖A(x̂ − x*)‖ = ‖AH⁻¹g‖ for x̂ = Ĥ⁻¹c, and energyOneShot
// ‖H^{½}(x̂ − x*)‖ = ‖H^{-½}g‖, both from its gradient, see gradientOneShot.
func (k *knowledge) moveOneShot(gamma, shift float64, j int, x float64) float64 {
	return k.gradientOneShot(gamma, shift, j, x) * k.through(gamma)
}

func (k *knowledge) energyOneShot(gamma, shift float64, j int, x float64) float64 {
	return k.gradientOneShot(gamma, shift, j, x) * math.Sqrt(k.inverse(gamma)) * (1 + 16*eps)
}

// gradientOneShot bounds the gradient at x̂ = Ĥ⁻¹c, g = (K − BᵀB − shift·I)x̂ but for
// round-off.
func (k *knowledge) gradientOneShot(gamma, shift float64, j int, x float64) float64 {
	b := k.bound
	off := math.Max(shift, b.Shrinkage-shift) + b.RoundOff
	return off*x + k.crossError(j) + k.onto*eps*k.c[j].norm + k.along*eps*(k.largest+gamma+shift)*x
}

// excess bounds ‖H^{½}(x − x*)‖ by √(2(f(x) − f*)), given ‖x‖, ‖Ax − b‖² and f*.
func (k *knowledge) excess(gamma, x float64, rss, objective Interval) float64 {
	return math.Sqrt(math.Max(0, rss.Hi+gamma*x*x*(1+roundFactor*eps)-2*objective.Lo)) * (1 + 16*eps)
}

// rssAtOptimum brackets RSS(x*) = 2f* − γ‖x*‖², with ‖x*‖ ∈ ‖x‖ ± e and
// γ‖x*‖² ≤ cᵀH⁻¹c = ‖b‖² − 2f*, and by ‖Ax* − b‖ ∈ ‖Ax − b‖ ± move, where move is
// no more than ‖A‖₂e.
func (k *knowledge) rssAtOptimum(gamma float64, j int, x, e, move float64, f, rss Interval) Interval {
	far, near := x+e, math.Max(0, x-e)
	most := math.Min(gamma*far*far, math.Max(0, k.tss[j]+k.squaresError(j)-2*f.Lo))
	byObjective := Interval{math.Max(0, 2*f.Lo-most), 2*f.Hi - gamma*near*near}
	move = math.Min(move, math.Sqrt(k.largest)*e)
	lo := math.Max(0, math.Sqrt(rss.Lo)-move)
	hi := math.Sqrt(rss.Hi) + move
	return intersect(k.rssFromEnvelope(gamma, j), intersect(byObjective, Interval{lo * lo, hi * hi}))
}

// rssFromEnvelope brackets RSS(x*) = ‖b‖² − cᵀH⁻¹c − γ‖H⁻¹c‖² without weights at
// hand. With H⁻¹ = M + ½D^{½}WD^{½} as for ball, z = D^{½}c and y = D^{½}Mc,
//
//	RSS(x*) = ‖b‖² − cᵀMc − γ‖Mc‖² − ½(z + 2γy)ᵀWz − γ/4·‖D^{½}Wz‖²,
//
// of which ‖W‖ ≤ 1 bounds the last two terms.
func (k *knowledge) rssFromEnvelope(gamma float64, j int) Interval {
	e, c, s2 := k.envelope(gamma), &k.c[j], k.spec.Sigma2
	middle := k.tss[j] - c.weighted(s2, func(s2 float64) float64 { return e.middle(s2) * (1 + gamma*e.middle(s2)) })
	z2 := c.weighted(s2, e.gap)
	zy2 := c.weighted(s2, func(s2 float64) float64 {
		v := 1 + 2*gamma*e.middle(s2)
		return v * v * e.gap(s2)
	})
	half := math.Sqrt(z2) * math.Sqrt(zy2) / 2
	radius := k.ball(e, j)
	// cᵀφ(K)c and the bounds, φ ≤ 2‖H⁻¹‖, for a c known to δ and projected.
	delta, most := k.crossError(j)+k.onto*eps*c.norm, k.inverse(gamma)
	pad := 16*math.Sqrt(k.tss[j]*most)*delta + 8*delta*delta*most + k.squaresError(j) + 2*k.along*eps*(k.tss[j]+half)
	return Interval{math.Max(0, middle-half-gamma*radius*radius-pad), math.Max(0, middle+half+pad)}
}

// gcv is n·RSS/(n − df)², the intercept counting as one more degree of freedom.
func (k *knowledge) gcv(df, rss Interval) Interval {
	n := float64(k.rows)
	if k.intercept {
		df.Lo, df.Hi = df.Lo+1, df.Hi+1
	}
	out := Interval{0, math.Inf(1)}
	if n > df.Lo {
		out.Lo = n * rss.Lo / ((n - df.Lo) * (n - df.Lo)) * (1 - 8*eps)
	}
	if n > df.Hi {
		out.Hi = n * rss.Hi / ((n - df.Hi) * (n - df.Hi)) * (1 + 8*eps)
	}
	return out
}

// widenBy is what is known of a number that is not negative and known to some error.
func widenBy(x, off float64) Interval { return Interval{math.Max(0, x-off), x + off} }

// intersect returns what two intervals that hold the same number share. Where
// round-off leaves them a hair apart it is what both span; one that is none says nothing.
func intersect(a, b Interval) Interval {
	switch {
	case math.IsNaN(a.Lo) || math.IsNaN(a.Hi):
		return b
	case math.IsNaN(b.Lo) || math.IsNaN(b.Hi):
		return a
	case a.Lo > b.Hi || b.Lo > a.Hi:
		return Interval{math.Min(a.Lo, b.Lo), math.Max(a.Hi, b.Hi)}
	}
	return Interval{math.Max(a.Lo, b.Lo), math.Min(a.Hi, b.Hi)}
}
