package input

import (
	"errors"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/svmlight"
)

// stdinName is the name of standard input (--data -) in messages.
const stdinName = "standard input"

// Name returns the name of the data in messages.
func Name(data string) string {
	if data == "-" {
		return stdinName
	}
	return data
}

// ExplainOnce rewrites the error of a second pass over a pipe. The parameter advice tells the user what to do instead.
func ExplainOnce(err error, data, advice string) error {
	e, ok := errors.AsType[*dataset.OnceError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, svmlight.ErrWidth):
		return cli.BadInput(
			"--data: %s is svmlight and can be read only once: give the number of features by --n-features",
			Name(data),
		)
	case e.Err != nil:
		return cli.BadInput("--cache: %s can be read only once, and its rows cannot be kept: %w", Name(data), e.Err)
	}
	return cli.BadInput(
		"%s needs another pass over the rows, and %s can be read only once: %s",
		e.What,
		Name(data),
		advice,
	)
}

// WaysOfFit, WaysOfSketch and WaysOfLive are hints in error messages about rows that can be read only once. Each
// tells the user what to do instead: for a fit, for a sketch, or for a sketch of rows that do not end.
const (
	WaysOfFit    = "use --method one-shot, which needs one pass, or --cache DIR"
	WaysOfSketch = "use --cache DIR, or write the rows to a file"
	WaysOfLive   = "leave it out, or sketch rows that end"
)

// CheckPipe returns an error if a flag needs another pass over the rows of a pipe. needPass contains the names of
// such flags; empty names are ignored. These flags are allowed with --cache, because later passes read the cache.
// --cache-keep is always an error, because a later run cannot know whether the pipe has the same rows.
func (o *CacheFlags) CheckPipe(data string, needPass ...string) error {
	if o.keep {
		return cli.BadInput("--cache-keep: a later run cannot know whether %s has the same rows", data)
	}
	for _, flag := range needPass {
		if flag != "" && o.dir == "" {
			return cli.BadInput(
				"--%s: it needs another pass over the rows, and %s can be read only once: use --cache DIR",
				flag,
				data,
			)
		}
	}
	return nil
}
