package table

import (
	"bytes"
	"context"
	"encoding/gob"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dist"
)

// agreeOnLayout returns an error if the processes (ranks) of a job have read files with different columns. If only
// some of the files have column names, all ranks take the names from the first rank that has names.
func agreeOnLayout(ctx context.Context, t dist.Transport, opened *file.Opened) error {
	named := []float64{0}
	if opened.Names != nil {
		named[0] = 1
	}
	all, err := dist.Table(ctx, t, named)
	if err != nil {
		return err
	}
	root := max(0, slices.IndexFunc(all, func(row []float64) bool { return row[0] > 0 }))
	var text bytes.Buffer // in gob, because names need not be UTF-8
	if err := gob.NewEncoder(&text).Encode(opened.Layout); err != nil {
		return err
	}
	b, err := t.Broadcast(ctx, root, text.Bytes())
	if err != nil {
		return err
	}
	var first file.Layout
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&first); err != nil {
		return err
	}
	if err := opened.Agrees(first); err != nil {
		return err
	}
	opened.Names, opened.TargetNames = first.Names, first.TargetNames
	return nil
}

// firstRow returns the index of the first row of this rank. The index is the total number of rows on all lower
// ranks. If src does not know its number of rows, a pass counts them.
func firstRow(ctx context.Context, t dist.Transport, src dataset.Source) (int64, error) {
	n, err := dataset.CountRows(ctx, src)
	if err != nil {
		return 0, err
	}
	return rowsBefore(ctx, t, n)
}

// firstRowOf returns a function that computes the index of the first row of this rank among the rows of all ranks.
// Its argument is the number of rows on this rank. firstRowOf returns nil for a single process.
func firstRowOf(ctx context.Context, t dist.Transport) func(int64) (int64, error) {
	if t == nil {
		return nil
	}
	return func(rows int64) (int64, error) { return rowsBefore(ctx, t, rows) }
}

func rowsBefore(ctx context.Context, t dist.Transport, n int64) (int64, error) {
	all, err := dist.Table(ctx, t, []float64{float64(n)})
	if err != nil {
		return 0, err
	}
	first := int64(0)
	for _, row := range all[:t.Rank()] {
		first += int64(row[0])
	}
	return first, nil
}

// widest returns a function that computes the largest number of features on any rank from the number on this rank.
// widest returns nil for a single process.
func widest(ctx context.Context, t dist.Transport) func(int) (int, error) {
	if t == nil {
		return nil
	}
	return func(d int) (int, error) {
		all, err := dist.Table(ctx, t, []float64{float64(d)})
		for _, row := range all {
			d = max(d, int(row[0]))
		}
		return d, err
	}
}
