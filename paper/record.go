package paper

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/safefile"
)

// An environment records what numbers may depend on beside the settings.
type environment struct {
	Backend  string            `json:"backend"`
	Kernel   string            `json:"kernel"`
	CPU      string            `json:"cpu"`
	Platform string            `json:"platform"`
	Threads  int               `json:"threads"`
	Seed     uint64            `json:"seed"`
	Go       string            `json:"go"`
	Version  string            `json:"version"` // of fdridge
	Modules  map[string]string `json:"modules"` // versions of its dependencies
}

func newEnvironment(be engine.Backend, seed uint64) (environment, error) {
	rep, err := engine.NewReport()
	if err != nil {
		return environment{}, err
	}
	e := environment{
		Backend:  be.Name(),
		Kernel:   be.Capabilities()["kernel"],
		CPU:      rep.CPU,
		Platform: rep.Platform,
		Threads:  rep.GoMaxProcs,
		Seed:     seed,
		Go:       rep.Go,
		Version:  "unknown",
		Modules:  map[string]string{},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return e, nil
	}
	e.Version = info.Main.Version // names the commit if the build knows it
	for _, m := range info.Deps {
		e.Modules[m.Path] = m.Version
	}
	return e, nil
}

// summary lists the facts of the environment, one in a line.
func (e environment) summary() [][2]string {
	return [][2]string{
		{"fdridge", e.Version},
		{"backend", fmt.Sprintf("%s, %s", e.Backend, e.Kernel)},
		{"CPU", fmt.Sprintf("%s, %s, %d threads", e.CPU, e.Platform, e.Threads)},
		{"Go", e.Go},
		{"seed", fmt.Sprint(e.Seed)},
	}
}

// save writes DIR/figures/figureN.png, .svg, .csv and .json.
func (r *run) save(f *figure) error {
	drawn := &chart.Figure{
		Title:   fmt.Sprintf("Figure %d. %s", f.Number, f.Title),
		Columns: f.Columns,
		Looks:   styles,
		Panels:  f.Panels,
	}
	leftOut := drawn.LeftOut()
	writers := []struct {
		extension string
		write     func(io.Writer) error
	}{
		{"png", func(w io.Writer) error { return drawn.Save(w, "png") }},
		{"svg", func(w io.Writer) error { return drawn.Save(w, "svg") }},
		{"csv", func(w io.Writer) error { return r.writeCSV(w, f, leftOut) }},
		{"json", func(w io.Writer) error { return r.writeJSON(w, f, leftOut) }},
	}
	for _, x := range writers {
		err := r.write(filepath.Join("figures", fmt.Sprintf("figure%d.%s", f.Number, x.extension)), x.write)
		if err != nil {
			return fmt.Errorf("paper: figure %d: %w", f.Number, err)
		}
	}
	r.saved = append(r.saved, f)
	return nil
}

// write writes one file of DIR atomically.
func (r *run) write(name string, write func(io.Writer) error) error {
	path := filepath.Join(r.Out, name)
	if err := safefile.Write(path, write); err != nil {
		return err
	}
	if !slices.Contains(r.written, path) {
		r.written = append(r.written, path)
	}
	return nil
}

// writeCSV writes the table after lines of comment, which begin with #.
func (r *run) writeCSV(w io.Writer, f *figure, leftOut []chart.Point) error {
	head := fmt.Sprintf("# figure %d: %s\n", f.Number, f.Title)
	for _, fact := range r.env.summary() {
		head += fmt.Sprintf("# %s: %s\n", fact[0], fact[1])
	}
	for _, k := range slices.Sorted(maps.Keys(f.Settings)) {
		head += fmt.Sprintf("# %s: %v\n", k, f.Settings[k])
	}
	for _, p := range leftOut {
		head += fmt.Sprintf("# not drawn on its logarithmic axis: %s, %s at %v: %v\n", p.Panel, p.Method, p.X, p.Y)
	}
	records := [][]string{f.Table.Columns}
	for _, row := range f.Table.Rows {
		if len(row) != len(f.Table.Columns) {
			return fmt.Errorf(
				"paper: figure %d: a row has %d values, the table %d columns",
				f.Number,
				len(row),
				len(f.Table.Columns),
			)
		}
		var text []string
		for _, v := range row {
			text = append(text, fmt.Sprint(v))
		}
		records = append(records, text)
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	return csv.NewWriter(w).WriteAll(records)
}

func (r *run) writeJSON(w io.Writer, f *figure, leftOut []chart.Point) error {
	type undrawn struct {
		Panel  string `json:"panel"`
		Method string `json:"method"`
		X      any    `json:"x"`
		Y      any    `json:"y"`
	}
	out := struct {
		Figure      int            `json:"figure"`
		Title       string         `json:"title"`
		Environment environment    `json:"environment"`
		Settings    map[string]any `json:"settings"`
		Columns     []string       `json:"columns"`
		Rows        [][]any        `json:"rows"`
		LeftOut     []undrawn      `json:"not_drawn"`
	}{
		Figure:      f.Number,
		Title:       f.Title,
		Environment: r.env,
		Settings:    f.Settings,
		Columns:     f.Table.Columns,
		LeftOut:     []undrawn{},
	}
	for _, row := range f.Table.Rows {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = finite(v)
		}
		out.Rows = append(out.Rows, values)
	}
	for _, p := range leftOut {
		out.LeftOut = append(out.LeftOut, undrawn{p.Panel, p.Method, finite(p.X), finite(p.Y)})
	}
	return jsonfields.Encode(w, out, " ")
}

// finite returns v, or nil if v is a number that is not finite. JSON cannot represent such numbers.
func finite(v any) any {
	if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return nil
	}
	return v
}
