package table

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/choose"
)

// parsePenalties checks the penalties and parses Spec.Bands.
func (r *resolved) parsePenalties() error {
	s := &r.spec
	if s.Features != "" {
		for _, penalty := range []struct {
			field Field
			given bool
		}{
			{"Penalty", s.Penalty != ""},
			{"Unpenalized", len(s.Unpenalized) > 0},
			{"Bands", len(s.Bands) > 0},
		} {
			if penalty.given {
				return specError(
					penalty.field,
					"it applies to input columns, and %v computes features from several of them",
					Field("Features"),
				)
			}
		}
	}
	var err error
	r.bands, err = parseBands(s.Bands)
	return err
}

// CheckPenalties returns an error if s.Bands is invalid, or if one of the fields Penalty, Bands and Unpenalized
// contradicts another field. It does not read the file Spec.Penalty. [Spec.Check] includes this check.
func (s Spec) CheckPenalties() error {
	r := &resolved{spec: s}
	return r.parsePenalties()
}

// A namedBand is an element of Spec.Bands: a list of columns and their common ridge penalty. 0 means that the fit
// chooses the penalty.
type namedBand struct {
	columns string
	penalty float64
}

func parseBands(items []string) ([]namedBand, error) {
	var out []namedBand
	for _, item := range items {
		b := namedBand{columns: item}
		if i := strings.LastIndexByte(item, '='); i >= 0 {
			p, err := parseNumber(item[i+1:])
			if err != nil || !(p > 0) || math.IsInf(p, 0) {
				return nil, specError(
					"Bands",
					"the penalty of %q must be a number > 0; for none, see fit %v",
					errtext.Excerpt(item),
					Field("Unpenalized"),
				)
			}
			b.columns = item[:i]
			b.penalty = p
		}
		if b.columns == "" {
			return nil, specError("Bands", "%q names no columns", errtext.Excerpt(item))
		}
		out = append(out, b)
	}
	return out, nil
}

// parseNumber parses a number. It refuses underscores between digits, which strconv.ParseFloat can accept.
func parseNumber(s string) (float64, error) {
	if strings.Contains(s, "_") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

// NamedBands returns the groups of columns in s.Bands, with their names and penalties. The numbers of their columns
// are left out, because they depend on the data. If one of the groups is invalid, NamedBands returns nil.
func (s *Spec) NamedBands() (out []choose.Band) {
	bands, err := parseBands(s.Bands)
	if err != nil {
		return nil
	}
	for _, b := range bands {
		out = append(out, choose.Band{Name: b.columns, Penalty: b.penalty})
	}
	return out
}

// ChoosesPenalty reports whether the fit has to choose a penalty, because a group of columns in s.Bands has none.
func (s *Spec) ChoosesPenalty() bool {
	return slices.ContainsFunc(s.NamedBands(), func(b choose.Band) bool {
		return b.Penalty == 0
	})
}

// A Penalised holds the ridge penalties of the columns. Columns are identified by number, counted from 0.
type Penalised struct {
	// P holds the penalty of each column, or nil if all penalties are 1. A penalty is the number in the file
	// Spec.Penalty, times the penalty of the column's group in Spec.Bands. The second factor is left out if the
	// program has to choose the penalty of a group. If there is a file Spec.Penalty, P is 0 for the columns of
	// Spec.Unpenalized. Otherwise only Free tells which columns have no penalty.
	P     []float64
	Bands []choose.Band
	Free  []int // columns of Spec.Unpenalized
}

// ToChoose returns p.Bands if the program has to choose the penalty of at least one band, and otherwise nil.
func (p *Penalised) ToChoose() []choose.Band {
	if slices.ContainsFunc(p.Bands, func(b choose.Band) bool { return b.Penalty == 0 }) {
		return p.Bands
	}
	return nil
}

// Penalties returns the penalties that s defines for the columns that prep describes. seen maps file names to sizes
// and times as [Env].Seen does. If positive is true, a penalty of 0 in the file Spec.Penalty is an error.
func (s Spec) Penalties(
	ctx context.Context,
	prep *model.Preparation,
	seen map[string]dataset.Stamp,
	positive bool,
) (Penalised, error) {
	bands, err := parseBands(s.Bands)
	if err != nil {
		return Penalised{}, err
	}
	r := &resolved{spec: s, bands: bands}
	if err := r.parseText(); err != nil {
		return Penalised{}, err
	}
	return r.penalise(ctx, prep, seen, positive)
}

// penalise returns the penalties of the columns of prep.
func (r *resolved) penalise(
	ctx context.Context,
	prep *model.Preparation,
	seen map[string]dataset.Stamp,
	positive bool,
) (Penalised, error) {
	var out Penalised
	s := &r.spec
	if s.Penalty != "" {
		var err error
		out.P, err = r.readPenalty(ctx, seen, prep.Inputs)
		if err != nil {
			return out, err
		}
		if j := slices.Index(out.P, 0); j >= 0 && positive {
			return out, specError("Penalty", "number %d of %s is 0, which only fit accepts", j+1, s.Penalty)
		}
	}
	for _, part := range s.Unpenalized {
		columns, err := columnsOf("Unpenalized", part, prep)
		if err != nil {
			return out, err
		}
		out.Free = append(out.Free, columns...)
	}
	if out.P != nil {
		for _, j := range out.Free {
			out.P[j] = 0
		}
	}
	if r.bands == nil {
		return out, nil
	}
	for _, b := range r.bands {
		columns, err := columnsOf("Bands", b.columns, prep)
		if err != nil {
			return out, err
		}
		if slices.ContainsFunc(columns, func(j int) bool {
			return slices.Contains(out.Free, j)
		}) {
			return out, specError("Unpenalized", "a column is also in %q of %v", errtext.Excerpt(b.columns), Field("Bands"))
		}
		out.Bands = append(out.Bands, choose.Band{Name: b.columns, Columns: columns, Penalty: b.penalty})
	}
	for j, v := range out.P {
		inBand := slices.ContainsFunc(out.Bands, func(b choose.Band) bool {
			return slices.Contains(b.Columns, j)
		})
		if v == 0 && inBand {
			return out, specError("Bands", "column %d has penalty 0 in %s, and is in a band", j+1, s.Penalty)
		}
	}
	p, err := choose.Penalties(prep.Inputs, out.P, out.Bands)
	if err != nil {
		return out, specError("Bands", "%w", err)
	}
	if out.ToChoose() == nil {
		out.P = p
	}
	return out, nil
}

// columnsOf parses a list of columns. For example, A+B-C means the column A and the columns from B to C. columnsOf
// returns their numbers, counted from 0. Error messages are about field.
func columnsOf(field Field, text string, prep *model.Preparation) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, "+") {
		lo, hi, err := rangeOf(field, part, prep)
		if err != nil {
			return nil, err
		}
		for j := lo; j <= hi; j++ {
			out = append(out, j)
		}
	}
	return out, nil
}

// rangeOf parses a column, given by name or number, or a range of columns such as A-B or A:B. A text that is a
// column name as a whole is never read as a range.
func rangeOf(field Field, text string, prep *model.Preparation) (lo, hi int, err error) {
	if j, ok := columnOf(text, prep); ok {
		return j, j, nil
	}
	for i, c := range text {
		if c != '-' && c != ':' {
			continue
		}
		lo, first := columnOf(text[:i], prep)
		hi, last := columnOf(text[i+1:], prep)
		if !first || !last {
			continue
		}
		if hi < lo {
			return 0, 0, specError(field, "%q ends before it begins", errtext.Excerpt(text))
		}
		return lo, hi, nil
	}
	return 0, 0, specError(
		field,
		"%q is neither one of the %d columns nor a range: use numbers from 1 or header names",
		errtext.Excerpt(text),
		prep.Inputs,
	)
}

// columnOf returns the index of a column, counted from 0, and false if there is no such column. The argument text
// is the name of the column, or its number counted from 1.
func columnOf(text string, prep *model.Preparation) (int, bool) {
	if j := slices.Index(prep.Names, text); j >= 0 {
		return j, true
	}
	n, err := strconv.Atoi(text)
	return n - 1, err == nil && n >= 1 && n <= prep.Inputs
}

// readPenalty reads the penalties of d columns from the file Spec.Penalty, which has one row or one column. The
// fields of Spec about text files, such as Delimiter, also apply to this file.
func (r *resolved) readPenalty(
	ctx context.Context,
	seen map[string]dataset.Stamp,
	d int,
) ([]float64, error) {
	name := r.spec.Penalty
	opts, err := file.SeparateOptions(name, file.Options{
		Delimiter:  r.text.Delimiter,
		Header:     r.text.Header,
		Text:       r.text.Text,
		Skipped:    r.text.Skipped,
		Transposed: r.spec.Transposed,
		Origin:     file.Origin{Was: seen, Context: ctx},
	})
	if err != nil {
		return nil, err
	}
	src, err := file.Open([]string{name}, opts)
	if err != nil {
		return nil, err
	}
	var p []float64
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, specError("Penalty", "%s is sparse, must be one row or one column of numbers", name)
		}
		p = append(p, b.X...)
		if len(p) > d {
			break
		}
	}
	switch {
	case len(p) > d:
		return nil, specError("Penalty", "%s has more numbers than the %d input columns", name, d)
	case len(p) < d:
		return nil, specError("Penalty", "%s has %d numbers for %d input columns", name, len(p), d)
	}
	j := slices.IndexFunc(p, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) })
	if j >= 0 {
		return nil, specError("Penalty", "number %d of %s is %v, must be 0 or positive", j+1, name, p[j])
	}
	return p, nil
}
