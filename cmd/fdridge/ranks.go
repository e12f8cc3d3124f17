package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// A link connects this process to the other ranks of fit --mpi.
type link interface {
	dist.Transport
	// Finalize ends the job when all ranks have called it.
	Finalize() error
}

// A joiner makes the link.
type joiner struct {
	join func() (link, error)
	// grace is how long a rank that was interrupted stays after it is ready. When a rank ends, the
	// launcher ends the others, which may still write their checkpoints.
	grace time.Duration
	// about describes the library; nil: there is none.
	about func() string
}

// A rank is this process as one of several. It aborts with one line.
type rank struct{ link }

func (r rank) Abort(err error) { r.link.Abort(errors.New(message(err))) }

// A toldError is an error that another rank reports.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

// leave leaves the job with the error that this rank ended in, and returns the error to report. Rank 0
// reports an error that all ranks have. Any other ends the job on all ranks.
func leave(r rank, err error, grace time.Duration, stderr io.Writer) error {
	_, aborted := errors.AsType[*dist.AbortError](err)
	_, short := errors.AsType[*ridge.NotConvergedError](err)
	switch {
	case aborted:
		return toldError{err}
	case err == nil || short:
		if e := r.Finalize(); e != nil || err == nil || r.Rank() == 0 {
			return firstError(e, err)
		}
		return toldError{err}
	case errors.Is(err, context.Canceled) && r.Rank() == 0: // told at once, before the launcher loses patience
		fmt.Fprintln(stderr, "fdridge: "+message(err))
		time.Sleep(grace)
		return toldError{err}
	case errors.Is(err, context.Canceled): // a rank that is still there was interrupted alone
		time.Sleep(grace + grace/4)
		return fmt.Errorf("rank %d: %s", r.Rank(), message(err))
	}
	r.Abort(err)
	return err
}

// agreeOn refuses files of this rank that do not go with the files of the others: of the first
// rank whose files name their columns, or else of rank 0. It takes over their names.
func agreeOn(ctx context.Context, t dist.Transport, opened *file.Opened) error {
	named := []float64{0}
	if opened.Names != nil {
		named[0] = 1
	}
	all, err := dist.Table(ctx, t, named)
	if err != nil {
		return err
	}
	root := max(0, slices.IndexFunc(all, func(row []float64) bool { return row[0] > 0 }))
	var text bytes.Buffer // gob's: names need not be UTF-8
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

// firstRow returns the number of the first row of this rank's share, from 0 among the rows of all
// ranks. Rows that are not counted are counted by a pass.
func firstRow(ctx context.Context, t dist.Transport, src dataset.Source) (int64, error) {
	n, _, _ := src.Dims()
	if n < 0 {
		n = 0
		for b, err := range src.Blocks(ctx) {
			if err != nil {
				return 0, err
			}
			n += int64(b.N)
		}
	}
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

// widest returns a function that takes this rank's number of features and returns the largest of all
// ranks; nil for a process alone.
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
