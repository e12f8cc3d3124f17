package plan

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A Problem is the input of [Choose]. It describes the rows and the wanted solutions. There are no defaults, so the
// caller must set every field. If the penalty γ is not yet known, Gammas is nil and Grid is the number of
// candidates.
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
	// NeedsSketch is the reason why a sketch is needed. For example, a sketch is needed to choose the penalty γ by
	// cross-validation. The zero Reason means that no sketch is needed.
	NeedsSketch reason.Reason
}

// DefaultSize is the default number of rows of a sketch.
const DefaultSize = 256

// LosslessSize returns a number of sketch rows with which a sketch of n rows and d features loses no information.
// If n is unknown, it must be −1. The result is
//
//   - n, if n < d and the n×d rows fit in [ridge.MaxGramBytes] bytes
//   - otherwise d, if the d×d matrix AᵀA fits in [ridge.MaxGramBytes] bytes
//   - otherwise [DefaultSize], with which the sketch may lose information
func LosslessSize(n int64, d int) int {
	switch {
	case n >= 0 &&
		n < int64(d) &&
		8*float64(n)*float64(d) <= ridge.MaxGramBytes:
		return int(max(n, 1))
	case 8*float64(d)*float64(d) <= ridge.MaxGramBytes:
		return d
	}
	return DefaultSize
}

// MaxTrialRows is the largest number of sparse rows whose leverages Choose lets trial vectors bracket. There is a
// limit, because the time grows with the number of rows times the number of nonzero entries.
const MaxTrialRows = 20000

// Steps holds the method that [Choose] selects, and the reason for the choice.
type Steps struct {
	Method ridge.Method
	Reason reason.Reason
}

// Choose chooses the method. If p.Method is not Auto, Choose returns p.Method. In these rules, "an iteration" means CG
// or Galerkin, whichever costs less in a dozen passes, or OneShot if the rows can be read only once. n and d are the
// numbers of rows and features.
//
//  1. If γ = 0, use Exact.
//  2. If p.NeedsSketch gives a reason, use an iteration.
//  3. Exact may need too much memory: more than MaxBytes, or more than 1 GiB for d² numbers (n² numbers if n < d).
//     Then use an iteration. If only the n² numbers are too large, the rows are sparse and can be read again, and
//     there is a single γ, use DualCG instead.
//  4. If the rows can be read only once, use Exact.
//  5. Use Exact if it costs at most twice as much as a dozen passes, otherwise an iteration.
//  6. For leave-one-out errors of at most MaxTrialRows sparse rows, DualCG replaces the iteration of rules 3 and 5.
func Choose(p Problem) Steps {
	if p.Method != ridge.Auto {
		return Steps{Method: p.Method}
	}
	iterated, passes := cheaperIteration(
		p.Dim,
		min(p.Size, p.Dim),
		max(1, len(p.Gammas))*p.Targets,
	)
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
		if p.Sparse &&
			why.Rule == reason.DualTooLarge &&
			len(p.Gammas) == 1 &&
			!p.Once {
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
		return Steps{iterated, reason.Reason{
			Rule:    reason.IterationIsCheaper,
			Numbers: []float64{1 / ratio},
		}}
	case dual:
		return Steps{
			ridge.Exact,
			reason.Reason{
				Rule:    reason.DualIsCheaper,
				Numbers: []float64{ratio},
				Method:  iterated,
			},
		}
	}
	return Steps{ridge.Exact, reason.Reason{
		Rule:    reason.DirectIsCheaper,
		Numbers: []float64{ratio},
		Method:  iterated,
	}}
}

// maxCostRatio limits the cost of a direct method, divided by the cost of 12 passes of an iteration. Up to this
// ratio, Choose prefers the direct method. The limit is above 1, because an iteration may need more than 12 passes.
const maxCostRatio = 2

// DependsOnRows reports whether the result of Choose may depend on unknown facts about the rows. These facts are
// the number of rows, if p.Rows is −1, and otherwise whether the rows are sparse. If the rows can be read only
// once, DependsOnRows returns false.
func DependsOnRows(p Problem) bool {
	if p.Method != ridge.Auto && p.Method != ridge.Exact ||
		p.NeedsSketch.Rule != reason.Asked ||
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

// Fits reports whether a direct method has enough memory for the n×d rows A of p. The matrix AᵀA, or AAᵀ if n < d,
// must fit in [ridge.MaxGramBytes] bytes. The whole method must fit in p.MaxBytes bytes.
func Fits(p Problem) bool { return misfit(p).Rule == reason.Asked }

// misfit returns the reason why a direct method needs too much memory for the rows of p. If the memory suffices,
// misfit returns the zero Reason.
func misfit(p Problem) reason.Reason {
	k := p.numGammas()
	order := p.Dim
	rule := reason.GramTooLarge
	method := factorFor(k)
	kept := 0.0
	if p.isDual() {
		order = int(p.Rows)
		rule = reason.DualTooLarge
		method = ridge.Dual
		if p.Once {
			kept = 8 * float64(p.Rows) * float64(p.Dim) // the rows are kept in memory
		}
	}
	need := kept + ridge.DirectBytes(method, p.Rows, p.Dim, p.Targets, k, p.LeaveOneOut)
	switch {
	case 8*float64(order)*float64(order) > ridge.MaxGramBytes:
		return reason.Reason{
			Rule:    rule,
			Numbers: []float64{float64(order), ridge.MaxGramBytes},
		}
	case need > float64(p.MaxBytes):
		return reason.Reason{
			Rule:    reason.MemoryTooSmall,
			Numbers: []float64{need, float64(p.MaxBytes)},
		}
	}
	return reason.Reason{}
}

// isDual reports whether there are fewer rows than features. Direct methods then factor AAᵀ, not AᵀA.
func (p *Problem) isDual() bool {
	return p.Rows >= 0 && p.Rows < int64(p.Dim)
}

func (p *Problem) numGammas() int {
	if p.Gammas == nil {
		return p.Grid
	}
	return len(p.Gammas)
}

// exactWork returns the cost of a direct method, in flops per element of the matrix of rows. It includes the cost
// of reading the rows.
func exactWork(p Problem) float64 {
	if p.isDual() {
		return readFlops + exactFlops(int64(p.Dim), int(p.Rows), p.numGammas())
	}
	return readFlops + exactFlops(p.Rows, p.Dim, p.numGammas())
}

// GramPass returns the zero Reason if it is worthwhile to compute AᵀA in a pass over the rows A. Otherwise it
// returns the reason why not. AᵀA and its workspace must fit in p.MaxBytes and in [ridge.MaxGramBytes]. The pass is
// followed by the given number of eigenproblems of AᵀA. Together they may cost at most five times as much as an
// iteration with the sketch.
func GramPass(p Problem, eigenproblems int) reason.Reason {
	d := float64(p.Dim)
	need := 8 * 8 * d * (d + float64(p.Targets))
	if need > ridge.MaxGramBytes || need > float64(p.MaxBytes) {
		return reason.Reason{
			Rule:    reason.GramDoesNotFit,
			Numbers: []float64{d, need},
		}
	}
	const most = 5
	_, passes := cheaperIteration(p.Dim, min(p.Size, p.Dim), p.Targets)
	work := readFlops + productFlops*d + float64(eigenproblems)*eigenFlops*d*d/math.Max(1, float64(p.Rows))
	if work > most*passes {
		return reason.Reason{
			Rule:    reason.GramCostsTooMuch,
			Numbers: []float64{work / (most * passes)},
		}
	}
	return reason.Reason{}
}

// readFlops is the assumed cost of reading one number of the rows, in flops.
const readFlops = 500

// cheaperIteration returns CG or Galerkin, whichever costs less.
func cheaperIteration(d, m, systems int) (method ridge.Method, flops float64) {
	const passes = 12
	sketch := readFlops + sketchFlops(float64(m), float64(max(m, 1)))
	cg := sketch + passes*(readFlops+productFlops*float64(systems))
	galerkin := sketch +
		productFlops*float64(m) +
		passes*galerkinShare*(readFlops+productFlops*krylov.BlockRows)
	if prefersGalerkin(galerkin, cg, d, m, systems) {
		return ridge.Galerkin, galerkin
	}
	return ridge.CG, cg
}

// Iteration returns the method that costs less for the problem in a dozen passes, CG or Galerkin.
func Iteration(p Problem) ridge.Method {
	m, _ := cheaperIteration(p.Dim, min(p.Size, p.Dim), max(1, len(p.Gammas))*p.Targets)
	return m
}
