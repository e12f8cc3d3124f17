package main

import (
	"fmt"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// checkMemory refuses what would take more bytes than can be had; the message begins with
// what the user has said and ends with a hint.
func checkMemory(bytes float64, hint, format string, args ...any) error {
	there := float64(rss.Available())
	if there == 0 || bytes <= there {
		return nil
	}
	return badInput("%s takes about %.1f GiB, %.1f are available; %s", fmt.Sprintf(format, args...), bytes/(1<<30), there/(1<<30), hint)
}

const manyFeatures = "are there so many features?"

// checkMemory refuses a sketch of size rows, d features and t targets that would not
// fit into memory. It counts about m rows kept, as many and a quarter to come, m vectors, and c;
// where AᵀA itself is kept that, with corrections, and what reading it takes. Of several lanes that
// are asked for each takes as much, and half as many again what they are merged in. A copy of a sketch is made by way of
// a message, so that both take the memory of two more.
func (o *sketchFlags) checkMemory(size, d, t int) error {
	lanes := 1.0
	if o.lanes > 1 {
		lanes = 1.5 * float64(o.lanes)
	}
	if o.copied {
		lanes *= 3
	}
	m := min(float64(size), float64(d))
	if keeps, err := (fd.Config{Dim: d, Size: size}).Scatter(); err == nil && keeps {
		return checkMemory(8*lanes*float64(d)*(6*float64(d)+4*float64(t)), manyFeatures, "--size: AᵀA of %d features", d)
	}
	return checkMemory(8*lanes*float64(d)*(3.25*m+4*float64(t)), manyFeatures, "--size: a sketch of %.0f rows of %d features", m, d)
}

// checkLoadMemory refuses a sketch of so many rows that there is no memory for them and for
// their inner products.
func checkLoadMemory(name string, d, rows float64) error {
	return checkMemory(8*rows*(2*d+3*rows), "was it made by this program?", "%s: a sketch of %.0f rows of %.0f features", name, rows, d)
}

// checkSketchMemory refuses a sketch which there is no memory to read: of lanes half as many as there are
// are merged at a time, and what forgets is copied into a summary. It does so without making one.
func checkSketchMemory(name string, s window.Stream) error {
	copies, cfg := float64(s.Copies()), s.Settings().Summary
	rows, err := rowsOf(cfg)
	if err != nil || copies == 0 {
		return err
	}
	d := float64(cfg.Dim)
	return checkMemory(copies*8*rows*(2*d+3*rows), "was it made by this program?", "%s: merging %.0f lanes, each a sketch of %.0f rows of %.0f features,", name, float64(cfg.Lanes), rows, d)
}

// rowsOf is how many rows a sketch has room for, with those of AᵀA where that is kept.
func rowsOf(cfg ridge.SummaryConfig) (float64, error) {
	keeps, err := fd.Config{Dim: cfg.Dim, Size: cfg.Size, Shrink: cfg.Shrink, Store: cfg.Store}.Scatter()
	if keeps {
		return float64(cfg.Dim) + float64(cfg.ShrinkRows), err
	}
	return float64(min(cfg.Size, cfg.Dim)) + float64(cfg.ShrinkRows), err
}

// checkPreparationMemory refuses Fourier features for whose weights there is no memory.
func checkPreparationMemory(p *model.Preparation) error {
	if p.Features == nil {
		return nil
	}
	return checkMemory(8*float64(p.Inputs)*float64(p.Features.Components), manyFeatures, "--features: rff:%d of %d columns", p.Features.Components, p.Inputs)
}
