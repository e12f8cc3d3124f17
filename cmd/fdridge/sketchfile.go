package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
	"github.com/fdridge/fdridge/table"
)

// A description records which rows a sketch contains and how these rows were prepared. It is stored in the sketch
// file.
type description struct {
	Format      string            `json:"format"`
	Target      string            `json:"target,omitempty"`
	Columns     []string          `json:"columns,omitempty"`
	NNZ         int64             `json:"nnz"`
	Preparation model.Preparation `json:"preparation"`
	Penalty     []float64         `json:"penalty,omitempty"` // penalties that Preparation includes
	Parts       []table.Parts     `json:"parts,omitempty"`   // parts of the data, as selected by --part; nil: all rows
	Fades       bool              `json:"fades,omitempty"`   // older rows have less weight (--half-life)
	// fraction of the rows that were held out, see [dataset.Holdout]; 0: none
	HeldOut float64 `json:"held_out,omitempty"`
}

// describe returns the description of the rows d for a sketch of them. target is the value of the flag --target.
func describe(d *table.Table, target string) (*description, error) {
	columns, err := d.Rows.AllColumns()
	out := &description{
		Format:      d.Rows.Opened.Format,
		Target:      target,
		Columns:     columns,
		NNZ:         d.Counted.Nonzeros(),
		Preparation: d.Preparation,
		Penalty:     slices.Clone(d.P),
		Parts:       d.Parts,
		HeldOut:     d.Holdout.Share,
	}
	for j, p := range out.Penalty {
		if p == 0 { // the sketch has the column like any other
			out.Penalty[j] = 1
		}
	}
	return out, err
}

// save writes the sketch sum and its description to a file. It replaces an existing file atomically. name is the
// path of the file, and flag is the name of the flag that gave the path.
func (d *description) save(flag, name string, sum *ridge.Summary) error {
	if err := cli.CheckFree(flag, name); err != nil { // another process may have started a live sketch there
		return err
	}
	meta, err := json.Marshal(d)
	if err != nil {
		return err
	}
	sum.Meta = meta
	if err := safefile.Write(name, func(w io.Writer) error {
		_, err := sum.WriteTo(w)
		return err
	}); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// load reads the file of a sketch or of a live sketch. A live sketch may forget old rows. The summary then covers
// only the rows that it has not forgotten.
func load(name string, be engine.Backend) (*ridge.Summary, *description, error) {
	if err := cli.WantSketch.Check(name); err != nil {
		return nil, nil, err
	}
	f, err := cli.Open(name)
	if err != nil {
		return nil, nil, cli.BadInput("%w", err)
	}
	defer f.Close() // only read
	sketch, err := live.ReadOnly(f, be)
	if err != nil {
		return nil, nil, cli.BadInput("%s: %w", name, err)
	}
	kept, err := readDescription(sketch)
	if err != nil {
		return nil, nil, cli.BadInput("%s: %w", name, err)
	}
	if err := checkSketchMemory(name, sketch); err != nil {
		return nil, nil, err
	}
	sum, _, err := sketch.Summary()
	if err != nil {
		return nil, nil, cli.BadInput("%s: %w", name, err)
	}
	d := float64(sum.Config().Dim)
	if err := checkLoadMemory(name, d, float64(sum.Sketch().BinarySize())/(8*d)); err != nil {
		return nil, nil, err
	}
	return sum, kept, nil
}

// readDescription returns the description of a sketch.
func readDescription(s window.Stream) (*description, error) {
	kept := new(description)
	if len(s.Meta()) > 0 {
		if err := json.Unmarshal(s.Meta(), kept); err != nil {
			return nil, fmt.Errorf("the description of its rows cannot be read: %w", jsonfields.Explain(err))
		}
	}
	for _, p := range kept.Parts {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("the description of its rows is wrong: %w", err)
		}
	}
	kept.Fades = kept.Fades || s.Settings().Fades()
	return kept, nil
}

// printSketch prints the properties of a sketch in one line, which begins with name, the name of the file. The
// error bound includes the last shrink, which the method Spectrum makes.
func printSketch(w io.Writer, name string, sum *ridge.Summary) error {
	cfg := sum.Config()
	spectrum, err := sum.Sketch().Spectrum()
	if err != nil {
		return err
	}
	kept := ""
	if sum.Sketch().Scatter() {
		kept = ", AᵀA stored"
	}
	if cfg.Lanes > 1 {
		kept += fmt.Sprintf(", in %d lanes", cfg.Lanes)
	}
	_, err = fmt.Fprintf(
		w,
		"%s: %d rows × %d features, %s, m = %d%s, ‖AᵀA − BᵀB‖ ≤ %s, %d bytes\n",
		name,
		sum.Rows(),
		cfg.Dim,
		count(int64(cfg.Targets), "target"),
		cfg.Size,
		kept,
		report.AtMost(spectrum.Bound.FD(), 4),
		sum.BinarySize(),
	)
	return err
}

// join adds the description o of another sketch to d, for the merged sketch. It returns an error if the rows of the
// two sketches were prepared differently.
func (d *description) join(o *description) error {
	if err := d.checkSame(o); err != nil {
		return err
	}
	parts, err := table.JoinParts(d.Parts, o.Parts)
	if err != nil {
		return err
	}
	d.NNZ += o.NNZ
	d.Parts = parts
	d.Fades = d.Fades || o.Fades
	return nil
}

// listNames returns a text with the number of input columns and the names of the first six.
func listNames(p *model.Preparation) string {
	if len(p.Names) == 0 {
		return fmt.Sprintf("%d without names", p.Inputs)
	}
	return fmt.Sprintf("%d (%s)", p.Inputs, errtext.List(p.Names, 6))
}

// checkSame returns an error if the rows of two sketches were prepared differently.
func (d *description) checkSame(o *description) error {
	switch {
	case d.Target != o.Target:
		return fmt.Errorf(
			"the target is %q in one and %q in the other", errtext.Excerpt(d.Target), errtext.Excerpt(o.Target),
		)
	case !reflect.DeepEqual(d.Preparation.Encoding, o.Preparation.Encoding):
		return errors.New(
			"the means for missing values or the levels of categorical columns differ, because each sketch learned " +
				"them from its own rows; make one sketch of all rows, or encode the columns before",
		)
	case d.HeldOut != o.HeldOut:
		return errors.New("the held-out rows differ")
	case !reflect.DeepEqual(d.Preparation.Scaling, o.Preparation.Scaling):
		return errors.New(
			"the means and deviations of --standardize, or the penalties, differ; sketch without --standardize and " +
				"with equal penalties",
		)
	case !slices.Equal(d.Preparation.Names, o.Preparation.Names):
		return fmt.Errorf(
			"the columns are %s in one and %s in the other",
			listNames(&d.Preparation),
			listNames(&o.Preparation),
		)
	case !d.Preparation.Equals(o.Preparation):
		return errors.New("the columns or features differ")
	}
	return nil
}

// checkLoadMemory returns an error if a sketch of the given number of rows does not fit into memory. Each row has d
// features. The memory for the inner products of the rows is included. name is the name of the sketch file.
func checkLoadMemory(name string, d, rows float64) error {
	return cli.CheckMemory(
		8*rows*(2*d+3*rows),
		"was it made by this program?",
		"%s: a sketch of %.0f rows of %.0f features",
		name,
		rows,
		d,
	)
}

// checkSketchMemory returns an error if there is not enough memory to read the sketch s. Reading merges the lanes
// of s, which are sketches that were built in parallel. If s forgets old rows, it is also copied. name is the name
// of the sketch file.
func checkSketchMemory(name string, s window.Stream) error {
	copies := float64(s.Copies())
	cfg := s.Settings().Summary
	rows, err := rowsOf(cfg)
	if err != nil || copies == 0 {
		return err
	}
	d := float64(cfg.Dim)
	return cli.CheckMemory(
		copies*8*rows*(2*d+3*rows),
		"was it made by this program?",
		"%s: merging %.0f lanes, each a sketch of %.0f rows of %.0f features,",
		name,
		float64(cfg.Lanes),
		rows,
		d,
	)
}

// rowsOf returns the maximum number of rows that a sketch stores. If the d×d Gram matrix of the rows is stored
// instead of a sketch, it counts as d rows.
func rowsOf(cfg ridge.SummaryConfig) (float64, error) {
	keeps, err := fd.Config{
		Dim:    cfg.Dim,
		Size:   cfg.Size,
		Shrink: cfg.Shrink,
		Store:  cfg.Store,
	}.Scatter()
	if keeps {
		return float64(cfg.Dim) + float64(cfg.ShrinkRows), err
	}
	return float64(min(cfg.Size, cfg.Dim)) + float64(cfg.ShrinkRows), err
}

// printParts prints which parts of the data a sketch contains and which parts are missing. empty is true if the
// sketch has no rows.
func (d *description) printParts(w io.Writer, name string, empty bool) error {
	for _, p := range d.Parts {
		text := fmt.Sprintf("all %d parts", p.Of)
		if !p.IsComplete() {
			text = fmt.Sprintf(
				"%s of %d; still missing: %s",
				table.DescribeSpans(p.Have),
				p.Of,
				table.DescribeSpans(p.Missing()),
			)
		}
		if empty {
			text += "; it has no rows: there are fewer rows than parts, or compressed text, which is not divided"
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", name, text); err != nil {
			return err
		}
	}
	if len(d.Parts) > 1 {
		_, err := fmt.Fprintf(
			w,
			"%s: the parts belong to %d different divisions: the files, their content or the flags differ\n",
			name,
			len(d.Parts),
		)
		return err
	}
	return nil
}

// checkComplete returns an error if parts of the data are missing in the sketch. Such a sketch was made with --part
// I/N.
func (d *description) checkComplete(name string) error {
	for _, p := range d.Parts {
		if !p.IsComplete() {
			return cli.BadInput(
				"%s has only %s of %d: merge %s with it first; fit --part fits a single part",
				name,
				table.DescribeSpans(p.Have),
				p.Of,
				table.DescribeSpans(p.Missing()),
			)
		}
	}
	return nil
}
