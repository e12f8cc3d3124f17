package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// begin checks that all ranks have the same settings, and opens the checkpoint of this rank.
func (j *Job) begin(ctx context.Context) error {
	t := j.opts.Transport
	if t != nil {
		if err := agree(ctx, t, j.opts.Settings); err != nil {
			return err
		}
	}
	if j.opts.Checkpoint == "" {
		return nil
	}
	err := j.open()
	if t == nil {
		return err
	}
	if err := j.allOpened(ctx, err); err != nil {
		return err
	}
	if err := j.catchUp(ctx); err != nil {
		return j.end(err)
	}
	return nil
}

// agree returns a *[dist.DisagreeError] unless all ranks have the same settings.
func agree(ctx context.Context, t dist.Transport, settings []Setting) error {
	var names []string
	for _, s := range settings {
		names = append(names, s.Name)
	}
	for _, s := range slices.Concat([]Setting{{"the list of settings", strings.Join(names, " ")}}, settings) {
		if err := dist.Agree(ctx, t, s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// allOpened returns an error on every rank if at least one rank failed to open its checkpoint:
//
//  1. The ranks without an error remove or close their checkpoints.
//  2. All ranks wait for each other at a barrier.
//  3. A rank that failed returns and ends the job. The other ranks wait at a second barrier until the job ends.
func (j *Job) allOpened(ctx context.Context, err error) error {
	t := j.opts.Transport
	failed := []float64{flag(err != nil)}
	if e := t.Allreduce(ctx, failed); e != nil {
		return j.end(errors.Join(err, e))
	}
	if failed[0] == 0 {
		return nil
	}
	barriers := 1
	if err == nil { // a failed rank ends the job while this rank waits at the second barrier
		barriers = 2
		err = j.end(errors.New("another rank could not open its checkpoint"))
	}
	for range barriers {
		err = errors.Join(err, t.Barrier(ctx))
	}
	return err
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// catchUp gets the scaling of the columns from the first rank whose checkpoint contains it. It also finds the first
// rank whose checkpoint contains the merged sketch.
func (j *Job) catchUp(ctx context.Context) error {
	own := &j.header
	all, err := dist.Table(ctx, j.opts.Transport, []float64{flag(own.Scaling != nil), flag(own.Sketched)})
	if err != nil {
		return err
	}
	scaled := slices.IndexFunc(all, func(row []float64) bool { return row[0] > 0 })
	j.merged = slices.IndexFunc(all, func(row []float64) bool { return row[1] > 0 })
	if scaled < 0 {
		return nil
	}
	text, err := json.Marshal(own.Scaling)
	if err == nil {
		text, err = j.opts.Transport.Broadcast(ctx, scaled, text)
	}
	if err == nil && own.Scaling == nil {
		err = json.Unmarshal(text, &own.Scaling)
	}
	return err
}

// mergeAll returns the summary of the rows of all ranks, on every rank. If the checkpoint of a rank contains this
// summary, the rank broadcasts it. Otherwise the summaries of all ranks are merged.
func (j *Job) mergeAll(ctx context.Context, sum *ridge.Summary) (*ridge.Summary, error) {
	t := j.opts.Transport
	switch {
	case t == nil:
		return sum, nil
	case j.merged < 0:
		return dist.Merge(ctx, t, sum)
	}
	var b []byte
	if t.Rank() == j.merged {
		var err error
		b, err = sum.MarshalBinary()
		if err != nil {
			return nil, err
		}
	}
	b, err := t.Broadcast(ctx, j.merged, b)
	if err != nil || t.Rank() == j.merged {
		return sum, err
	}
	return ridge.ReadSummary(bytes.NewReader(b), sum.Config().Backend)
}

// A Work holds statistics about the work of one process (rank) of a job.
type Work struct {
	Rows           int64
	Nonzeros       int64   // nonzero features, if counted by [Job.Count]
	Seconds        float64 // duration of the job
	Communicating  float64 // seconds spent moving bytes and waiting for other ranks
	Sent, Received int64   // bytes moved by the Transport
}

// Work returns the statistics of all ranks so far. Every rank gets the same result, and all ranks must call Work.
// The result is nil for a job of a single process, without a Transport.
func (j *Job) Work(ctx context.Context) ([]Work, error) {
	t := j.opts.Transport
	if t == nil {
		return nil, nil
	}
	var nonzeros int64
	if j.count != nil {
		nonzeros = j.count.Nonzeros()
	}
	traffic := t.Traffic()
	all, err := dist.Table(
		ctx,
		t,
		[]float64{
			float64(j.header.Rows),
			float64(nonzeros),
			time.Since(j.start).Seconds(),
			(traffic.Time - j.before).Seconds(),
			float64(traffic.Sent()),
			float64(traffic.Received()),
		},
	)
	var out []Work
	for _, v := range all {
		out = append(out, Work{
			Rows:          int64(v[0]),
			Nonzeros:      int64(v[1]),
			Seconds:       v[2],
			Communicating: v[3],
			Sent:          int64(v[4]),
			Received:      int64(v[5]),
		})
	}
	return out, err
}
