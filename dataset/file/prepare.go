package file

import (
	"context"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// Prepare opens files that have texts, dates and missing values. It reads all rows once and decides by look.Rules
// how to encode each column. Then it opens the files again, with this encoding. The columns in opts.Cells.OneHot
// are categorical. Prepare sets look.Names and look.Cells itself.
//
// Pass the returned encoding to model.Preparation.Encode. To prepare the rows, call ApplyEncoded with the Cells of
// the returned Opened. For a pipe the error is a *[dataset.OnceError], because a pipe can be read only once.
func Prepare(
	ctx context.Context,
	paths []string,
	opts Options,
	look prepare.LookOptions,
) (*Opened, *prepare.Encoding, error) {
	if opts.Pipe != nil {
		return nil, nil, &dataset.OnceError{What: "a look at all columns"}
	}
	if opts.Heads == nil {
		opts.Heads = new(Heads)
	}
	first := opts
	first.Cells = &prepare.Cells{Look: true}
	if opts.Cells != nil {
		first.Cells.OneHot = opts.Cells.OneHot
	}
	rows, err := Open(paths, first)
	if err != nil {
		return nil, nil, err
	}
	look.Names, look.Cells = rows.Names, rows.Cells
	e, _, err := prepare.Look(ctx, rows, look)
	if err != nil {
		return nil, nil, err
	}
	if e.Names != nil {
		opts.Columns = e.Names
	}
	opts.Cells = e.Cells()
	out, err := Open(paths, opts)
	return out, e, err
}
