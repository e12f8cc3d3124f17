package main

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// flags returns the options with their defaults.
func flags(t *testing.T, args ...string) *options {
	t.Helper()
	var o options
	f := flag.NewFlagSet("scaling", flag.ContinueOnError)
	o.define(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &o
}

// TestPage: docs/scaling.md has the table that the costs in docs/scaling/costs.json give.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	costs, err := os.ReadFile("../../docs/scaling/costs.json")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "costs.json"), costs, 0o644); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := flags(t, "-out", out).run(&table, nil, 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+table.String()) {
		t.Errorf("docs/scaling.md does not have the table\n%s", table.String())
	}
	if info, err := os.Stat(filepath.Join(out, "scaling.svg")); err != nil || info.Size() == 0 {
		t.Errorf("the figure: %v", err)
	}
}

// TestMeasure: costs that are measured are positive, and give finite speed-ups.
func TestMeasure(t *testing.T) {
	defer func(rows int) { readRows = rows }(readRows)
	readRows = 1 << 10
	out := filepath.Join(t.TempDir(), "new")
	o := flags(t, "-measure", "-out", out, "-rows", "1e8")
	var table strings.Builder
	if err := o.run(&table, []shape{{D: 64, M: 8}}, 0.001); err != nil {
		t.Fatal(err)
	}
	s := o.Shapes[0]
	for i, x := range []float64{o.Read, o.Pass, s.Shrink, s.Merge, s.Encode, s.Spectrum, s.Bytes - 8*8*64} {
		if !(x > 0) || math.IsInf(x, 0) {
			t.Errorf("cost %d is %g", i, x)
		}
	}
	if strings.Contains(table.String(), "NaN") || strings.Count(table.String(), "\n") != 2+5 {
		t.Errorf("the table is\n%s", table.String())
	}
	if err := flags(t, "-out", t.TempDir()).run(&table, nil, 0); err == nil ||
		!strings.Contains(err.Error(), "-measure") {
		t.Errorf("without costs: %v", err)
	}
}

// testMachine has round costs, and memory and caches that limit nothing.
func testMachine() machine {
	return machine{costs: costs{Read: 1e9}, Memory: 1e30, Cache: 0, Latency: 1e-3, Bandwidth: 1e9}
}

var testShape = shape{D: 1000, M: 80, P: 100, Shrink: 0.1, Merge: 0.2, Encode: 0.3, Spectrum: 0.5, Bytes: 1e6}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*want }

// TestLimits: each resource limits a machine that lacks it, and adds the time that is due to it.
func TestLimits(t *testing.T) {
	const n = 1 << 20
	work := float64(n/100) * 0.1
	m := testMachine()
	if got := m.sketch(testShape, n, 1, inMemory); !near(got.total(), work+0.5) || got.limit() != "merging" {
		t.Errorf("one core takes %g s, not %g: %+v", got.total(), work+0.5, got)
	}
	if got := m.sketch(testShape, n, 16, inMemory); !near(got.merging, 4*0.2+0.5) || !(got.total() >= work/16) ||
		!(got.total() <= 2*work/16+1.3) {
		t.Errorf("16 cores: %+v", got)
	}
	slow := m
	slow.Read = 8000 * n / work // reading takes as long as the work of one core
	if got := slow.sketch(testShape, n, 16, oneReader); !(got.total() >= work) || got.limit() != "reading" {
		t.Errorf("one slow reader: %+v of %g s", got, work)
	}
	if got := slow.sketch(testShape, n, 16, ownReaders); !(got.total() <= 2.1*work/16+1.3) || got.limit() != "reading" {
		t.Errorf("own slow readers: %+v of %g s", got, work)
	}
	if got, one := slow.sketch(
		testShape, n, 16, manyReaders,
	), slow.sketch(testShape, n, 16, oneReader); !(got.total() >= 2*work/16) ||
		!(got.total() <= one.total()/4) {
		t.Errorf("16 slow readers: %+v of %g s", got, work)
	}
	narrow := m
	narrow.Memory = (3*100 + 2*180 + 80) * 8000 / 0.1 // one lane uses all of it
	if got := narrow.sketch(testShape, n, 16, inMemory); !(got.total() >= work) || got.limit() != "memory" {
		t.Errorf("narrow memory: %+v of %g s", got, work)
	}
	narrow.Cache = 180 * 8000
	if got := narrow.sketch(testShape, n, 2, inMemory); got.memory != 0 {
		t.Errorf("a sketch in the cache waits %g s for memory", got.memory)
	}
	if got := m.sketch(testShape, 8*180*3, 16, inMemory); !(got.lanes > 0) {
		t.Errorf("rows for three lanes: %+v", got)
	}
}

// TestRanks: two ranks exchange a message in each direction, and merge once.
func TestRanks(t *testing.T) {
	m := testMachine()
	one, two := m.ranks(testShape, 1<<19, 1, 4), m.ranks(testShape, 1<<20, 2, 4)
	if got, want := two.total()-one.total(), 0.2+2*0.3+2*(1e-3+1e-3); !near(got, want) {
		t.Errorf("a second rank costs %g s, not %g", got, want)
	}
	// dist.Merge merges in ⌈log₂P⌉ levels.
	for _, p := range []int{3, 8, 9} {
		levels := 0
		for step := 1; step < p; step *= 2 {
			levels++
		}
		got := m.ranks(testShape, p<<19, p, 4).merging - one.merging
		if want := float64(levels)*(0.2+0.3+2*2e-3) + 0.3; !near(got, want) {
			t.Errorf("%d ranks: merging costs %g s, not %g", p, got, want)
		}
	}
}

// TestLaneRows: the rows of a block are dealt as ridge.Summary deals them.
func TestLaneRows(t *testing.T) {
	for _, d := range []int{1, 8, 1000, 16384, 1 << 20} {
		for _, lanes := range []int{2, 3, 16, 128} {
			s, err := ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: 1, Lanes: lanes})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := laneRows(d, lanes), s.Config().LaneRows; got != want {
				t.Errorf("d = %d, %d lanes: %d rows, not %d", d, lanes, got, want)
			}
		}
	}
}

// TestClock: the clock returns the mean time of a call, and the error of a call.
func TestClock(t *testing.T) {
	timed := newClock(0.05)
	got, err := timed(func() error {
		for begin := time.Now(); time.Since(begin) < 5*time.Millisecond; {
		}
		return nil
	})
	if err != nil || !(got > 0 && got <= 0.1) {
		t.Errorf("a call of 5 ms takes %g s: %v", got, err)
	}
	if _, err := timed(func() error { return os.ErrClosed }); err != os.ErrClosed {
		t.Errorf("the error is %v", err)
	}
}

// TestFigure: there is one panel for each shape, and every point can be drawn.
func TestFigure(t *testing.T) {
	o := flags(t, "-rows", "1e9")
	o.costs = costs{Read: 1e9, Shapes: []shape{testShape, {D: 2000, M: 80, P: 100, Shrink: 0.2, Merge: 0.2, Bytes: 1}}}
	f := figure(o.curves())
	if len(f.Panels) != 2 || len(f.Panels[0].Lines) != 6 || len(f.LeftOut()) > 0 {
		t.Errorf("%d panels, points that are not drawn: %v", len(f.Panels), f.LeftOut())
	}
	if !slices.ContainsFunc(f.Panels[1].Lines, func(l chart.Line) bool { return len(l.X) == 7 }) {
		t.Error("no line of 64 ranks")
	}
}
