package disttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// A problem describes the rows of all ranks, from which the ranks compute one summary together.
type problem struct {
	trial           int
	dim, targets, m int
	intercept       bool
	weighted        bool
	rows            func(rank int) int
}

// problems include ranks without rows.
var problems = []problem{
	{trial: 100, dim: 6, targets: 1, m: 3, rows: func(int) int { return 9 }},
	{trial: 101, dim: 5, targets: 2, m: 5, intercept: true, rows: func(rank int) int { return 7 * (rank % 3) }},
	{
		trial:     102,
		dim:       7,
		targets:   1,
		m:         2,
		intercept: true,
		weighted:  true,
		rows:      func(rank int) int { return 20 - 20*(rank%2) },
	},
	{trial: 103, dim: 4, targets: 3, m: 4, weighted: true, rows: func(rank int) int { return 1 + rank*rank%11 }},
	{trial: 104, dim: 6, targets: 1, m: 3, rows: func(rank int) int {
		if rank > 0 {
			return 0
		}
		return 30
	}},
}

// share returns the rows, targets and sample weights that belong to a rank.
func (p problem) share(rank int) (x, y [][]float64, w []float64) {
	rnd := random(rank, p.trial)
	row := func(n int, shift float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rnd.NormFloat64() + shift
		}
		return v
	}
	for range p.rows(rank) {
		x, y = append(x, row(p.dim, 3)), append(y, row(p.targets, -1))
		if p.weighted {
			w = append(w, rnd.Float64())
		}
	}
	return x, y, w
}

// summary returns the summary of the rows that belong to a rank.
func (p problem) summary(rank int) (*ridge.Summary, error) {
	s, err := ridge.NewSummary(ridge.SummaryConfig{Dim: p.dim, Targets: p.targets, Size: p.m, Intercept: p.intercept})
	if err != nil {
		return nil, err
	}
	s.Meta = fmt.Append(nil, "rank ", rank)
	x, y, w := p.share(rank)
	if len(x) == 0 {
		return s, nil
	}
	return s, s.Append(
		mat.NewDense(len(x), p.dim, slices.Concat(x...)),
		mat.NewDense(len(y), p.targets, slices.Concat(y...)),
		w,
	)
}

// union merges the summaries of span ranks, beginning with firstRank, where span is a power of two. It omits ranks
// that are not less than size. Like [dist.Merge], union merges the second half of the ranks into the first half.
func (p problem) union(firstRank, span, size int) (*ridge.Summary, error) {
	if span == 1 {
		return p.summary(firstRank)
	}
	s, err := p.union(firstRank, span/2, size)
	if err != nil || firstRank+span/2 >= size {
		return s, err
	}
	o, err := p.union(firstRank+span/2, span/2, size)
	if err != nil {
		return nil, err
	}
	return s, s.Merge(o)
}

// treeSpan returns the smallest power of two ≥ size.
func treeSpan(size int) int { return 1 << bits.Len(uint(size-1)) }

// merge checks [dist.Merge]. Every rank must get the same bits as from merging all summaries in one process. It
// also checks the traffic and the certificates, which are error bounds of fits to the merged summary.
func merge(ctx context.Context, t *testing.T, r dist.Transport) error {
	for _, p := range problems {
		if err := p.merged(ctx, t, r); err != nil {
			return fmt.Errorf("problem %d: %w", p.trial, err)
		}
	}
	return nil
}

func (p problem) merged(ctx context.Context, t *testing.T, r dist.Transport) error {
	reference, err := p.union(0, treeSpan(r.Size()), r.Size())
	if err != nil {
		return err
	}
	want, err := reference.MarshalBinary()
	if err != nil {
		return err
	}
	sum, err := p.summary(r.Rank())
	if err != nil {
		return err
	}
	before := r.Traffic()
	sum, err = dist.Merge(ctx, r, sum)
	if err != nil {
		return err
	}
	model, err := p.mergeTraffic(r, int64(len(want)))
	if err == nil {
		err = checkTraffic(r, before, model)
	}
	if err != nil {
		return err
	}
	got, err := sum.MarshalBinary()
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("the union is not that of merges one by one")
	}
	if r.Rank() > 0 {
		return nil
	}
	return p.checkCertificates(t, r.Size(), sum)
}

// mergeTraffic returns the traffic that the documentation of [dist.Merge] promises, if the merged summary has n
// bytes.
func (p problem) mergeTraffic(r dist.Transport, n int64) (dist.Traffic, error) {
	rank, size := r.Rank(), r.Size()
	model := dist.Traffic{Broadcast: dist.Volume{Calls: 1}}
	part := func(first, span int) (int64, error) {
		s, err := p.union(first, span, size)
		if err != nil {
			return 0, err
		}
		return s.BinarySize(), nil
	}
	up := rank & -rank // number of ranks whose summaries this rank has merged when it sends
	switch {
	case rank > 0:
		bytes, err := part(rank, up)
		if err != nil {
			return model, err
		}
		model.Send = dist.Volume{Calls: 1, Sent: bytes}
		model.Broadcast.Received = n
	case size > 1:
		model.Broadcast.Sent = n
		up = size
	}
	for s := 1; s < up && rank+s < size; s *= 2 {
		bytes, err := part(rank+s, s)
		if err != nil {
			return model, err
		}
		model.Recv.Calls++
		model.Recv.Received += bytes
	}
	return model, nil
}

// checkCertificates fits models to the summary sum and checks their error bounds with reference solutions for all
// rows.
func (p problem) checkCertificates(t *testing.T, size int, sum *ridge.Summary) error {
	var x, y [][]float64
	var w []float64
	for rank := range size {
		xr, yr, wr := p.share(rank)
		x, y, w = append(x, xr...), append(y, yr...), append(w, wr...)
	}
	if sum.Rows() != int64(len(x)) {
		return fmt.Errorf("the union has %d rows, should have %d", sum.Rows(), len(x))
	}
	if len(x) == 0 {
		return nil
	}
	all := refbig.New(x, y, w, p.intercept)
	for _, gamma := range []float64{0.1, 10, 1000} {
		fit, err := sum.Fit(gamma)
		if err != nil {
			return err
		}
		testkit.Certificate(t, all, fit)
	}
	return nil
}

// mergeRefused checks that merging incompatible summaries returns an error that names both ranks. The ranks must be
// able to call Barrier afterwards.
func mergeRefused(ctx context.Context, _ *testing.T, r dist.Transport) error {
	if r.Size() < 2 || r.Rank() > 1 {
		return r.Barrier(ctx)
	}
	p := problems[0]
	p.dim += r.Rank()
	sum, err := p.summary(r.Rank())
	if err != nil {
		return err
	}
	if r.Rank() == 1 {
		b, err := sum.MarshalBinary()
		if err == nil {
			err = r.Send(ctx, 0, b)
		}
		if err != nil {
			return err
		}
		return r.Barrier(ctx)
	}
	_, err = dist.Merge(ctx, r, sum)
	if !errors.Is(err, ridge.ErrShape) ||
		!bytes.Contains([]byte(err.Error()), []byte("rank 1 into the summary of rank 0")) {
		return fmt.Errorf("merging %d and %d features: %w", p.dim, p.dim+1, err)
	}
	return r.Barrier(ctx)
}

// reducer checks that a transport computes correct sums when it is used as a [ridge.Reducer].
func reducer(ctx context.Context, _ *testing.T, r dist.Transport) error {
	var workers ridge.Reducer = r
	x := terms(r.Rank(), 50, 33)
	if err := workers.Allreduce(ctx, x); err != nil {
		return err
	}
	if err := isSum(x, 50, workers.Size()); err != nil {
		return err
	}
	one := []float64{1}
	if err := workers.Allreduce(ctx, one); err != nil {
		return err
	}
	if one[0] != float64(workers.Size()) {
		return fmt.Errorf("%d workers add up %v ones", workers.Size(), one[0])
	}
	return nil
}

// agree checks that [dist.Agree] returns the same error on every rank.
func agree(ctx context.Context, _ *testing.T, r dist.Transport) error {
	for _, v := range []string{"", "the same"} {
		if err := dist.Agree(ctx, r, "value", v); err != nil {
			return err
		}
	}
	if r.Size() == 1 {
		return nil
	}
	value := "zero"
	if r.Rank() == 1 || r.Rank() == r.Size()-1 {
		value = "five"
	}
	err := dist.Agree(ctx, r, "kernel", value)
	var e *dist.DisagreeError
	if !errors.As(err, &e) {
		return fmt.Errorf("disagreeing ranks: %w", err)
	}
	odd := []int{1, r.Size() - 1}
	if r.Size() == 2 {
		odd = odd[:1]
	}
	if e.What != "kernel" || e.Root != "zero" || e.Value != "five" || !slices.Equal(e.Ranks, odd) {
		return fmt.Errorf("ranks %v differ, the error is %+v", odd, e)
	}
	return r.Barrier(ctx)
}

// table checks that [dist.Table] returns the rows of all ranks, including infinite and NaN elements.
func table(ctx context.Context, _ *testing.T, r dist.Transport) error {
	row := func(rank int) []float64 {
		return []float64{float64(rank) + 0.1, math.Inf(-1), -1e-300, math.NaN(), math.MaxFloat64}
	}
	rows, err := dist.Table(ctx, r, row(r.Rank()))
	if err != nil {
		return err
	}
	if len(rows) != r.Size() {
		return fmt.Errorf("%d rows of %d ranks", len(rows), r.Size())
	}
	for rank, got := range rows {
		if !slices.EqualFunc(got, row(rank), func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			return fmt.Errorf("row %d is %v, should be %v", rank, got, row(rank))
		}
	}
	rows, err = dist.Table(ctx, r, nil)
	if err == nil && len(rows) != r.Size() {
		err = fmt.Errorf("%d empty rows of %d ranks", len(rows), r.Size())
	}
	return err
}
