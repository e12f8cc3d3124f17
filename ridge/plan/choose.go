package plan

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A Problem describes the rows and the wanted solutions, as input of [Choose]. Every field except Gammas must be set;
// there are no defaults.
type Problem struct {
	Method       ridge.Method // the requested method, or Auto
	Rows         int64        // n, the number of rows; -1 if unknown
	Dim, Targets int
	Gammas       []float64 // nil if γ will be chosen
	Grid         int       // number of candidates if γ will be chosen
	LeaveOneOut  bool      // γ is chosen by leave-one-out errors
	Size         int       // m, the number of rows of the sketch
	MaxBytes     uint64    // memory that a direct method may use
	Once         bool      // the rows can be read only once
	Sparse       bool      // the rows are sparse
	// why a sketch is needed, for example to choose γ by folds; the zero Reason if none is needed
	NeedsSketch reason.Reason
}

// DefaultSize is the default number of rows of a sketch.
const DefaultSize = 256

// LosslessSize returns the number of rows of a sketch that loses no information about n×d rows. n is −1 if
// unknown. The size depends on the memory:
//
//   - n, if n < d and the rows fit in [ridge.MaxGramBytes]
//   - otherwise d, if AᵀA fits in [ridge.MaxGramBytes]
//   - otherwise DefaultSize, which may lose information
func LosslessSize(n int64, d int) int {
	switch {
	case n >= 0 && n < int64(d) && 8*float64(n)*float64(d) <= ridge.MaxGramBytes:
		return int(max(n, 1))
	case 8*float64(d)*float64(d) <= ridge.MaxGramBytes:
		return d
	}
	return DefaultSize
}

// MaxTrialRows is the largest number of sparse rows whose leverages are bracketed by trial vectors. The time grows with
// the number of rows times the number of entries.
const MaxTrialRows = 20000

// Steps holds the chosen method and the reason for it.
type Steps struct {
	Method ridge.Method
	Reason reason.Reason
}

// Choose chooses the method. If p.Method is not Auto, Choose returns it unchanged. In these rules, an iteration is CG
// or Galerkin, whichever costs less in a dozen passes. If the rows can be read only once, OneShot replaces the
// iteration.
//
//  1. If γ = 0, use Exact.
//  2. If p.NeedsSketch gives a reason, use an iteration.
//  3. If Exact needs more than MaxBytes, or d² numbers (n² if n < d) take more than 1 GiB, use an iteration. For sparse rows and
//     a single γ, use DualCG instead if n² numbers are too large and the rows can be read again.
//  4. If the rows can be read only once, use Exact.
//  5. Use Exact if it costs at most twice as much as a dozen passes, otherwise an iteration.
//  6. For leave-one-out errors of at most MaxTrialRows sparse rows, DualCG replaces the iteration of rules 3 and 5.
func Choose(p Problem) Steps {
	if p.Method != ridge.Auto {
		return Steps{Method: p.Method}
	}
	iterated, passes := cheaperIteration(p.Dim, min(p.Size, p.Dim), max(1, len(p.Gammas))*p.Targets)
	if p.Once {
		iterated = ridge.OneShot
	}
	if slices.Contains(p.Gammas, 0) {
		return Steps{ridge.Exact, reason.Reason{Rule: reason.LeastSquares}}
	}
	if p.NeedsSketch.Rule != reason.Asked {
		return Steps{iterated, p.NeedsSketch}
	}
	byTrials := p.LeaveOneOut && p.Sparse && p.Rows >= 0 && p.Rows <= MaxTrialRows
	if why := misfit(p); why.Rule != reason.Asked {
		if byTrials {
			return Steps{ridge.DualCG, reason.Reason{Rule: reason.SparseLeverages}}
		}
		if p.Sparse && why.Rule == reason.DualTooLarge && len(p.Gammas) == 1 && !p.Once {
			return Steps{ridge.DualCG, reason.Reason{Rule: reason.SparseRows}}
		}
		return Steps{iterated, why}
	}
	ratio := exactWork(p) / passes
	switch dual := p.isDual(); {
	case p.Once && dual:
		return Steps{ridge.Exact, reason.Reason{Rule: reason.ReadOnceDual}}
	case p.Once:
		return Steps{ridge.Exact, reason.Reason{Rule: reason.ReadOnce}}
	case ratio > maxCostRatio && byTrials:
		return Steps{ridge.DualCG, reason.Reason{Rule: reason.SparseLeverages}}
	case ratio > maxCostRatio:
		return Steps{iterated, reason.Reason{Rule: reason.IterationIsCheaper, Numbers: []float64{1 / ratio}}}
	case dual:
		return Steps{
			ridge.Exact,
			reason.Reason{Rule: reason.DualIsCheaper, Numbers: []float64{ratio}, Method: iterated},
		}
	}
	return Steps{ridge.Exact, reason.Reason{Rule: reason.DirectIsCheaper, Numbers: []float64{ratio}, Method: iterated}}
}

// Choose prefers a direct method that costs at most maxCostRatio times as much as 12 passes of an iteration. The
// ratio is above 1, because an iteration may need more passes than estimated.
const maxCostRatio = 2

// DependsOnRows reports whether the choice depends on the rows. It may depend on their number, if this is unknown, or
// on whether they are sparse. The result is false if the rows can be read only once.
func DependsOnRows(p Problem) bool {
	if p.Method != ridge.Auto && p.Method != ridge.Exact || p.NeedsSketch.Rule != reason.Asked ||
		slices.Contains(p.Gammas, 0) ||
		p.Once {
		return false
	}
	p.Sparse = p.Rows >= 0
	m := Choose(p).Method
	if p.Rows < 0 && m.IsDirect() {
		few := p
		few.Rows = int64(p.Dim)
		return Choose(few).Method != m
	}
	return p.Sparse && m == ridge.DualCG || p.Rows < 0
}

// Fits reports whether a direct method has enough memory. AᵀA (or AAᵀ, if n < d) must fit in
// [ridge.MaxGramBytes], and the method must need at most MaxBytes.
func Fits(p Problem) bool { return misfit(p).Rule == reason.Asked }

// misfit returns the zero Reason if a direct method fits.
func misfit(p Problem) reason.Reason {
	k := p.numGammas()
	order, rule, method := p.Dim, reason.GramTooLarge, factorFor(k)
	kept := 0.0
	if p.isDual() {
		order, rule, method = int(p.Rows), reason.DualTooLarge, ridge.Dual
		if p.Once {
			kept = 8 * float64(p.Rows) * float64(p.Dim) // the rows are kept in memory
		}
	}
	need := kept + ridge.DirectBytes(method, p.Rows, p.Dim, p.Targets, k, p.LeaveOneOut)
	switch {
	case 8*float64(order)*float64(order) > ridge.MaxGramBytes:
		return reason.Reason{Rule: rule, Numbers: []float64{float64(order), ridge.MaxGramBytes}}
	case need > float64(p.MaxBytes):
		return reason.Reason{Rule: reason.MemoryTooSmall, Numbers: []float64{need, float64(p.MaxBytes)}}
	}
	return reason.Reason{}
}

// isDual reports whether a direct method solves for n < d.
func (p *Problem) isDual() bool { return p.Rows >= 0 && p.Rows < int64(p.Dim) }

func (p *Problem) numGammas() int {
	if p.Gammas == nil {
		return p.Grid
	}
	return len(p.Gammas)
}

// exactWork returns flops of a direct solution per element of A.
func exactWork(p Problem) float64 {
	if p.isDual() {
		return readFlops + exactFlops(int64(p.Dim), int(p.Rows), p.numGammas())
	}
	return readFlops + exactFlops(p.Rows, p.Dim, p.numGammas())
}

// GramPass returns the zero Reason if a pass that computes AᵀA is worthwhile, otherwise the reason why not. AᵀA
// must fit in MaxBytes and in [ridge.MaxGramBytes]. The pass and its eigenproblems may cost at most five times as
// much as an iteration.
func GramPass(p Problem, eigenproblems int) reason.Reason {
	d := float64(p.Dim)
	if need := 8 * 8 * d * (d + float64(p.Targets)); need > ridge.MaxGramBytes || need > float64(p.MaxBytes) {
		return reason.Reason{Rule: reason.GramDoesNotFit, Numbers: []float64{d, need}}
	}
	const most = 5
	_, passes := cheaperIteration(p.Dim, min(p.Size, p.Dim), p.Targets)
	work := readFlops + productFlops*d + float64(eigenproblems)*eigenFlops*d*d/math.Max(1, float64(p.Rows))
	if work > most*passes {
		return reason.Reason{Rule: reason.GramCostsTooMuch, Numbers: []float64{work / (most * passes)}}
	}
	return reason.Reason{}
}

// readFlops is the assumed cost of reading one number, in flops.
const readFlops = 500

// cheaperIteration returns CG or Galerkin, whichever costs less.
func cheaperIteration(d, m, systems int) (method ridge.Method, flops float64) {
	const passes = 12
	sketch := readFlops + sketchFlops(float64(m), float64(max(m, 1)))
	cg := sketch + passes*(readFlops+productFlops*float64(systems))
	galerkin := sketch + productFlops*float64(m) + passes*galerkinShare*(readFlops+productFlops*krylov.BlockRows)
	if prefersGalerkin(galerkin, cg, d, m, systems) {
		return ridge.Galerkin, galerkin
	}
	return ridge.CG, cg
}

// Iteration returns CG or Galerkin, whichever costs less for the problem in a dozen passes.
func Iteration(p Problem) ridge.Method {
	m, _ := cheaperIteration(p.Dim, min(p.Size, p.Dim), max(1, len(p.Gammas))*p.Targets)
	return m
}
