package batch_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

var foldOptions = fdridge.Options{
	Folds: 3, Candidates: []float64{1, 10, 100}, Method: ridge.CG, Size: 4, Tol: 1e-12,
}

// TestFoldsResume: a cross-validated fit that is interrupted while refining returns the bits of an uninterrupted fit.
func TestFoldsResume(t *testing.T) {
	src := rows(6000)
	want, err := fdridge.Fit(t.Context(), src, foldOptions)
	if err != nil {
		t.Fatal(err)
	}
	job := batch.Options{Checkpoint: filepath.Join(t.TempDir(), "ck"), Every: time.Nanosecond}
	resumed := false
	job.Notify = func(e batch.Event) { resumed = resumed || e.Kind == batch.Resumed }
	ctx, cancel := context.WithCancel(t.Context())
	stopped := foldOptions
	stopped.Progress = func(s fdridge.Stage, p ridge.Progress) {
		if s == fdridge.Refining && p.Pass >= 2 {
			cancel()
		}
	}
	_, err = batch.Fit(ctx, src, stopped, job)
	if _, ok := errors.AsType[*batch.InterruptedError](err); !ok {
		t.Fatal(err)
	}
	got, err := batch.Fit(t.Context(), src, foldOptions, job)
	if err != nil || !resumed {
		t.Fatalf("resumed %v, %v", resumed, err)
	}
	sameBits(t, got, want)
}

// TestFoldsOfRanks: all ranks choose the same γ and have the same solution.
func TestFoldsOfRanks(t *testing.T) {
	const size = 2
	all := rows(6000)
	found, errs, done := make([]*fdridge.Result, size), make([]error, size), make(chan int)
	for rank, link := range dist.Loopback(size) {
		go func() {
			defer func() { done <- rank }()
			src, err := dataset.Part(all, dataset.Share{Rank: rank, Size: size})
			if err != nil {
				errs[rank] = err
				return
			}
			found[rank], errs[rank] = batch.Fit(t.Context(), src, foldOptions, batch.Options{Transport: link})
		}()
	}
	for range size {
		<-done
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if a, b := found[0].Choice.Gamma(), found[1].Choice.Gamma(); a != b {
		t.Errorf("the ranks choose %v and %v", a, b)
	}
	if n := found[0].Summary.Rows(); n != 6000 {
		t.Errorf("the folds of all ranks have %d rows", n)
	}
	sameBits(t, found[1], found[0])
}

// TestKeptSummary: a fit with columns without penalty that keeps a summary makes a second sketch, of projected rows.
// The checkpoint has only the first sketch. Both fits have the bits of a fit without a job.
func TestKeptSummary(t *testing.T) {
	src := rows(500)
	opts := fdridge.Options{Gammas: []float64{1}, Method: ridge.CG, Size: 4, KeepSummary: true, Unpenalized: []int{1}}
	want, err := fdridge.Fit(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", filepath.Join(t.TempDir(), "ck")} {
		got, err := batch.Fit(t.Context(), src, opts, batch.Options{Checkpoint: name, Every: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		a, b := got.Solutions[0].Targets[0].Coef, want.Solutions[0].Targets[0].Coef
		if !slices.Equal(a, b) || got.Summary.Config().Dim != want.Summary.Config().Dim {
			t.Errorf("checkpoint %q: %v, want %v", name, a, b)
		}
	}
}
