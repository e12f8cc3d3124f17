package ridge

import (
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
)

// Rows that can be read once ([dataset.Once]) leave what one pass can do: a direct solution, or what
// follows from a sketch.

// chooseOnce is ChooseMethod for such rows: a direct solution where what it holds fits, in memory
// as ChooseMethod has it, and else "one-shot". What it costs is not asked: no passes are spared by it.
func chooseOnce(n int64, d, t int, opts *Options) (method, reason string) {
	const once = "the rows can be read once, and "
	if slices.Contains(opts.Gammas, 0) {
		return exactName, "gamma = 0 is least squares, which nothing else solves"
	}
	exactly := *opts
	if exactly.Method = exactName; opts.Folds != 0 || opts.Select == ByCV {
		return oneShotName, once + "gamma is chosen from sketches of the folds"
	}
	if why := exactly.needsSketch(n, d); why != "" {
		return oneShotName, once + why
	}
	k := opts.solved()
	if opts.chooses() {
		k = gridGCV
	}
	bytes, order, squared := float64(exactBytes(d, t, reduces(k))), d, "d²"
	if n >= 0 && byRows(exactName, n, d, opts.Gammas) { // the rows stay in memory
		bytes = 8*float64(n)*float64(d) + dualBytes(n, d, t, Dual, dualPlan{gammas: k, leverage: opts.Select == ByLOO})
		order, squared = int(n), "n²"
	}
	switch {
	case !exactFits(order):
		return oneShotName, fmt.Sprintf("%s%s for %s = %d takes more than %d MiB", once, squared, squared[:1], order, exactBudget>>20)
	case bytes > float64(opts.maxBytes()):
		return oneShotName, fmt.Sprintf("%sexact takes %.3g MiB, MaxBytes is %.3g", once, bytes/(1<<20), float64(opts.maxBytes())/(1<<20))
	}
	return exactName, once + squared + " numbers fit"
}

// checkOnce refuses, for rows of d features that can be read once, what reads them again: before
// any is read. The error is a *[dataset.OnceError].
func (o *Options) checkOnce(method string, n int64, d int) error {
	switch {
	case o.Error > 0 && o.Size == 0:
		return &dataset.OnceError{What: "a pilot that finds the size of the sketch"}
	case factors(method):
		if o.Select == ByLOO && !byRows(method, n, d, o.Gammas) {
			return &dataset.OnceError{What: "leave-one-out errors"}
		}
		return nil
	case o.Select == ByLOO:
		return &dataset.OnceError{What: "leave-one-out errors"}
	case method != oneShotName:
		return &dataset.OnceError{What: "method " + method}
	}
	return nil
}

// singularOnce is the error where a direct solution of rows that can be read once would go on by QR.
func singularOnce(e *SingularError) error {
	return &dataset.OnceError{What: fmt.Sprintf("QR, which solves what is numerically singular to %s at gamma = %v,", e.Method, e.Gamma)}
}

// onceStatus is the status of a direct solution that further passes might have corrected.
func onceStatus(s Status) Status {
	if s == RoundOff {
		return PassLimit
	}
	return s
}
