package paper

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/chart"
)

// newRun is a run of no experiment, in a folder of its own.
func newRun(t *testing.T, cfg Config) *run {
	t.Helper()
	cfg.Out = t.TempDir()
	r := &run{Config: cfg}
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// example is a figure with values that no logarithmic axis can show.
func example() *figure {
	x := []float64{1, 2, 4, 8, 16}
	return &figure{
		Number: 1, Title: "an example", Columns: 2, Settings: map[string]any{"m": 7},
		Panels: []chart.Panel{
			{Title: "left", X: "γ", Y: "‖x⁽ᵗ⁾ − x*‖", LogX: 2, LogY: true, Lines: []chart.Line{
				{Method: "FD", X: x, Y: []float64{1, 0, 1e-3, math.Inf(1), 1e-6}},
				{Method: "FD", X: x, Y: []float64{1, 1e-2, 1e-4, 1e-6, 1e-8}, Label: "predicted", Dashed: true},
				{Method: "RFD", X: x, Y: []float64{1, math.NaN(), -1, 1e-5, 1e-7}},
			}},
			{
				Title: "right",
				X:     "t",
				Lines: []chart.Line{{Method: "Nyström", X: []float64{0, 1, 2, 3, 4}, Y: []float64{0, -1, 5, 2, 2}}},
			},
			{Title: "no numbers", LogY: true, Lines: []chart.Line{{Method: "CG", X: []float64{1}, Y: []float64{0}}}},
			{
				Title: "one number",
				LogX:  10,
				LogY:  true,
				Lines: []chart.Line{{Method: "CG", X: []float64{1}, Y: []float64{2}}},
			},
			{Title: "given range", LogY: true, YMin: 1e-8, YMax: 1, Lines: []chart.Line{{Method: "CG", X: x, Y: x}}},
		},
		Table: table{
			Columns: []string{"x", "method", "y"},
			Rows:    [][]any{{1, "FD, of \"rows\"", 0.1}, {2, "FD", math.Inf(1)}},
		},
	}
}

// TestSave: each file of a figure can be read by what it is for and has every
// number and the environment.
func TestSave(t *testing.T) {
	r := newRun(t, Config{Seed: 42})
	if err := r.save(example()); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, ext := range []string{"png", "svg", "csv", "json"} {
		name := filepath.Join(r.Out, "figures", "figure1."+ext)
		if !slices.Contains(r.written, name) {
			t.Errorf("%s is not said to be written: %v", name, r.written)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[ext] = b
	}
	img, err := png.Decode(bytes.NewReader(files["png"]))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X < 900 || size.Y < 900 {
		t.Errorf("the picture has %v pixels", size)
	}
	for d := xml.NewDecoder(bytes.NewReader(files["svg"])); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("svg: %v", err)
		}
	}
	c := csv.NewReader(bytes.NewReader(files["csv"]))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"x", "method", "y"}, {"1", "FD, of \"rows\"", "0.1"}, {"2", "FD", "+Inf"}}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("csv: %q, want %q", rows, want)
	}
	var record struct {
		Environment environment
		Settings    map[string]float64
		Rows        [][]any
		Undrawn     []struct {
			Panel, Method string
			X             float64
			Y             *float64
		} `json:"not_drawn"`
	}
	if err := json.Unmarshal(files["json"], &record); err != nil {
		t.Fatal(err)
	}
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	e := record.Environment
	if e.Seed != 42 || e.Backend != be.Name() || e.Kernel == "" || e.CPU == "" || e.Go == "" || e.Threads < 1 ||
		e.Version == "" {
		t.Errorf("environment %+v", e)
	}
	if record.Settings["m"] != 7 || len(record.Rows) != 2 || record.Rows[1][2] != nil {
		t.Errorf("settings %v, rows %v", record.Settings, record.Rows)
	}
	if len(record.Undrawn) != 5 || record.Undrawn[0].Panel != "left" || record.Undrawn[0].X != 2 ||
		*record.Undrawn[0].Y != 0 ||
		record.Undrawn[1].Y != nil {
		t.Errorf("left out %+v", record.Undrawn)
	}
}

// TestSaveRefuses: what cannot be drawn or written is an error and leaves no file
// half done.
func TestSaveRefuses(t *testing.T) {
	r := newRun(t, Config{})
	unknown := example()
	unknown.Panels[1].Lines[0].Method = "nobody"
	if err := r.save(unknown); err == nil {
		t.Error("a method without a style was drawn")
	}
	if err := r.save(&figure{Number: 1, Columns: 3}); err == nil {
		t.Error("a figure without panels was drawn")
	}
	below := example()
	below.Panels[4].YMin = 0
	if err := r.save(below); err == nil {
		t.Error("a logarithmic axis from 0 was drawn")
	}
	ragged := example()
	ragged.Table.Rows[1] = ragged.Table.Rows[1][:2]
	if err := r.save(ragged); err == nil {
		t.Error("a row of two values in a table of three columns was written")
	}
	if _, err := os.Stat(filepath.Join(r.Out, "figures", "figure1.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the table: %v", err)
	}
	if r.saved != nil {
		t.Error("a figure that failed counts as saved")
	}
}

// TestStyles: no two methods that may share a figure look alike.
func TestStyles(t *testing.T) {
	one := map[string]string{"FDRR": "FD", "RFDRR": "RFD", "Classical:Gaussian": "Gaussian", "IHS:SJLT": "SJLT"}
	seen := map[string]string{}
	for name, l := range styles {
		if one[name] != "" {
			continue // looks like the other on purpose
		}
		key := fmt.Sprintf("%v %T%+v %v", l.Color, l.Marker, l.Marker, l.Dashes)
		if seen[key] != "" {
			t.Errorf("%s looks like %s", name, seen[key])
		}
		seen[key] = name
	}
	for a, b := range one {
		if fmt.Sprintf("%+v", styles[a]) != fmt.Sprintf("%+v", styles[b]) {
			t.Errorf("%s looks other than %s", a, b)
		}
	}
}
