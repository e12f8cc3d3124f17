package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// A description is what the command keeps in a sketch's file beside the summary:
// where its rows came from and what was done to them.
type description struct {
	Format      string            `json:"format"`
	Target      string            `json:"target,omitempty"`
	Columns     []string          `json:"columns,omitempty"`
	NNZ         int64             `json:"nnz"`
	Preparation model.Preparation `json:"preparation"`
	Penalty     []float64         `json:"penalty,omitempty"`  // which Preparation has already
	Parts       []partSet         `json:"parts,omitempty"`    // none: the rows were not divided
	Fades       bool              `json:"fades,omitempty"`    // the rows, or some, weigh less than they did when they came
	HeldOut     float64           `json:"held_out,omitempty"` // the share of the rows that it is not of, see [dataset.Holdout]
}

func (d *data) describe(o *rowFlags) (*description, error) {
	columns, err := d.columns(o)
	return &description{Format: d.opened.Format, Target: o.target.value, Columns: columns, NNZ: d.counted.Nonzeros(), Preparation: d.prep, Penalty: d.p, Parts: d.parts, HeldOut: d.holdout.Share}, err
}

// save writes a summary to the file that a flag names, whole or not at all.
func (d *description) save(flag, name string, sum *ridge.Summary) error {
	if err := checkFree(flag, name); err != nil { // a live sketch may have begun meanwhile
		return err
	}
	meta, err := json.Marshal(d)
	if err != nil {
		return err
	}
	sum.Meta = meta
	if err := atomicfile.Write(name, func(w io.Writer) error {
		_, err := sum.WriteTo(w)
		return err
	}); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// load reads a file that save, or a live sketch, wrote: of one that forgets the rows that count now.
func load(name string, be engine.Backend) (*ridge.Summary, *description, error) {
	if err := wantSketch.check(name); err != nil {
		return nil, nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, nil, badInput("%w", err)
	}
	defer f.Close() // only read
	sketch, err := live.ReadOnly(f, be)
	if err != nil {
		return nil, nil, badInput("%s: %w", name, err)
	}
	kept, err := describedBy(sketch)
	if err != nil {
		return nil, nil, badInput("%s: %w", name, err)
	}
	if err := checkSketchMemory(name, sketch); err != nil {
		return nil, nil, err
	}
	sum, _, err := sketch.Summary()
	if err != nil {
		return nil, nil, badInput("%s: %w", name, err)
	}
	d := float64(sum.Config().Dim)
	if err := checkLoadMemory(name, d, float64(sum.Sketch().BinarySize())/(8*d)); err != nil {
		return nil, nil, err
	}
	return sum, kept, nil
}

// describedBy is what was kept beside a sketch.
func describedBy(s window.Stream) (*description, error) {
	kept := new(description)
	if len(s.Meta()) > 0 {
		if err := json.Unmarshal(s.Meta(), kept); err != nil {
			return nil, fmt.Errorf("what it says of its rows cannot be read: %w", err)
		}
	}
	for _, p := range kept.Parts {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("what it says of its rows cannot be right: %w", err)
		}
	}
	kept.Fades = kept.Fades || s.Settings().Fades()
	return kept, nil
}

// printSketch says what a file holds now. The bound is that of the sketch after a last shrink
// to m rows, from which fits are made, as the report of a fit has it.
func printSketch(w io.Writer, name string, sum *ridge.Summary) error {
	cfg := sum.Config()
	spectrum, err := sum.Sketch().Spectrum()
	if err != nil {
		return err
	}
	kept := ""
	if sum.Sketch().Scatter() {
		kept = ", AᵀA itself"
	}
	if cfg.Lanes > 1 {
		kept += fmt.Sprintf(", in %d lanes", cfg.Lanes)
	}
	_, err = fmt.Fprintf(w, "%s: %d rows × %d features, %d target(s), m = %d%s, ‖AᵀA − BᵀB‖ ≤ %s, %d bytes\n",
		name, sum.Rows(), cfg.Dim, cfg.Targets, cfg.Size, kept, report.AtMost(spectrum.Bound.FD(), 4), sum.BinarySize())
	return err
}

// join adds rows that were prepared alike, and refuses others.
func (d *description) join(o *description) error {
	if err := d.goesWith(o); err != nil {
		return err
	}
	parts, err := joinParts(d.Parts, o.Parts)
	if err != nil {
		return err
	}
	d.NNZ, d.Parts = d.NNZ+o.NNZ, parts
	d.Fades = d.Fades || o.Fades
	return nil
}

// namesOf says what the features of rows are called, of many the first few.
func namesOf(p *model.Preparation) string {
	const most = 6
	switch names := p.Names; {
	case len(names) == 0:
		return fmt.Sprintf("%d without names", p.Inputs)
	case len(names) <= most:
		return strings.Join(excerpt.All(names), ", ")
	default:
		return fmt.Sprintf("%s, … (%d)", strings.Join(excerpt.All(names[:most]), ", "), len(names))
	}
}

// goesWith refuses rows that were not prepared alike.
func (d *description) goesWith(o *description) error {
	switch {
	case d.Target != o.Target:
		return fmt.Errorf("the target is %q in one and %q in the other", excerpt.Of(d.Target), excerpt.Of(o.Target))
	case !reflect.DeepEqual(d.Preparation.Encoding, o.Preparation.Encoding):
		return errors.New("missing values had other means put in their place, or their categorical columns have other levels: these are those of the rows that each is of; make one sketch of all rows, or encode the columns before")
	case d.HeldOut != o.HeldOut:
		return errors.New("other rows were held out of one than of the other")
	case !reflect.DeepEqual(d.Preparation.Scaling, o.Preparation.Scaling):
		return errors.New("their columns were standardised by different means and deviations, or by other penalties; sketch without --standardize, and with the same penalties")
	case !slices.Equal(d.Preparation.Names, o.Preparation.Names):
		return fmt.Errorf("their columns are %s in one and %s in the other", namesOf(&d.Preparation), namesOf(&o.Preparation))
	case !reflect.DeepEqual(d.Preparation, o.Preparation):
		return errors.New("their columns or features differ")
	}
	return nil
}
