package plan

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Problem is what a fit is asked for, as far as the choice of the method depends on it. Every field but Gammas has its value.
type Problem struct {
	Method       ridge.Method // Auto, or the method that is asked for
	Rows         int64        // n; -1 if it is unknown
	Dim, Targets int
	Gammas       []float64    // nil if γ is to be chosen
	Grid         int          // number of γ that one is chosen from
	LeaveOneOut  bool         // γ is chosen by leave-one-out errors
	Size         int          // m
	MaxBytes     uint64       // memory that a direct method may take
	Once         bool         // the rows can be read only once
	NeedsSketch  ridge.Reason // why a sketch is needed; the zero value if it is not
}

// DefaultSize is the number of rows of a sketch if none is given.
const DefaultSize = 256

// Steps is the way in which a problem is solved.
type Steps struct {
	Method ridge.Method
	Reason ridge.Reason
}

// Choose chooses the method.
//
//  1. A problem that needs a sketch iterates: ranks share the rows, bands or folds are to be chosen, or the sketch or a checkpoint is kept.
//  2. γ = 0 is solved by Exact.
//  3. Exact solves if d² numbers (n² if n < d) take at most 1 GiB, the method fits in MaxBytes, and it costs at most twice
//     what a dozen passes do.
//  4. Otherwise CG or Galerkin iterates, whichever costs less in a dozen passes.
//  5. Rows that can be read only once are solved by Exact whatever it costs, if it fits, and otherwise by OneShot.
func Choose(p Problem) Steps {
	if p.Method != ridge.Auto {
		return Steps{Method: p.Method}
	}
	iterated, passes := iterative(p.Dim, min(p.Size, p.Dim), max(1, len(p.Gammas))*p.Targets)
	if p.Once {
		iterated = ridge.OneShot
	}
	if p.NeedsSketch.Rule != ridge.Asked {
		return Steps{iterated, p.NeedsSketch}
	}
	if slices.Contains(p.Gammas, 0) {
		return Steps{ridge.Exact, ridge.Reason{Rule: ridge.LeastSquares}}
	}
	if why := misfit(p); why.Rule != ridge.Asked {
		return Steps{iterated, why}
	}
	ratio := exactWork(p) / passes
	switch dual := p.isDual(); {
	case p.Once && dual:
		return Steps{ridge.Exact, ridge.Reason{Rule: ridge.ReadOnceDual}}
	case p.Once:
		return Steps{ridge.Exact, ridge.Reason{Rule: ridge.ReadOnce}}
	case ratio > mostRatio:
		return Steps{iterated, ridge.Reason{Rule: ridge.IterationIsCheaper, Numbers: []float64{1 / ratio}}}
	case dual:
		return Steps{ridge.Exact, ridge.Reason{Rule: ridge.DualIsCheaper, Numbers: []float64{ratio}, Method: iterated}}
	}
	return Steps{ridge.Exact, ridge.Reason{Rule: ridge.DirectIsCheaper, Numbers: []float64{ratio}, Method: iterated}}
}

// mostRatio is the largest cost of a direct solution relative to that of the passes it replaces. The cost of a direct solution is
// certain; the passes may be more than estimated.
const mostRatio = 2

// Fits reports whether a direct method fits the problem: d² numbers (n² if n < d) take at most [ridge.MaxGramBytes], and the
// method at most MaxBytes.
func Fits(p Problem) bool { return misfit(p).Rule == ridge.Asked }

// misfit returns the reason why a direct method does not fit the problem, or the zero Reason if it does.
func misfit(p Problem) ridge.Reason {
	k := p.solved()
	order, rule, method := p.Dim, ridge.GramTooLarge, factorFor(k)
	kept := 0.0
	if p.isDual() {
		order, rule, method = int(p.Rows), ridge.DualTooLarge, ridge.Dual
		if p.Once {
			kept = 8 * float64(p.Rows) * float64(p.Dim) // the rows stay in memory
		}
	}
	need := kept + ridge.DirectBytes(method, p.Rows, p.Dim, p.Targets, k, p.LeaveOneOut)
	switch {
	case 8*float64(order)*float64(order) > ridge.MaxGramBytes:
		return ridge.Reason{Rule: rule, Numbers: []float64{float64(order), ridge.MaxGramBytes}}
	case need > float64(p.MaxBytes):
		return ridge.Reason{Rule: ridge.MemoryTooSmall, Numbers: []float64{need, float64(p.MaxBytes)}}
	}
	return ridge.Reason{}
}

// isDual reports whether there are fewer rows than features, so that a direct method solves a system of order n.
func (p *Problem) isDual() bool { return p.Rows >= 0 && p.Rows < int64(p.Dim) }

// solved returns the number of γ that a direct method solves for.
func (p *Problem) solved() int {
	if p.Gammas == nil {
		return p.Grid
	}
	return len(p.Gammas)
}

// exactWork returns the flops for each number of A of a direct solution, reading included.
func exactWork(p Problem) float64 {
	if p.isDual() {
		return readFlops + exactFlops(int64(p.Dim), int(p.Rows), p.solved())
	}
	return readFlops + exactFlops(p.Rows, p.Dim, p.solved())
}

// GramPass returns the zero Reason if a pass that computes AᵀA is worth its cost for the choice of γ. The pass and the
// eigenproblem after it must fit in MaxBytes and in [ridge.MaxGramBytes], and the pass with so many eigenproblems of order d
// must cost at most five times what the refinement costs. Otherwise GramPass returns the reason why not.
func GramPass(p Problem, eigenproblems int) ridge.Reason {
	d := float64(p.Dim)
	if need := 8 * 8 * d * (d + float64(p.Targets)); need > ridge.MaxGramBytes || need > float64(p.MaxBytes) {
		return ridge.Reason{Rule: ridge.GramDoesNotFit, Numbers: []float64{d, need}}
	}
	const most = 5
	_, passes := iterative(p.Dim, min(p.Size, p.Dim), p.Targets)
	work := readFlops + productFlops*d + float64(eigenproblems)*eigenFlops*d*d/math.Max(1, float64(p.Rows))
	if work > most*passes {
		return ridge.Reason{Rule: ridge.GramCostsTooMuch, Numbers: []float64{work / (most * passes)}}
	}
	return ridge.Reason{}
}

// readFlops is the assumed cost of reading one number, in flops.
const readFlops = 500

// iterative returns which of CG and Galerkin costs less for so many systems (a γ and a target each) if CG makes a
// dozen passes, and its flops for each number of A. Galerkin's blocks of vectors are taken to be full.
func iterative(d, m, systems int) (method ridge.Method, flops float64) {
	const passes = 12
	sketch := readFlops + sketchFlops(float64(m), float64(max(m, 1)))
	cg := sketch + passes*(readFlops+productFlops*float64(systems))
	galerkin := sketch + productFlops*float64(m) + passes*galerkinShare*(readFlops+productFlops*krylov.BlockRows)
	if prefersGalerkin(galerkin, cg, d, m, systems) {
		return ridge.Galerkin, galerkin
	}
	return ridge.CG, cg
}

// Iteration returns the method that iterates on a problem: CG or Galerkin, whichever costs less in a dozen passes.
func Iteration(p Problem) ridge.Method {
	m, _ := iterative(p.Dim, min(p.Size, p.Dim), max(1, len(p.Gammas))*p.Targets)
	return m
}
