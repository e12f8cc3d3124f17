package batch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

var options = fdridge.Options{Gammas: []float64{1}, Method: ridge.CG, Size: 4, Tol: 1e-12}

// stopAt returns a context and options that end it in a stage, after so many rows of a pass.
func stopAt(t *testing.T, stage fdridge.Stage, pass int, rows int64) (context.Context, fdridge.Options) {
	ctx, cancel := context.WithCancel(t.Context())
	opts := options
	opts.Progress = func(s fdridge.Stage, p ridge.Progress) {
		if s == stage && p.Pass >= pass && p.Rows >= rows {
			cancel()
		}
	}
	return ctx, opts
}

func sameBits(t *testing.T, got, want *fdridge.Result) {
	t.Helper()
	a, b := got.Best().Targets[0], want.Best().Targets[0]
	if !slices.Equal(a.Coef, b.Coef) || a.Intercept != b.Intercept || a.RelativeErrorBound != b.RelativeErrorBound {
		t.Errorf("other bits: %v, %v", a, b)
	}
}

// TestResumedFitHasSameBits: a fit that is interrupted several times, while sketching and while refining, returns the
// bits of an uninterrupted fit. Each run resumes no earlier than the last reported position. A fit that stopped at
// Options.MaxPasses can be resumed, too.
func TestResumedFitHasSameBits(t *testing.T) {
	src := rows(20000)
	want, err := fdridge.Fit(t.Context(), src, options)
	if err != nil {
		t.Fatal(err)
	}
	var last batch.Position
	resumed, again := 0, false
	job := batch.Options{
		Checkpoint: filepath.Join(t.TempDir(), "ck"),
		Every:      time.Nanosecond,
		Notify: func(e batch.Event) {
			if e.Err != nil || e.At.Pass < last.Pass || e.At.Pass == last.Pass && e.At.Rows < last.Rows && !again {
				t.Errorf("%v after %v", e, last)
			}
			if e.Kind == batch.Resumed {
				resumed++
			}
			last = e.At
		},
	}
	stops := []struct {
		stage fdridge.Stage
		pass  int
		rows  int64
	}{{fdridge.Sketching, 1, 1}, {fdridge.Sketching, 1, 9000}, {fdridge.Refining, 1, 1}, {fdridge.Refining, 3, 5000}}
	for _, at := range stops {
		ctx, opts := stopAt(t, at.stage, at.pass, at.rows)
		_, err := batch.Fit(ctx, src, opts, job)
		stop, ok := errors.AsType[*batch.InterruptedError](err)
		if !ok || stop.Unsaved != nil || stop.At != last || !errors.Is(err, context.Canceled) ||
			errors.Is(err, engine.ErrInput) {
			t.Fatalf("%+v: %v", at, err)
		}
	}
	few := options
	few.MaxPasses = 5
	found, err := batch.Fit(t.Context(), src, few, job)
	if _, short := errors.AsType[*ridge.NotConvergedError](err); !short || found == nil {
		t.Fatalf("%v, %v", found, err)
	}
	again = true // the fifth pass, its last, has measured what it found, and is made again
	got, err := batch.Fit(t.Context(), src, options, job)
	if err != nil || resumed != len(stops)+1 {
		t.Fatalf("went on %d times: %v", resumed, err)
	}
	sameBits(t, got, want)
	if left, err := filepath.Glob(job.Checkpoint + "*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestOtherOptionsAreRefused: the checkpoint of a job with other options or settings is refused and stays as it was.
// Tol and MaxPasses may be others.
func TestOtherOptionsAreRefused(t *testing.T) {
	src := rows(20000)
	job := batch.Options{Checkpoint: filepath.Join(t.TempDir(), "ck"), Settings: []batch.Setting{{"rows", "1"}}}
	ctx, opts := stopAt(t, fdridge.Refining, 2, 1)
	if _, err := batch.Fit(ctx, src, opts, job); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	was, err := os.ReadFile(job.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	other, others := options, job
	other.Gammas = []float64{2}
	others.Settings = []batch.Setting{{"rows", "2"}}
	for want, refused := range map[string]func() error{
		`Options.Gammas was "[1]", is "[2]"`: func() error { _, err := batch.Fit(t.Context(), src, other, job); return err },
		`rows was "1", is "2"`: func() error {
			_, err := batch.Fit(t.Context(), src, options, others)
			return err
		},
	} {
		err := refused()
		_, ok := errors.AsType[*batch.CheckpointError](err)
		if !ok || !errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if is, err := os.ReadFile(job.Checkpoint); err != nil || string(is) != string(was) {
			t.Errorf("the checkpoint is another: %v", err)
		}
	}
	free := options
	free.Tol, free.MaxPasses = 1e-6, 100
	if _, err := batch.Fit(t.Context(), src, free, job); err != nil {
		t.Error(err)
	}
}

// TestNothing: a job that fails before there is something to go on from leaves no checkpoint.
func TestNothing(t *testing.T) {
	wrong := options
	wrong.Method = ridge.Method(99)
	hostile, err := dataset.FromDense(1, 1, 1, []float64{1e308}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	for what, fit := range map[string]func(batch.Options) error{
		"no such method": func(o batch.Options) error { _, err := batch.Fit(t.Context(), rows(10), wrong, o); return err },
		"no source":      func(o batch.Options) error { _, err := batch.Fit(t.Context(), nil, options, o); return err },
		"rows":           func(o batch.Options) error { _, err := batch.Fit(t.Context(), hostile, options, o); return err },
		"interrupted": func(o batch.Options) error {
			return batch.Run(t.Context(), o, func(*batch.Job) error { return context.Canceled })
		},
		"negative": func(o batch.Options) error {
			o.Every = -1
			_, err := batch.Fit(t.Context(), rows(10), options, o)
			return err
		},
		"a journal": func(o batch.Options) error {
			taken := options
			taken.Summarize = func(context.Context, dataset.Source, ridge.SummaryConfig, func(int64)) (*ridge.Summary, error) {
				return nil, nil
			}
			_, err := batch.Fit(t.Context(), rows(10), taken, o)
			return err
		},
	} {
		name := filepath.Join(t.TempDir(), "ck")
		err := fit(batch.Options{Checkpoint: name})
		if err == nil || what != "interrupted" && !errors.Is(err, engine.ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
		if left, _ := filepath.Glob(name + "*"); len(left) > 0 {
			t.Errorf("%s: left %v", what, left)
		}
	}
}

// TestRanks: interrupted ranks resume and return the bits of uninterrupted ranks. If one rank fails, the job ends on
// all ranks. If the ranks have different settings, all ranks get the same error.
func TestRanks(t *testing.T) {
	const size = 3
	all := rows(6000)
	fits := func(
		o batch.Options, fit func(rank int, src dataset.Source, o batch.Options) (*fdridge.Result, error),
	) ([]*fdridge.Result, []error) {
		found, errs, done := make([]*fdridge.Result, size), make([]error, size), make(chan int)
		for rank, link := range dist.Loopback(size) {
			go func() {
				src, err := dataset.Part(all, dataset.Share{Rank: rank, Size: size})
				if err != nil {
					t.Error(err)
				}
				own := o
				own.Transport = link
				found[rank], errs[rank] = fit(rank, src, own)
				done <- rank
			}()
		}
		for range size {
			<-done
		}
		return found, errs
	}
	plain := func(rank int, src dataset.Source, o batch.Options) (*fdridge.Result, error) {
		return batch.Fit(t.Context(), src, options, o)
	}
	want, errs := fits(batch.Options{}, plain)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	job := batch.Options{Checkpoint: filepath.Join(t.TempDir(), "ck"), Every: time.Nanosecond}
	ctx, opts := stopAt(t, fdridge.Refining, 2, 1)
	_, errs = fits(job, func(rank int, src dataset.Source, o batch.Options) (*fdridge.Result, error) {
		return batch.Fit(ctx, src, opts, o)
	})
	for rank, err := range errs {
		stop, ok := errors.AsType[*batch.InterruptedError](err)
		if !ok || !strings.HasSuffix(stop.Checkpoint, ".rank"+string(rune('0'+rank))+"-of-3") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	got, errs := fits(job, plain)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for rank := range size {
		sameBits(t, got[rank], want[0])
	}
	_, errs = fits(job, func(rank int, src dataset.Source, o batch.Options) (*fdridge.Result, error) {
		return nil, batch.Run(t.Context(), o, func(j *batch.Job) error {
			if rank == 1 {
				return errors.New("no rows")
			}
			_, err := j.Fit(t.Context(), src, options)
			return err
		})
	})
	for _, rank := range []int{0, 2} {
		if e, ok := errors.AsType[*dist.AbortError](errs[rank]); !ok || e.Rank != 1 || e.Err.Error() != "no rows" {
			t.Errorf("rank %d: %v", rank, errs[rank])
		}
	}
	_, errs = fits(batch.Options{}, func(rank int, src dataset.Source, o batch.Options) (*fdridge.Result, error) {
		own := options
		own.Gammas = []float64{float64(1 + rank)}
		return batch.Fit(t.Context(), src, own, o)
	})
	for rank, err := range errs {
		if e, ok := errors.AsType[*dist.DisagreeError](err); !ok || e.What != "Options.Gammas" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
