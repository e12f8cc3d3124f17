package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// A link connects this process to the other ranks.
type link interface {
	dist.Transport
	// Finalize ends the job when all ranks have called it.
	Finalize() error
}

// A joiner makes the link.
type joiner struct {
	join func() (link, error)
	// grace is how long, at least, a rank that was interrupted stays when it is ready:
	// its end is the end of the others, which write their checkpoints too.
	grace time.Duration
	// about is what the library says of itself, nil where there is none.
	about func() string
}

// A team is the ranks of a fit, of which this process is one; nil is a process alone.
type team struct {
	link
	grace  time.Duration
	start  time.Time
	seen   int64 // rows of this rank
	source int   // the rank that had the union of the sketches from a checkpoint, -1: none
}

// leads tells that this rank reports.
func (t *team) leads() bool { return t == nil || t.Rank() == 0 }

// share is this rank's part of the rows.
func (t *team) share() dataset.Share {
	if t == nil {
		return dataset.Share{}
	}
	return dataset.Share{Rank: t.Rank(), Size: t.Size()}
}

// reducer adds up the passes, nil alone.
func (t *team) reducer() ridge.Reducer {
	if t == nil {
		return nil
	}
	return t
}

// together is run by one of several ranks.
func (o *fitOptions) together(ctx context.Context, j joiner, stdout, stderr io.Writer) error {
	l, err := j.join()
	if err != nil {
		return err
	}
	o.team = &team{link: l, grace: j.grace, start: time.Now(), source: -1}
	if !o.team.leads() {
		o.out, o.report, o.coef, o.save, o.runs.logFormat, stdout = "", "", "", "", "none", io.Discard
	}
	return o.team.end(about(o.data.value, o.run(ctx, stdout, stderr)), stderr)
}

// A toldError is one that another rank tells.
type toldError struct{ error }

// end leaves the job. An error that all ranks have is rank 0's to tell; any other ends
// the job on all of them.
func (t *team) end(err error, stderr io.Writer) error {
	var aborted *dist.AbortError
	var short *ridge.NotConvergedError
	var stopped *interruptedError
	switch {
	case err == nil:
		return t.Finalize()
	case errors.As(err, &aborted):
		return toldError{err}
	case errors.As(err, &short):
		if e := t.Finalize(); e != nil {
			return e
		}
		return t.tell(err)
	case errors.As(err, &stopped), errors.Is(err, context.Canceled):
		return t.interrupted(err, stderr)
	}
	t.Abort(errors.New(message(err)))
	return err
}

// tell has rank 0 tell an error that all have.
func (t *team) tell(err error) error {
	if t.leads() {
		return err
	}
	return toldError{err}
}

// interrupted has rank 0 say at once what it says, before the launcher runs out of
// patience, and any other when nobody has ended the job in the meantime: then it was
// interrupted alone.
func (t *team) interrupted(err error, stderr io.Writer) error {
	if t.leads() {
		fmt.Fprintln(stderr, "fdridge: "+message(err))
		time.Sleep(t.grace)
		return toldError{err}
	}
	time.Sleep(t.grace + t.grace/4)
	return &interruptedError{fmt.Sprintf("rank %d: %s", t.Rank(), message(err))}
}

// begun returns the error with which any rank has failed to open its checkpoint. The
// others let go of theirs before that one ends the job.
func (t *team) begun(ctx context.Context, k *keeper, err error) error {
	if t == nil {
		return err
	}
	failed := []float64{0}
	if err != nil {
		failed[0] = 1
	}
	if e := t.Allreduce(ctx, failed); e != nil {
		return k.end(errors.Join(err, e))
	}
	switch {
	case failed[0] == 0:
		return nil
	case err != nil:
		return errors.Join(err, t.Barrier(ctx))
	}
	err = k.end(errors.New("another rank could not open its checkpoint"))
	for range 2 { // the other one's end comes after the first
		if e := t.Barrier(ctx); e != nil {
			return e
		}
	}
	return err
}

// alone refuses to be one of several processes that a launcher of MPI has started and
// that would each fit all rows and write the same files.
func alone() error {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 1 {
			return badInput("this is one of %d processes of an MPI job (%s), each of which would fit all rows: say --mpi, or start one process", n, name)
		}
	}
	return nil
}

// agree sees to it that all ranks do the same with the same.
func (t *team) agree(ctx context.Context, command string, run []setting) error {
	if t == nil {
		return nil
	}
	var names []string
	for _, s := range run {
		names = append(names, s.Name)
	}
	all := append([]setting{{"the program", version()}, {"the command", command}, {"what the command reads", strings.Join(names, " ")}}, run...)
	for _, s := range all {
		if err := dist.Agree(ctx, t, s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// agreeOn sees to it that the files of this rank go with those of the first rank whose
// files have names, or of the first, and takes its names where its own have none.
func (t *team) agreeOn(ctx context.Context, opened *file.Opened) error {
	if t == nil {
		return nil
	}
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

// standardize is dataset.Standardize for the rows of all ranks.
func (t *team) standardize(ctx context.Context, src dataset.Source) (*dataset.Scaling, error) {
	if t == nil {
		_, s, err := dataset.Standardize(ctx, src)
		return s, err
	}
	_, s, err := dataset.StandardizeShare(ctx, src, t.share(), t.Allreduce)
	return s, err
}

// widest returns the most features that any rank has found.
func (t *team) widest(ctx context.Context) func(int) (int, error) {
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

// union returns the summary of the rows of all ranks, given this one's own, which it
// uses up: by merging, or as the checkpoint of one rank has it.
func (t *team) union(ctx context.Context, sum *ridge.Summary) (*ridge.Summary, error) {
	switch {
	case t == nil:
		return sum, nil
	case t.source < 0:
		return dist.Merge(ctx, t, sum)
	}
	var b []byte
	if t.Rank() == t.source {
		var err error
		if b, err = sum.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	b, err := t.Broadcast(ctx, t.source, b)
	if err != nil || t.Rank() == t.source {
		return sum, err
	}
	return ridge.ReadSummary(bytes.NewReader(b), sum.Config().Backend)
}

// catchUp gives the ranks what the checkpoint of any other has of the scaling and the
// size, and finds the first that has the union of the sketches. Saves are not made at
// the same moment; passes, which are made together, are agreed upon by the solver.
func (t *team) catchUp(ctx context.Context, k *keeper) error {
	if t == nil || k == nil {
		return nil
	}
	row := []float64{0, float64(k.kept.Size), 0}
	if k.kept.Scaling != nil {
		row[0] = 1
	}
	if k.kept.Sketched {
		row[2] = 1
	}
	all, err := dist.Table(ctx, t, row)
	if err != nil {
		return err
	}
	scaled := -1
	for rank := len(all) - 1; rank >= 0; rank-- {
		if all[rank][0] > 0 {
			scaled = rank
		}
		if m := int(all[rank][1]); m > 0 {
			k.kept.Size = m
		}
		if all[rank][2] > 0 {
			t.source = rank
		}
	}
	if scaled < 0 {
		return nil
	}
	text, err := json.Marshal(k.kept.Scaling)
	if err == nil {
		text, err = t.Broadcast(ctx, scaled, text)
	}
	if err == nil && k.kept.Scaling == nil {
		err = json.Unmarshal(text, &k.kept.Scaling)
	}
	return err
}

// A rankRecord is what the report says of a rank.
type rankRecord struct {
	Rank     int    `json:"rank"`
	Rows     int64  `json:"rows"`
	Seconds  number `json:"seconds"`
	Waiting  number `json:"communicating_seconds"` // moving bytes and waiting for others
	Share    number `json:"communicating_share"`   // of the seconds
	Sent     int64  `json:"bytes_sent"`
	Received int64  `json:"bytes_received"`
}

// account returns what each rank has done, and the nonzeros of all.
func (t *team) account(ctx context.Context, nnz int64) ([]rankRecord, int64, error) {
	if t == nil {
		return nil, nnz, nil
	}
	traffic := t.Traffic()
	all, err := dist.Table(ctx, t, []float64{float64(t.seen), time.Since(t.start).Seconds(), traffic.Time.Seconds(), float64(traffic.Sent()), float64(traffic.Received()), float64(nnz)})
	if err != nil {
		return nil, 0, err
	}
	var out []rankRecord
	nnz = 0
	for rank, v := range all {
		out = append(out, rankRecord{rank, int64(v[0]), number(v[1]), number(v[2]), number(v[2] / v[1]), int64(v[3]), int64(v[4])})
		nnz += int64(v[5])
	}
	return out, nnz, nil
}

// wait returns when all ranks are as far: none lets go of its checkpoint before the
// results are written.
func (t *team) wait(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.Barrier(ctx)
}

// rankName is the checkpoint of a rank.
func rankName(name string, rank, size int) string {
	return fmt.Sprintf("%s.rank%d-of-%d", name, rank, size)
}

var rankSuffix = regexp.MustCompile(`^\.rank\d+-of-(\d+)(\.previous)?$`)

// strangers refuses to begin where another number of ranks has left checkpoints, which
// would be of no use; ranks is 0 for a process alone.
func strangers(name string, ranks int) error {
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	own := fmt.Sprint(ranks)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base)
		if !ok {
			continue
		}
		if ranks > 0 && (rest == "" || rest == ".previous") {
			return badInput("--checkpoint: %s is of one process alone, this is a run of %d ranks; remove it to begin anew", filepath.Join(dir, e.Name()), ranks)
		}
		if m := rankSuffix.FindStringSubmatch(rest); m != nil && m[1] != own {
			return badInput("--checkpoint: %s is of a run of %s ranks, this one has %d; take as many, or remove it to begin anew", filepath.Join(dir, e.Name()), m[1], max(ranks, 1))
		}
	}
	return nil
}
