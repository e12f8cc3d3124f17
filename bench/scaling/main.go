// Command scaling simulates the time of a sketch on 1 to 128 cores and on 1 to 64 ranks. It shows what limits the
// speed-up: reading, memory, merging or the work itself. docs/scaling.md explains the result.
//
//	go run ./bench/scaling                      # with the costs in docs/scaling/costs.json
//	go run ./bench/scaling -measure -out DIR    # with the costs of this machine
//
// It prints the table of docs/scaling.md, and writes OUT/costs.json and OUT/scaling.svg. Flags set what a machine with
// two cores cannot measure: the memory of many cores, and the network.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/safefile"
)

// options are the flags.
type options struct {
	machine
	out     string
	measure bool
	rows    float64 // bytes of rows
	cores   int     // of a rank
}

// define defines the flags, with their defaults.
func (o *options) define(f *flag.FlagSet) {
	f.StringVar(&o.out, "out", "docs/scaling", "folder of costs.json and scaling.svg")
	f.BoolVar(&o.measure, "measure", false, "measure the costs of this machine")
	f.Float64Var(&o.rows, "rows", 64e9, "bytes of rows")
	f.IntVar(&o.cores, "cores", 16, "cores of each rank")
	f.Float64Var(&o.Memory, "memory", 200e9, "bytes per second that all cores together move to and from memory")
	f.Float64Var(&o.Cache, "cache", 2e6, "bytes of cache for each core")
	f.Float64Var(&o.Latency, "latency", 10e-6, "seconds of a message")
	f.Float64Var(&o.Bandwidth, "bandwidth", 11e9, "bytes per second of a message")
}

func main() {
	var o options
	o.define(flag.CommandLine)
	flag.Parse()
	if err := o.run(os.Stdout, shapes, 3); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

// shapes are the sketches of docs/performance.md.
var shapes = []shape{{D: 1024, M: 256}, {D: 1024, M: 64}, {D: 4096, M: 128}, {D: 16384, M: 64}}

// run writes the table to w. If o.measure is true, it measures the costs of the given shapes, each for about the
// given seconds.
func (o *options) run(w io.Writer, shapes []shape, seconds float64) error {
	path := filepath.Join(o.out, "costs.json")
	if o.measure {
		c, err := measure(context.Background(), shapes, seconds)
		if err != nil {
			return err
		}
		b, err := json.MarshalIndent(c, "", "\t")
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(o.out, 0o755), os.WriteFile(path, append(b, '\n'), 0o644)); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &o.costs)
	}
	if err != nil {
		return fmt.Errorf("%w; -measure measures this machine", err)
	}
	all := o.curves()
	if _, err := io.WriteString(w, table(all)); err != nil {
		return err
	}
	return safefile.Write(
		filepath.Join(o.out, "scaling.svg"),
		func(w io.Writer) error { return figure(all).Save(w, "svg") },
	)
}

// A curve holds the times of a sketch on 1, 2, 4, … cores or ranks (MPI processes).
type curve struct {
	shape, rows string // the sketch, and where its rows come from
	times       []parts
}

// speedUp returns the time on one core or rank divided by the time on 2ⁱ cores or ranks.
func (c curve) speedUp(i int) float64 { return c.times[0].total() / c.times[i].total() }

// mostCores and mostRanks are the largest simulated numbers.
const mostCores, mostRanks = 128, 64

// curves simulates all sketches.
func (o *options) curves() []curve {
	var out []curve
	for _, s := range o.Shapes {
		n := int(o.rows / s.rowBytes())
		add := func(rows string, most int, run func(p int) parts) {
			c := curve{shape: fmt.Sprintf("d = %d, m = %d", s.D, s.M), rows: rows}
			for p := 1; p <= most; p *= 2 {
				c.times = append(c.times, run(p))
			}
			out = append(out, c)
		}
		for src, name := range sources {
			add(name, mostCores, func(p int) parts { return o.sketch(s, n, p, source(src)) })
		}
		add(
			fmt.Sprintf("ranks of %d cores", o.cores),
			mostRanks,
			func(p int) parts { return o.ranks(s, n, p, o.cores) },
		)
	}
	return out
}

// first determines the first column of speed-ups in the table, for 2⁴ cores. Most speed-ups of 2 to 8 cores are close
// to ideal.
const first = 4

// table returns the speed-ups as a table. If a speed-up is below 80 % of the ideal, the limiting cost follows.
func table(all []curve) string {
	var b strings.Builder
	b.WriteString("| sketch | rows |")
	for p := 1 << first; p <= mostCores; p *= 2 {
		fmt.Fprintf(&b, " %d |", p)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|", 8-first) + "\n")
	for k, c := range all {
		name := c.shape
		if k > 0 && all[k-1].shape == name {
			name = "" // shown once
		}
		fmt.Fprintf(&b, "| %s | %s |", name, c.rows)
		for i := first; i <= 7; i++ {
			if i < len(c.times) {
				fmt.Fprintf(&b, " %.3g", c.speedUp(i))
				if c.speedUp(i) < 0.8*float64(int(1)<<i) {
					b.WriteString(" " + c.times[i].limit())
				}
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// figure draws the speed-ups, one panel for each shape.
func figure(all []curve) *chart.Figure {
	f := &chart.Figure{Columns: 4, Looks: map[string]chart.Look{"ideal": {Color: chart.Grey}}}
	looks := []chart.Look{
		{Color: chart.Vermilion, Marker: chart.Square},
		{Color: chart.Blue, Marker: chart.Disc},
		{Color: chart.Black, Marker: chart.Diamond},
		{Color: chart.Green, Marker: chart.Triangle},
		{Color: chart.Purple, Marker: chart.Cross},
	}
	for _, c := range all {
		if n := len(f.Panels); n == 0 || f.Panels[n-1].Title != c.shape {
			ideal := chart.Line{
				Method: "ideal",
				X:      []float64{1, mostCores},
				Y:      []float64{1, mostCores},
				Plain:  true,
				Dashed: true,
			}
			f.Panels = append(
				f.Panels,
				chart.Panel{
					Title: c.shape,
					X:     "cores or ranks",
					Y:     "speed-up",
					LogX:  2,
					LogY:  true,
					Lines: []chart.Line{ideal},
				},
			)
		}
		panel := &f.Panels[len(f.Panels)-1]
		f.Looks[c.rows] = looks[(len(panel.Lines)-1)%len(looks)]
		line := chart.Line{Method: c.rows}
		for i := range c.times {
			line.X, line.Y = append(line.X, float64(int(1)<<i)), append(line.Y, c.speedUp(i))
		}
		panel.Lines = append(panel.Lines, line)
	}
	return f
}
