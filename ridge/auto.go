package ridge

import (
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// ChooseMethod returns the method that [Fit] runs for n rows (-1 while unknown) of d
// features and t targets, and why: opts.Method without a reason, where it is given.
//
// Costs are per number of A, to leading order, see cost.go: to read a number, out of a
// binary file in cache or of a text, takes as long as some hundreds to thousands of
// flops, CG about a dozen passes and Galerkin at most two thirds of them. A direct
// solution is chosen where d² numbers, or n² where there are fewer rows than features, take no more than 1 GiB, all that it holds (see
// [SizeError]) no more than opts.MaxBytes, and it takes no more than twice as long as the
// better of these two; never where a sketch is needed. Where opts.Error is given, and the size of the sketch yet unknown, what a sketch
// takes is left out. [Summary.Plan] marks what this chooses, and knows when something else is
// sooner: it has the spectrum and the machine. To choose γ takes a sketch, but where there are fewer
// rows than features, or so few features that the sketch would keep AᵀA itself. Of rows that can be read once (opts.Once) the direct solution is chosen where
// it fits, else "one-shot".
func ChooseMethod(n int64, d, t int, opts Options) (method, reason string) {
	if opts.Method != "" {
		return opts.Method, ""
	}
	if opts.Once {
		return chooseOnce(n, d, t, &opts)
	}
	m := opts.size()
	if opts.Error > 0 {
		m = 0
	}
	k := opts.solved()
	method, least := iterative(d, min(m, d), k*t)
	if why := opts.needsSketch(n, d); why != "" {
		return method, why
	}
	if slices.Contains(opts.Gammas, 0) {
		return exactName, "gamma = 0 is least squares, which nothing else solves"
	}
	if opts.chooses() {
		k = gridGCV
	}
	exact, bytes, order, squared := readFlops+exactFlops(n, d, k), float64(exactBytes(d, t, reduces(k))), d, "d²"
	if n >= 0 && byRows(exactName, n, d, opts.Gammas) {
		exact, bytes = readFlops+exactFlops(int64(d), int(n), k), dualBytes(n, d, t, Dual, dualPlan{gammas: k, leverage: opts.Select == ByLOO})
		order, squared = int(n), "n²"
	}
	switch {
	case !exactFits(order):
		return method, fmt.Sprintf("%s for %s = %d takes more than %d MiB", squared, squared[:1], order, exactBudget>>20)
	case bytes > float64(opts.maxBytes()):
		return method, fmt.Sprintf("exact takes %.3g MiB, MaxBytes is %.3g", bytes/(1<<20), float64(opts.maxBytes())/(1<<20))
	case prefersExact(exact, least):
		return exactName, fmt.Sprintf("%s numbers fit, and it is %.2g times the work of %s, which would make about a dozen passes", squared, exact/least, method)
	}
	return method, fmt.Sprintf("it is %.2g times the work of exact, if it makes about a dozen passes", least/exact)
}

// needsSketch says why a sketch is needed for n rows of d features, "" if none is: to choose γ takes
// none where choosesExactly says so.
func (o *Options) needsSketch(n int64, d int) string {
	switch {
	case o.Reducer != nil:
		return "several ranks share the rows"
	case o.choosesBands():
		return "penalties of bands are chosen from a sketch"
	case o.KeepSummary:
		return "the sketch is to be kept"
	case o.Journal != nil:
		return "a checkpoint is to be kept"
	case o.chooses() && !o.choosesExactly(n, d):
		return "gamma is chosen from a sketch"
	}
	return ""
}

// readFlops is how many flops are taken to last as long as to read a number.
const readFlops = 500

// iterative is which of CG and Galerkin costs less for so many systems (a γ and a target
// each), if CG makes a dozen passes, and how many flops for each number of A. Galerkin's
// blocks of vectors are taken to be full.
func iterative(d, m, systems int) (method string, flops float64) {
	const passes = 12
	sketch := readFlops + sketchFlops(float64(m), float64(max(m, 1)))
	if m == 0 {
		sketch = readFlops
	}
	cg := sketch + passes*(readFlops+productFlops*float64(systems))
	galerkin := sketch + productFlops*float64(m) + passes*galerkinShare*(readFlops+productFlops*krylov.BlockRows)
	if prefersGalerkin(galerkin, cg, d, m, systems) {
		return Galerkin.String(), galerkin
	}
	return CG.String(), cg
}
