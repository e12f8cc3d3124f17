package direct

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Gather sends the message own to all processes that share the rows. It returns the messages of all these
// processes, in the same order on every process.
type Gather func(ctx context.Context, own []byte) ([][]byte, error)

// tallState is the message of one process. It holds the triangular factor of its rows, and bounds and sums for
// these rows.
type tallState struct {
	Factor         []float64 // d×q, q = d + t
	Folds, Longest int
	Norms, Errors  []float64 // bounds on the norm and on the backward error of each column
	Share          float64   // as tall.share
	TSS            []twofold.Total
	Stage          rows.State
}

// JoinTall combines the rows of all processes, and returns a stream and a stage for all of them. The arguments s
// and stage are for the rows of this process. s must come from [NewTall]. All processes join the messages in the
// same order. Therefore they get the same bits.
func JoinTall(
	ctx context.Context,
	be engine.Backend,
	s *Stream,
	stage *rows.Stage,
	intercept bool,
	gather Gather,
) (*Stream, *rows.Stage, error) {
	if s.fill > 0 {
		s.f.fold(s.fill)
		s.fill = 0
	}
	own := s.f.(*tall)
	d, t := own.d, own.t
	q := d + t
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(tallState{
		Factor:  own.stack[:d*q],
		Folds:   own.folds,
		Longest: own.longest,
		Norms:   own.col,
		Errors:  own.off,
		Share:   own.share,
		TSS:     s.tss,
		Stage:   stage.State,
	})
	if err != nil {
		return nil, nil, err
	}
	messages, err := gather(ctx, text.Bytes())
	if err != nil {
		return nil, nil, err
	}
	all := NewStream(d, t, NewTall(be, d, t))
	joined := rows.NewStage(d, t, intercept)
	for _, message := range messages {
		var other tallState
		if err := gob.NewDecoder(bytes.NewReader(message)).Decode(&other); err != nil {
			return nil, nil, err
		}
		if len(other.Factor) != d*q ||
			len(other.Norms) != q ||
			len(other.TSS) != t ||
			len(other.Stage.Origin) != q {
			return nil, nil, fmt.Errorf("the factor of another process has %d numbers, not %d", len(other.Factor), d*q)
		}
		all.join(&other, joined, rows.ResumeStage(d, t, intercept, other.Stage))
	}
	return all, joined, nil
}

// join adds the rows of another process, whose stage is stage. It may add one more row, which accounts for the
// distance between the means of both processes, as in [rows.Stage].
func (s *Stream) join(other *tallState, joined, stage *rows.Stage) {
	if between := joined.Merge(stage); between.N > 0 {
		s.Append(between)
		s.f.fold(s.fill)
		s.fill = 0
	}
	for j, v := range other.TSS {
		s.tss[j].Merge(v)
	}
	s.f.(*tall).join(other)
}

// join adds the rows of another process to e, by eliminating the rows of the factor in other. Rows that the other
// process has discarded are orthogonal to its columns of A, and are not needed. The backward errors in other are
// added to the errors of e. docs/math.md §14 has the bound.
func (e *tall) join(other *tallState) {
	d := e.d
	q := e.d + e.t
	share, lost := 0.0, 0.0
	for lo := 0; lo < d; lo += roundoff.StageRows {
		m := min(roundoff.StageRows, d-lo)
		below := e.stack[d*q : (d+m)*q]
		copy(below, other.Factor[lo*q:])
		motion := e.by.fold(engine.View(d, q, e.stack), engine.View(m, q, below))
		share += roundoff.Unit * roundoff.QRFold(float64(d+roundoff.PanelColumns), float64(m), motion)
		lost += roundoff.LostFold(float64(q), float64(m))
		e.folds++
		e.longest = max(e.longest, m)
	}
	e.share += share + other.Share
	for j := range q {
		e.col[j] = math.Hypot(e.col[j], other.Norms[j]) * (1 + 8*roundoff.Unit)
		e.off[j] += other.Errors[j] + lost
		e.off[j] += share * (e.col[j] + e.off[j])
	}
	e.folds += other.Folds
	e.longest = max(e.longest, other.Longest)
}
