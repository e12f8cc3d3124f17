package errtext

import (
	"slices"
	"strings"
)

// packages lists the names of Go packages with which the messages of errors begin. They are packages of this module
// and of the standard library.
var packages = []string{
	"arrow", "batch", "cblas", "chart", "checkpoint", "choose", "classes", "columns", "csv", "dataset", "dist", "dual",
	"engine", "fd", "fdridge", "file", "json", "jsonl", "live", "model", "mpi", "npy", "numpy", "paper", "parquet",
	"plan", "prepare", "purego", "randsketch", "reason", "report", "ridge", "svmlight", "synthetic", "window", "wire",
	"zip",
}

// Error returns the message of err without the names of Go packages. It removes a name only at the beginning of the
// message of err, or of an error that err wraps. A name at another place may come from the user's data.
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

// eachError calls visit for err and for all errors that err wraps. An outer error comes before the errors it wraps.
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
