package printable

import (
	"slices"
	"strings"
)

// packages are the names of Go packages that begin the texts of errors: of this module, and of the standard library.
var packages = []string{
	"arrow", "batch", "cblas", "chart", "checkpoint", "choose", "classes", "columns", "csv", "dataset", "dist", "dual",
	"engine", "fd", "fdridge", "file", "json", "jsonl", "live", "model", "mpi", "npy", "numpy", "paper", "parquet",
	"plan", "prepare", "purego", "randsketch", "reason", "report", "ridge", "svmlight", "synthetic", "window", "wire",
	"zip",
}

// Error returns the text of err without the names of Go packages at the beginnings of the texts of err and of the
// errors that it wraps. Other places of the text stay, because they may quote the user's data.
func Error(err error) string {
	text := err.Error()
	eachError(err, func(e error) {
		whole := e.Error()
		if name, rest, found := strings.Cut(whole, ": "); found && slices.Contains(packages, name) {
			text = strings.Replace(text, whole, rest, 1)
		}
	})
	return text
}

// eachError calls visit for err and all errors that it wraps, outer errors first.
func eachError(err error, visit func(error)) {
	if err == nil {
		return
	}
	visit(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		eachError(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			eachError(one, visit)
		}
	}
}
