package file

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// Texts returns the cells of one column of the files as texts, in the order of the rows. A missing cell is "", except
// in csv, where the text is kept. The column is a name, or a number from 1. Outside csv, numbers are written in their
// shortest form, and a column has at most 2²⁰ different texts. Errors are as in [Open]; an error comes with an empty
// text and ends the sequence. Of opts, only the options of the files and of their text are used.
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

// textsOfLevels reads the column as a category, whose levels are the texts.
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
