package main

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/choose"
)

// penaltyFlags say what columns are penalised by, each or in groups.
type penaltyFlags struct {
	penalty string // a file
	bands   string
}

func (o *penaltyFlags) register(f *pflag.FlagSet, when string) {
	f.StringVar(&o.penalty, "penalty", "", "a file of one number > 0 for each input column: γ·Σ pⱼxⱼ² in place of γ‖x‖²; "+when)
	f.StringVar(&o.bands, "bands", "", "groups of input columns with one penalty each, as --penalty has them for each column: 1-10=1,11-20=100, by numbers, from 1, or header names, several as A+B, ranges as A-B or A:B; columns in no group have 1. Without =P the penalty is chosen, together with --gamma auto, by GCV")
}

// check validates them, for rows or a sketch with or without computed features, and γ that is
// chosen or not.
func (o *penaltyFlags) check(features bool) error {
	switch {
	case o.penalty != "" && o.bands != "":
		return badInput("--bands: --penalty says what each column is penalised by; give one of them")
	case o.penalty != "" && features:
		return badInput("--penalty: the penalty is of input columns, and --features makes others of them")
	case o.bands != "" && features:
		return badInput("--bands: the penalties are of input columns, and --features makes others of them")
	}
	_, err := o.split()
	return err
}

// A namedBand is one of --bands as it is written: columns, and a penalty, which is 0 where it is to
// be chosen.
type namedBand struct {
	columns string
	penalty float64
}

// split reads the parts of --bands.
func (o *penaltyFlags) split() ([]namedBand, error) {
	var out []namedBand
	for _, part := range splitList(o.bands) {
		b := namedBand{columns: part}
		if i := strings.LastIndexByte(part, '='); i >= 0 {
			p, err := parseNumber(part[i+1:])
			if err != nil || !(p > 0) || math.IsInf(p, 0) {
				return nil, badInput("--bands: the penalty of %q must be a number > 0; columns that are next to unpenalised have a small one", excerpt.Of(part))
			}
			b.columns, b.penalty = part[:i], p
		}
		if b.columns == "" {
			return nil, badInput("--bands: %q names no columns", excerpt.Of(part))
		}
		out = append(out, b)
	}
	if o.bands != "" && len(out) == 0 {
		return nil, badInput("--bands: no group of columns is named")
	}
	return out, nil
}

// chooses says that a penalty is to be chosen.
func (o *penaltyFlags) chooses() bool {
	bands, err := o.split()
	return err == nil && slices.ContainsFunc(bands, func(b namedBand) bool { return b.penalty == 0 })
}

// given returns the bands with their penalties, and without their columns, which the data have.
func (o *penaltyFlags) given() (out []choose.Band) {
	bands, _ := o.split() // checked
	for _, b := range bands {
		out = append(out, choose.Band{Name: b.columns, Penalty: b.penalty})
	}
	return out
}

// checkGiven refuses penalties that are to be chosen by a command that chooses nothing.
func (o *penaltyFlags) checkGiven(command string) error {
	if o.chooses() {
		return badInput("--bands: %s chooses no penalties; fit and solve do, with --gamma auto", command)
	}
	return nil
}

// files are those that are read.
func (o *penaltyFlags) files() []string { return withoutArrays([]string{o.penalty}) }

// A penalised is what the flags say of columns that are known: p for each, nil for 1 or where
// penalties are to be chosen; and the bands.
type penalised struct {
	p     []float64
	bands []choose.Band
}

// read makes of the flags what they say of columns.
func (o *penaltyFlags) read(ctx context.Context, seen map[string]dataset.Stamp, prep *model.Preparation) (penalised, error) {
	if o.penalty != "" {
		p, err := readPenalty(ctx, o.penalty, seen, prep.Inputs)
		return penalised{p: p}, err
	}
	named, err := o.split()
	if err != nil || named == nil {
		return penalised{}, err
	}
	var out penalised
	for _, b := range named {
		columns, err := columnsOf(b.columns, prep)
		if err != nil {
			return out, err
		}
		out.bands = append(out.bands, choose.Band{Name: b.columns, Columns: columns, Penalty: b.penalty})
	}
	p, err := choose.Penalties(prep.Inputs, out.bands)
	if err != nil {
		return out, badInput("--bands: %w", err)
	}
	if !o.chooses() {
		out.p = p
	}
	return out, nil
}

// columnsOf are those that A+B-C+… names, counted from 0.
func columnsOf(text string, prep *model.Preparation) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, "+") {
		lo, hi, err := rangeOf(part, prep)
		if err != nil {
			return nil, err
		}
		for j := lo; j <= hi; j++ {
			out = append(out, j)
		}
	}
	return out, nil
}

// rangeOf is a name or number, or two of them with - or : between. What is a name as it stands is
// one, whatever is in it.
func rangeOf(text string, prep *model.Preparation) (lo, hi int, err error) {
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
			return 0, 0, badInput("--bands: %q ends before it begins", excerpt.Of(text))
		}
		return lo, hi, nil
	}
	return 0, 0, badInput("--bands: %q is no column, and no range of columns, of the %d: a number from 1, or a header name", excerpt.Of(text), prep.Inputs)
}

// columnOf is the column of a header name or 1-based number.
func columnOf(text string, prep *model.Preparation) (int, bool) {
	if j := slices.Index(prep.Names, text); j >= 0 {
		return j, true
	}
	n, err := strconv.Atoi(text)
	return n - 1, err == nil && n >= 1 && n <= prep.Inputs
}

// readPenalty reads the d numbers of a file, which are a row or a column.
func readPenalty(ctx context.Context, name string, seen map[string]dataset.Stamp, d int) ([]float64, error) {
	src, err := file.Open([]string{name}, file.Options{Origin: file.Origin{Was: seen}})
	if err != nil {
		return nil, err
	}
	var p []float64
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, badInput("--penalty: %s is sparse, must be a row or a column of numbers", name)
		}
		p = append(p, b.X...)
		if len(p) > d {
			break
		}
	}
	switch {
	case len(p) > d:
		return nil, badInput("--penalty: %s holds more numbers than one for each of the %d input columns", name, d)
	case len(p) < d:
		return nil, badInput("--penalty: %s holds %d of the %d numbers that there must be, one for each input column", name, len(p), d)
	}
	if j := slices.IndexFunc(p, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }); j >= 0 {
		return nil, badInput("--penalty: number %d of %s is %v, must be positive", j+1, name, p[j])
	}
	return p, nil
}
