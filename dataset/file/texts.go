package file

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// Texts yields the cells of one column of the files as texts, in the order of the rows. The column is a name or a
// number counted from 1. Csv cells keep their text. In other formats, a missing cell is "", numbers are written in
// their shortest form, and a column has at most 2²⁰ different texts.
//
// Errors are as in [Open]. An error is yielded with an empty text and ends the sequence. Of opts, only the options
// of the files and of their text are used.
func Texts(ctx context.Context, paths []string, opts Options, column string) iter.Seq2[string, error] {
	opts.Target = nil
	opts.Targets = 0
	opts.Pairing = Pairing{}
	opts.Share = dataset.Share{}
	return func(yield func(string, error) bool) {
		for _, path := range paths {
			name, err := Format(path, opts)
			if err != nil {
				yield("", err)
				return
			}
			texts := textsOfLevels(ctx, path, opts, column)
			if formatByName(name).fields {
				texts = csv.Texts(path, csvOptions(opts), column)
			}
			for text, err := range texts {
				if !yield(text, err) || err != nil {
					return
				}
			}
		}
	}
}

// textsOfLevels yields the cells of one column as texts, for formats other than csv. It opens the column as
// categories. For each row it yields the name of the category, or "" if the cell is missing.
func textsOfLevels(
	ctx context.Context,
	path string,
	opts Options,
	column string,
) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		opts.Columns = []string{column}
		opts.Cells = &prepare.Cells{Missing: prepare.MissingDrop, OneHot: []string{column}}
		opened, err := Open([]string{path}, opts)
		if err != nil {
			yield("", err)
			return
		}
		for b, err := range opened.Blocks(ctx) {
			if err != nil {
				yield("", err)
				return
			}
			for _, code := range b.X {
				text := ""
				if code == code {
					text = opts.Cells.Lexicons[0].Label(code)
				}
				if !yield(text, nil) {
					return
				}
			}
		}
	}
}
