package job

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dist"
)

// agree refuses ranks that were not started alike: the program, the command, its settings.
func (r *Ranks) agree(ctx context.Context, c *Config) error {
	if r == nil {
		return nil
	}
	var names []string
	for _, s := range c.Settings {
		names = append(names, s.Name)
	}
	all := append([]Setting{{"the program", c.Program}, {"the command", c.Command}, {"what the command reads", strings.Join(names, " ")}}, c.Settings...)
	for _, s := range all {
		if err := dist.Agree(ctx, r, s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// AgreeOn refuses files of this rank that do not go with those of the others: of the first
// rank whose files name their columns, or of rank 0 where none do. It takes over their names.
func (r *Ranks) AgreeOn(ctx context.Context, opened *file.Opened) error {
	if r == nil {
		return nil
	}
	named := []float64{0}
	if opened.Names != nil {
		named[0] = 1
	}
	all, err := dist.Table(ctx, r, named)
	if err != nil {
		return err
	}
	root := max(0, slices.IndexFunc(all, func(row []float64) bool { return row[0] > 0 }))
	var text bytes.Buffer // gob's: names need not be UTF-8
	if err := gob.NewEncoder(&text).Encode(opened.Layout); err != nil {
		return err
	}
	b, err := r.Broadcast(ctx, root, text.Bytes())
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

// Standardize is dataset.Standardize for the rows of all ranks.
func (r *Ranks) Standardize(ctx context.Context, src dataset.Source) (*dataset.Scaling, error) {
	if r == nil {
		_, s, err := dataset.Standardize(ctx, src)
		return s, err
	}
	_, s, err := dataset.StandardizeShare(ctx, src, r.Share(), r.Allreduce)
	return s, err
}

// FirstRow is the number of the first row of this rank's share, from 0 among those of all. Rows that
// are not counted are counted by a pass.
func (r *Ranks) FirstRow(ctx context.Context, src dataset.Source) (int64, error) {
	if r == nil {
		return 0, nil
	}
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
	all, err := dist.Table(ctx, r, []float64{float64(n)})
	if err != nil {
		return 0, err
	}
	first := int64(0)
	for _, row := range all[:r.Rank()] {
		first += int64(row[0])
	}
	return first, nil
}

// Learn is that of an encoding, for the rows of all ranks.
func (r *Ranks) Learn(ctx context.Context, e *dataset.Encoding, src dataset.Source, o dataset.LearnOptions) (*dataset.Learnt, error) {
	if r != nil {
		o.Share, o.Link = r.Share(), r
	}
	return e.Learn(ctx, src, o)
}

// Widest returns a function that is given this rank's number of features and returns the
// largest of all ranks; nil for a process alone.
func (r *Ranks) Widest(ctx context.Context) func(int) (int, error) {
	if r == nil {
		return nil
	}
	return func(d int) (int, error) {
		all, err := dist.Table(ctx, r, []float64{float64(d)})
		for _, row := range all {
			d = max(d, int(row[0]))
		}
		return d, err
	}
}

// A Work is what a rank has done.
type Work struct {
	Rows           int64
	Seconds        float64
	Communicating  float64 // seconds of these, moving bytes and waiting for others
	Sent, Received int64   // bytes
}

// Account returns what each rank has done, nil of a process alone, and the nonzeros of all.
func (j *Job) Account(ctx context.Context, nonzeros int64) ([]Work, int64, error) {
	r := j.ranks
	if r == nil {
		return nil, nonzeros, nil
	}
	traffic := r.Traffic()
	all, err := dist.Table(ctx, r, []float64{float64(j.rows), time.Since(r.start).Seconds(), traffic.Time.Seconds(), float64(traffic.Sent()), float64(traffic.Received()), float64(nonzeros)})
	if err != nil {
		return nil, 0, err
	}
	var out []Work
	nonzeros = 0
	for _, v := range all {
		out = append(out, Work{int64(v[0]), v[1], v[2], int64(v[3]), int64(v[4])})
		nonzeros += int64(v[5])
	}
	return out, nonzeros, nil
}

// opened is called by all ranks when they have opened their checkpoints, or failed with err.
// Where any has failed it returns an error on each, and those that had not let go of their
// checkpoints before the one that has ends the job.
func (j *Job) opened(ctx context.Context, err error) error {
	r := j.ranks
	if r == nil {
		return err
	}
	failed := []float64{0}
	if err != nil {
		failed[0] = 1
	}
	if e := r.Allreduce(ctx, failed); e != nil {
		return j.End(errors.Join(err, e))
	}
	switch {
	case failed[0] == 0:
		return nil
	case err != nil:
		return errors.Join(err, r.Barrier(ctx))
	}
	err = j.End(errors.New("another rank could not open its checkpoint"))
	// The rank that failed comes to the first barrier and then ends the job, which the second
	// waits for.
	for range 2 {
		if e := r.Barrier(ctx); e != nil {
			return e
		}
	}
	return err
}
