package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A description is what the command keeps in a sketch's file beside the summary:
// where its rows came from and what was done to them.
type description struct {
	Format      string            `json:"format"`
	Target      string            `json:"target,omitempty"`
	Columns     []string          `json:"columns,omitempty"`
	NNZ         int64             `json:"nnz"`
	Preparation model.Preparation `json:"preparation"`
	Penalty     []float64         `json:"penalty,omitempty"` // which Preparation has already
	Parts       []partSet         `json:"parts,omitempty"`   // none: the rows were not divided
}

func (d *data) describe(o *rowFlags) (*description, error) {
	columns, err := d.columns(o)
	return &description{d.opened.Format, o.target.value, columns, d.counted.Nonzeros(), d.prep, d.p, d.parts}, err
}

// save writes a summary to a file, whole or not at all.
func (d *description) save(name string, sum *ridge.Summary) error {
	meta, err := json.Marshal(d)
	if err != nil {
		return err
	}
	sum.Meta = meta
	return atomicfile.Write(name, func(w io.Writer) error {
		_, err := sum.WriteTo(w)
		return err
	})
}

// load reads a file that save wrote.
func load(name string, be engine.Backend) (*ridge.Summary, *description, error) {
	f, err := open(name)
	if err != nil {
		return nil, nil, badInput("%w", err)
	}
	defer f.Close() // only read
	sum, err := ridge.ReadSummary(f, be)
	if errors.Is(err, io.EOF) {
		err = errors.New("is empty")
	}
	if err != nil {
		return nil, nil, badInput("%s: %w", name, err)
	}
	if n, err := f.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, nil, badInput("%s: more follows the sketch", name)
	}
	if err := checkJoinMemory(name, sum); err != nil {
		return nil, nil, err
	}
	d := float64(sum.Config().Dim)
	if err := checkLoadMemory(name, d, float64(sum.Sketch().BinarySize())/(8*d)); err != nil {
		return nil, nil, err
	}
	var kept description
	if len(sum.Meta) > 0 {
		if err := json.Unmarshal(sum.Meta, &kept); err != nil {
			return nil, nil, badInput("%s: what it says of its rows cannot be read: %w", name, err)
		}
	}
	for _, p := range kept.Parts {
		if err := p.check(); err != nil {
			return nil, nil, badInput("%s: what it says of its rows cannot be right: %w", name, err)
		}
	}
	return sum, &kept, nil
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

// join refuses rows that were not prepared alike.
func (d *description) join(o *description) error {
	switch {
	case d.Target != o.Target:
		return fmt.Errorf("the target is %q in one and %q in the other", excerpt.Of(d.Target), excerpt.Of(o.Target))
	case !reflect.DeepEqual(d.Preparation.Scaling, o.Preparation.Scaling):
		return errors.New("their columns were standardised by different means and deviations, or by other penalties; sketch without --standardize, and with the same penalties")
	case !reflect.DeepEqual(d.Preparation, o.Preparation):
		return errors.New("their columns or features differ")
	}
	parts, err := joinParts(d.Parts, o.Parts)
	if err != nil {
		return err
	}
	d.NNZ, d.Parts = d.NNZ+o.NNZ, parts
	return nil
}
