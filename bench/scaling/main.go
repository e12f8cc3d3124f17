// Command scaling writes the tables and figures of docs/scaling.md: what a job costs
// over P ranks, by formula and by simulation, and what merging does to a sketch.
//
//	go run ./bench/scaling -out docs            # from the constants in docs/scaling
//	go run ./bench/scaling -out docs -measure   # measure those of this machine first
//
// Rates of lanes that constants.json lacks are measured in any case.
//
//	go run ./bench/scaling -out DIR -quick      # small, in seconds: a try
//
// It replaces what stands between the marks <!-- begin NAME --> and <!-- end NAME -->
// of OUT/scaling.md, if there is one, and writes OUT/scaling/*.svg, *.csv and
// constants.json. Seeds are fixed. The networks are assumptions; a line is added to
// them by -network NAME,ALPHA_SECONDS,BYTES_PER_SECOND.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/chart"
)

// Options of a run.
type options struct {
	out, data       string
	measure, quick  bool
	storage, memory float64
	bandwidth       float64
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "docs", "folder of scaling.md and scaling/")
	flag.StringVar(&o.data, "data", "testdata/w8a.svm.gz", "real rows for the merging of sketches")
	flag.BoolVar(&o.measure, "measure", false, "measure the constants of this machine anew")
	flag.BoolVar(&o.quick, "quick", false, "few ranks, few rows, few shapes")
	flag.Float64Var(&o.storage, "storage", 2e9, "bytes per second that each rank reads from storage")
	flag.Float64Var(&o.memory, "memory", 64e9, "bytes of rows that each rank keeps between passes")
	flag.Float64Var(&o.bandwidth, "bandwidth", 300e9, "bytes per second that the cores of one machine together move from and to memory, in lanes")
	flag.Func("network", "another network: NAME,ALPHA_SECONDS,BYTES_PER_SECOND", addNetwork)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func addNetwork(text string) error {
	part := strings.Split(text, ",")
	if len(part) != 3 {
		return errors.New("must be NAME,ALPHA_SECONDS,BYTES_PER_SECOND")
	}
	alpha, err := strconv.ParseFloat(part[1], 64)
	if err != nil {
		return err
	}
	bandwidth, err := strconv.ParseFloat(part[2], 64)
	if err != nil {
		return err
	}
	if !(alpha >= 0 && bandwidth > 0) {
		return errors.New("a latency and a positive bandwidth are wanted")
	}
	networks = append(networks, network{part[0], alpha, bandwidth})
	return nil
}

func (o options) run(ctx context.Context) error {
	folder := filepath.Join(o.out, "scaling")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	c, err := o.constants(ctx, filepath.Join(folder, "constants.json"))
	if err != nil {
		return err
	}
	at := site{c: c, net: networks[1], storage: o.storage, memory: o.memory, bandwidth: o.bandwidth}
	most, rows, d, parts := 4096, 1<<16, 256, 1024
	if o.quick {
		most, rows, d, parts = 64, 1<<11, 64, 16
	}
	runs, err := simulations(at, most)
	if err != nil {
		return err
	}
	merged, err := mergeAll(ctx, rows, d, parts, o.data)
	if err != nil {
		return err
	}
	lost, err := laneEtaTable(ctx, rows, d, min(parts, 128), o.data)
	if err != nil {
		return err
	}
	exact := merged[len(merged)-1] // integers of low rank
	var graded []merging
	for _, m := range merged[:len(merged)-1] {
		graded = append(graded, m...)
	}
	tables := append(constantsTables(c), volumeTable(), regimeTable(at), halfTable(c, at), comparisonTable(at), sparseTable(at), gridTable(at),
		simulationTable(runs), stragglerTable(runs), laneTable(at), lost, etaTable(graded), roundTable(exact))
	for name, f := range map[string]*chart.Figure{
		"scaling": scalingFigure(runs), "stragglers": stragglerFigure(runs), "eta": etaFigure(graded), "size": sizeFigure(at),
	} {
		if err := atomicfile.Write(filepath.Join(folder, name+".svg"), func(w io.Writer) error { return f.Save(w, "svg") }); err != nil {
			return err
		}
	}
	if err := writeCSV(filepath.Join(folder, "simulation.csv"), runRecords(runs)); err != nil {
		return err
	}
	if err := writeCSV(filepath.Join(folder, "eta.csv"), mergingRecords(append(graded, exact...))); err != nil {
		return err
	}
	return fill(filepath.Join(o.out, "scaling.md"), tables)
}

func (o options) constants(ctx context.Context, path string) (*constants, error) {
	if !o.measure {
		c, err := readConstants(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; -measure measures them", err)
		}
		if err != nil || len(c.Lanes) > 0 {
			return c, err
		}
		if c.Lanes, err = lanesAlone(ctx, o.pace(), c); err != nil {
			return nil, err
		}
		return c, c.write(path)
	}
	c, err := measure(ctx, o.pace())
	if err != nil {
		return nil, err
	}
	return c, c.write(path)
}

func (o options) pace() pace {
	if o.quick {
		return pace{10 * time.Millisecond, 1 << 20, shapes[:1]}
	}
	return pace{100 * time.Millisecond, 1 << 25, shapes} // 256 MiB of rows, which no cache holds
}

// sketchSize is m of the sketches that are merged.
const sketchSize = 32

// mergeAll makes the mergings of each sample, those that are made of d features.
func mergeAll(ctx context.Context, rows, d, parts int, path string) ([][]merging, error) {
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	all, err := samples(ctx, rows, d, path)
	if err != nil {
		return nil, err
	}
	var out [][]merging
	for _, s := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := s.mergings(sketchSize, parts, be)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// fill replaces the tables of a text, which need not exist. Each mark must be there.
func fill(path string, tables []*table) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text := string(b)
	for _, t := range tables {
		begin, end := "<!-- begin "+t.name+" -->\n", "<!-- end "+t.name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return fmt.Errorf("%s: no marks of table %s", path, t.name)
		}
		text = head + begin + t.markdown() + end + tail
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func writeCSV(path string, records [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(records) })
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func runRecords(runs []run) [][]string {
	out := [][]string{{"kind", "network", "slowness", "ranks", "formula_seconds", "simulated_seconds", "not_working", "divided_by_ranks"}}
	for _, r := range runs {
		out = append(out, []string{r.kind, r.network, r.slowness, strconv.Itoa(r.ranks), number(r.formula), number(r.seconds), number(r.idle), number(r.divided)})
	}
	return out
}

func mergingRecords(all []merging) [][]string {
	out := [][]string{{"data", "n", "d", "m", "order", "parts", "shrinks", "shrinks_per_merge", "rows_sent_over_m", "eta", "bound", "error", "below_zero", "round_off", "proved", "contraction", "passes"}}
	for _, m := range all {
		out = append(out, []string{m.data, strconv.Itoa(m.n), strconv.Itoa(m.d), strconv.Itoa(m.m), m.order, strconv.Itoa(m.parts), strconv.FormatInt(m.shrinks, 10),
			number(m.merged), number(m.live), number(m.eta), number(m.bound), number(m.error), number(m.below), number(m.pad), number(m.proved), number(m.contraction), strconv.Itoa(m.passes)})
	}
	return out
}
