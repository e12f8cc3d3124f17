package job

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// catchUp gives this rank what the checkpoint of any other has of the scaling and the size,
// and finds the first that has the union of the sketches: ranks do not save at the same
// moment. Of the passes, which they make together, the solver sees to it that all have them.
func (j *Job) catchUp(ctx context.Context) error {
	if j.ranks == nil || j.checkpoint == nil {
		return nil
	}
	own := &j.checkpoint.header
	row := []float64{0, float64(own.Size), 0}
	if own.Scaling != nil {
		row[0] = 1
	}
	if own.Sketched {
		row[2] = 1
	}
	all, err := dist.Table(ctx, j.ranks, row)
	if err != nil {
		return err
	}
	scaled := -1
	for rank := len(all) - 1; rank >= 0; rank-- {
		if all[rank][0] > 0 {
			scaled = rank
		}
		if m := int(all[rank][1]); m > 0 {
			own.Size = m
		}
		if all[rank][2] > 0 {
			j.merged = rank
		}
	}
	if scaled < 0 {
		return nil
	}
	text, err := json.Marshal(own.Scaling)
	if err == nil {
		text, err = j.ranks.Broadcast(ctx, scaled, text)
	}
	if err == nil && own.Scaling == nil {
		err = json.Unmarshal(text, &own.Scaling)
	}
	return err
}

// union returns the summary of the rows of all ranks, given this one's own, which it uses up:
// by merging, or as the checkpoint of one rank has it.
func (j *Job) union(ctx context.Context, sum *ridge.Summary) (*ridge.Summary, error) {
	r := j.ranks
	switch {
	case r == nil:
		return sum, nil
	case j.merged < 0:
		return dist.Merge(ctx, r, sum)
	}
	var b []byte
	if r.Rank() == j.merged {
		var err error
		if b, err = sum.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	b, err := r.Broadcast(ctx, j.merged, b)
	if err != nil || r.Rank() == j.merged {
		return sum, err
	}
	return ridge.ReadSummary(bytes.NewReader(b), sum.Config().Backend)
}
