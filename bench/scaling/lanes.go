package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/ridge"
)

// A laneRate is that of one lane fed by one thread, without waiting for a shrink and with one.
type laneRate struct {
	D      float64 `json:"d"`
	M      float64 `json:"m"`
	Row    float64 `json:"row_seconds"`
	Shrink float64 `json:"shrink_seconds"`
	Merge  float64 `json:"merge_seconds"`
	Two    float64 `json:"two_lanes_on_two_threads_rows_per_second"`
}

// blockBytes are those of rows that a source hands on at a time; for so many cores another
// goroutine of dataset/npy reads.
const (
	blockBytes = 8 << 20
	coresFed   = 8
)

// blocks measures what lanes are made of.
func (m *meter) blocks(ctx context.Context) error {
	const many = 64
	m.c.Start = m.clock(func() {
		var all sync.WaitGroup
		for range many {
			all.Go(func() {})
		}
		all.Wait()
	}) / many
	for _, s := range m.shapes {
		rate, err := m.lane(s)
		if err != nil {
			return err
		}
		if rate.Two, err = m.twoLanes(s); err != nil {
			return err
		}
		m.c.Lanes = append(m.c.Lanes, rate)
	}
	report, err := engine.NewReport()
	if err != nil {
		return err
	}
	m.c.LanesCPU = report.CPU
	return m.npy(ctx)
}

// lanesAlone measures what lanes are made of, for constants that lack it.
func lanesAlone(ctx context.Context, p pace, c *constants) ([]laneRate, error) {
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	err = (&meter{pace: p, be: be, c: c}).blocks(ctx)
	return c.Lanes, err
}

// grown is a summary in so many lanes that has had rows, and a way to give it more.
func (m *meter) grown(s shape, lanes, rows int) (sum *ridge.Summary, grow func(rows int) error, err error) {
	sum, err = ridge.NewSummary(ridge.SummaryConfig{Dim: s.d, Size: s.m, Backend: m.be, Store: fd.StoreRows, Lanes: lanes})
	if err != nil {
		return nil, nil, err
	}
	n, x, y := cycle(s.d)
	block := min(n, max(blockBytes/8/s.d, 1))
	at := 0
	grow = func(rows int) error {
		for done := 0; done < rows; {
			k := min(block, rows-done, n-at)
			if err := sum.AppendBlock(dataset.Block{N: k, X: x[at*s.d : (at+k)*s.d], Y: y[at : at+k]}); err != nil {
				return err
			}
			done, at = done+k, (at+k)%n
		}
		return nil
	}
	return sum, grow, grow(rows)
}

// lane measures one lane on one thread: the row that finds the buffer full waits for a shrink.
func (m *meter) lane(s shape) (laneRate, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rate := laneRate{D: float64(s.d), M: float64(s.m), Row: math.Inf(1), Shrink: math.Inf(1)}
	p := int(shrinkRows(rate.M))
	sum, grow, err := m.grown(s, 1, s.m+p)
	if err != nil {
		return rate, err
	}
	for start, rounds := time.Now(), 0; rounds < 3 || time.Since(start) < m.each; rounds++ {
		began := time.Now()
		if err := grow(1); err != nil {
			return rate, err
		}
		shrunk := time.Now()
		if err := grow(p - 1); err != nil {
			return rate, err
		}
		rate.Row = min(rate.Row, time.Since(shrunk).Seconds()/float64(p-1))
		rate.Shrink = min(rate.Shrink, shrunk.Sub(began).Seconds())
	}
	other, _, err := m.grown(s, 1, s.m+p+p/2)
	if err != nil {
		return rate, err
	}
	rate.Merge = m.clock(func() { err = errors.Join(err, sum.Merge(other)) })
	return rate, err
}

// twoLanes are the rows a second of two lanes on two threads.
func (m *meter) twoLanes(s shape) (float64, error) {
	_, grow, err := m.grown(s, 2, 4*s.m)
	if err != nil {
		return 0, err
	}
	rows := 4 * int(shrinkRows(float64(s.m))) // two shrinks of each
	return float64(rows) / m.clock(func() { err = errors.Join(err, grow(rows)) }), err
}

// npy measures how many bytes of a .npy file a second one thread reads and hands on.
func (m *meter) npy(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "scaling")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const d = 1024
	n := max(m.numbers/d, 1)
	path := filepath.Join(dir, "rows.npy")
	rows := bench.Rows(n, d)
	if err := atomicfile.Write(path, func(w io.Writer) error { return npy.Write(w, n, d, rows) }); err != nil {
		return err
	}
	src, err := file.Open([]string{path}, file.Options{})
	if err != nil {
		return err
	}
	seconds := m.clock(func() {
		for _, one := range src.Blocks(ctx) {
			if one != nil {
				err = one
			}
		}
	})
	m.c.Npy = 8 * float64(n*d) / seconds
	return err
}

// A laneRun is one pass over rows in so many lanes, a core for each.
type laneRun struct {
	lanes   int
	seconds float64
	idle    float64 // mean share of the time in which a core does nothing
	bound   string  // what a block waits for most often
}

// laneRun simulates the pass: a reader that is one block ahead, lanes that take their rows of
// each block side by side and wait for each other at its end, and the merging in pairs.
func (s site) laneRun(r laneRate, n int64, lanes int) laneRun {
	block, group := int64(max(blockBytes/8/int(r.D), 1)), int64(1)
	if lanes > 1 {
		group = groupOf(int(r.D), int(r.M), lanes)
	}
	m, p := int64(r.M), int64(shrinkRows(r.M))
	reading := float64(block) * 8 * r.D / (s.c.Npy * float64(max(lanes/coresFed, 1)))
	live := make([]int64, lanes) // rows in each buffer
	waits := map[string]int{}
	var now, ready, started, worked float64
	for row := int64(0); row < n; row += block {
		ready = max(ready, started) + reading
		begin := max(now, ready)
		longest, moved := 0.0, 0.0
		for l := range lanes {
			k := rowsOfLane(row, min(row+block, n), group, int64(l), int64(lanes))
			work := float64(k) * r.Row
			moved += float64(k) * 2 * 8 * r.D
			for live[l] += k; live[l] > m+p; live[l] -= p {
				work += r.Shrink
				moved += 3 * float64(m+p) * 8 * r.D
			}
			worked += work
			longest = max(longest, work)
		}
		took, why := longest+2*float64(lanes)*s.c.Start, "cores"
		if moved/s.bandwidth > took {
			took, why = moved/s.bandwidth, "memory"
		}
		if ready > now && reading > took {
			why = "reading"
		}
		waits[why]++
		started, now = begin, begin+took
	}
	now += float64(levels(lanes)) * r.Merge
	run := laneRun{lanes: lanes, seconds: now, idle: 1 - worked/now/float64(lanes)}
	for why, times := range waits {
		if times > waits[run.bound] || times == waits[run.bound] && why < run.bound {
			run.bound = why
		}
	}
	return run
}

// groupOf is how many rows are dealt at a time: what a summary's configuration says.
func groupOf(d, m, lanes int) int64 {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: m, Lanes: lanes})
	if err != nil {
		panic(err) // of a shape of this program's own
	}
	return int64(sum.Config().LaneRows)
}

// rowsOfLane is how many of the rows from lo to hi, in groups dealt in turn, a lane has.
func rowsOfLane(lo, hi, group, lane, lanes int64) int64 {
	before := func(end int64) int64 {
		round := group * lanes
		return end/round*group + min(max(end%round-lane*group, 0), group)
	}
	return before(hi) - before(lo)
}

// laneTable is the pass over 64 GiB of rows by 1, 2, 8, 32 and 128 cores.
func laneTable(s site) *table {
	t := &table{name: "lanes", columns: []string{"d", "m", "cores", "lanes", "rows/s", "speed-up", "not working", "waits for", "memory of the lanes", "two lanes measured"}}
	for _, r := range s.c.Lanes {
		n := int64(1<<36) / int64(8*r.D)
		buffer := int(r.M + shrinkRows(r.M))
		one := s.laneRun(r, n, 1)
		for _, cores := range []int{1, 2, 8, 32, 128} {
			lanes, _ := engine.Tuning{Lanes: engine.Setting{Value: cores}}.LanesFor(n, int(r.D), buffer)
			run := s.laneRun(r, n, lanes)
			measured := "–"
			if cores == 2 && lanes == 2 {
				measured = fmt.Sprintf("%.0f", r.Two)
			}
			held := float64(lanes)
			if lanes > 1 {
				held *= 1.5 // of each pair a copy, when they are merged
			}
			t.add(count(r.D), r.M, cores, lanes, math.Round(float64(n)/run.seconds), one.seconds/run.seconds, share(run.idle), run.bound, size(held*sketchBytes(r.M, r.D, 1)), measured)
		}
	}
	return t
}

// laneEtaTable has η/‖A‖²_F of the samples' rows in so many lanes, merged.
func laneEtaTable(ctx context.Context, rows, d, most int, path string) (*table, error) {
	all, err := samples(ctx, rows, d, path)
	if err != nil {
		return nil, err
	}
	t := &table{name: "lane-eta", columns: []string{"data", "one lane"}}
	var counts []int
	for lanes := 2; lanes <= most; lanes *= 4 {
		counts = append(counts, lanes)
		t.columns = append(t.columns, fmt.Sprintf("%d lanes", lanes))
	}
	for _, s := range all[:len(all)-1] { // of the last nothing is lost but round-off
		one, err := s.inLanes(1)
		if err != nil {
			return nil, err
		}
		row := []any{s.name, fmt.Sprintf("%.3g", one)}
		for _, lanes := range counts {
			eta, err := s.inLanes(lanes)
			if err != nil {
				return nil, err
			}
			row = append(row, fmt.Sprintf("%.3f of it", eta/one))
		}
		t.add(row...)
	}
	return t, nil
}

// inLanes is η/‖A‖²_F of the rows in so many lanes.
func (s *sample) inLanes(lanes int) (float64, error) {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: s.d, Size: sketchSize, Store: fd.StoreRows, Lanes: lanes})
	if err != nil {
		return 0, err
	}
	if err := sum.AppendBlock(dataset.Block{N: s.n, X: s.a, Y: make([]float64, s.n)}); err != nil {
		return 0, err
	}
	spec, err := sum.Sketch().Spectrum()
	if err != nil {
		return 0, err
	}
	return spec.Bound.Shrinkage / spec.Bound.Frobenius2, nil
}
