package input

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/choose"
)

// PenaltyFlags are the flags for penalties of single columns or of groups of columns.
type PenaltyFlags struct {
	Penalty     string // a file
	Bands       cli.List
	Unpenalized cli.List
	fits        bool // the command computes a fit, so columns may have no penalty
}

func (o *PenaltyFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.Penalty, "penalty", "", "file with one number for each input column, which multiplies gamma")
	f.Var(&o.Bands, "bands", "penalty of groups of columns: 1-10=1,11-20=100; without =P: chosen")
}

// RegisterUnpenalized adds --unpenalized. Only commands that fit rows have this flag.
func (o *PenaltyFlags) RegisterUnpenalized(f *pflag.FlagSet) {
	o.fits = true
	f.Var(&o.Unpenalized, "unpenalized", "columns without penalty, fitted like the intercept: names, numbers, A-C")
}

// Check validates the flags. The parameter features is true if the fit replaces the columns by computed features.
func (o *PenaltyFlags) Check(features bool) error {
	switch {
	case o.Penalty != "" && features:
		return cli.BadInput("--penalty: it applies to input columns and excludes --features")
	case o.Unpenalized.Given && features:
		return cli.BadInput("--unpenalized: it applies to input columns and excludes --features")
	case o.Bands.Given && features:
		return cli.BadInput("--bands: it applies to input columns and excludes --features")
	}
	_, err := o.split()
	return err
}

// A namedBand is an entry of --bands: a list of columns and their common penalty. Penalty 0 means that the program
// chooses the penalty.
type namedBand struct {
	columns string
	penalty float64
}

// split parses --bands.
func (o *PenaltyFlags) split() ([]namedBand, error) {
	var out []namedBand
	for _, part := range o.Bands.Items {
		b := namedBand{columns: part}
		if i := strings.LastIndexByte(part, '='); i >= 0 {
			p, err := cli.ParseNumber(part[i+1:])
			if err != nil || !(p > 0) || math.IsInf(p, 0) {
				return nil, cli.BadInput(
					"--bands: the penalty of %q must be a number > 0; for none, see fit --unpenalized",
					excerpt.Of(part),
				)
			}
			b.columns, b.penalty = part[:i], p
		}
		if b.columns == "" {
			return nil, cli.BadInput("--bands: %q names no columns", excerpt.Of(part))
		}
		out = append(out, b)
	}
	return out, nil
}

// choosesPenalty reports whether the program has to choose a penalty, because --bands contains a group without one.
func (o *PenaltyFlags) choosesPenalty() bool {
	bands, err := o.split()
	return err == nil && slices.ContainsFunc(bands, func(b namedBand) bool { return b.penalty == 0 })
}

// NamedBands returns the groups of --bands with their names and penalties. The column numbers are missing, because
// they depend on the data.
func (o *PenaltyFlags) NamedBands() (out []choose.Band) {
	bands, _ := o.split() // checked
	for _, b := range bands {
		out = append(out, choose.Band{Name: b.columns, Penalty: b.penalty})
	}
	return out
}

// CheckGiven returns an error if --bands contains a group without a penalty, because the given command cannot choose
// penalties.
func (o *PenaltyFlags) CheckGiven(command string) error {
	if o.choosesPenalty() {
		return cli.BadInput("--bands: %s cannot choose penalties; use fit or solve with --gamma auto", command)
	}
	return nil
}

// Files returns the input files.
func (o *PenaltyFlags) Files() []string { return withoutArrays([]string{o.Penalty}) }

// A Penalised holds the penalties of the columns. Columns are identified by number.
type Penalised struct {
	// P is the penalty of each column: the number in the file of --penalty, times the penalty of its band in --bands
	// unless the program chooses one. It is 0 for the columns of --unpenalized. nil means that all penalties are 1.
	P     []float64
	Bands []choose.Band
	Free  []int // columns of --unpenalized
}

// ToChoose returns the bands if the program has to choose the penalty of one of them, and otherwise nil.
func (p *Penalised) ToChoose() []choose.Band {
	if slices.ContainsFunc(p.Bands, func(b choose.Band) bool { return b.Penalty == 0 }) {
		return p.Bands
	}
	return nil
}

// Read returns the penalties that the flags define, for the columns of prep.
func (o *PenaltyFlags) Read(
	ctx context.Context,
	seen map[string]dataset.Stamp,
	prep *model.Preparation,
) (Penalised, error) {
	var out Penalised
	if o.Penalty != "" {
		var err error
		out.P, err = readPenalty(ctx, o.Penalty, seen, prep.Inputs)
		if err != nil {
			return out, err
		}
		if j := slices.Index(out.P, 0); j >= 0 && !o.fits {
			return out, cli.BadInput("--penalty: number %d of %s is 0, which only fit accepts", j+1, o.Penalty)
		}
	}
	for _, part := range o.Unpenalized.Items {
		columns, err := columnsOf("unpenalized", part, prep)
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
	named, err := o.split()
	if err != nil || named == nil {
		return out, err
	}
	for _, b := range named {
		columns, err := columnsOf("bands", b.columns, prep)
		if err != nil {
			return out, err
		}
		if slices.ContainsFunc(columns, func(j int) bool { return slices.Contains(out.Free, j) }) {
			return out, cli.BadInput("--unpenalized: a column is also in %q of --bands", excerpt.Of(b.columns))
		}
		out.Bands = append(out.Bands, choose.Band{Name: b.columns, Columns: columns, Penalty: b.penalty})
	}
	for j, v := range out.P {
		inBand := slices.ContainsFunc(out.Bands, func(b choose.Band) bool { return slices.Contains(b.Columns, j) })
		if v == 0 && inBand {
			return out, cli.BadInput("--bands: column %d has penalty 0 in %s, and is in a band", j+1, o.Penalty)
		}
	}
	p, err := choose.Penalties(prep.Inputs, out.P, out.Bands)
	if err != nil {
		return out, cli.BadInput("--bands: %w", err)
	}
	if out.ToChoose() == nil {
		out.P = p
	}
	return out, nil
}

// columnsOf parses a list of columns such as A+B-C, which means A and the range B to C. It returns their numbers,
// counted from 0. flag is the flag that error messages name.
func columnsOf(flag, text string, prep *model.Preparation) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, "+") {
		lo, hi, err := rangeOf(flag, part, prep)
		if err != nil {
			return nil, err
		}
		for j := lo; j <= hi; j++ {
			out = append(out, j)
		}
	}
	return out, nil
}

// rangeOf parses a column (name or number), or a range of columns such as A-B or A:B. A text that is itself a column
// name is never split.
func rangeOf(flag, text string, prep *model.Preparation) (lo, hi int, err error) {
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
			return 0, 0, cli.BadInput("--%s: %q ends before it begins", flag, excerpt.Of(text))
		}
		return lo, hi, nil
	}
	return 0, 0, cli.BadInput(
		"--%s: %q is neither one of the %d columns nor a range: use numbers from 1 or header names",
		flag,
		excerpt.Of(text),
		prep.Inputs,
	)
}

// columnOf returns the index of a column, counted from 0. text is the name of the column, or its number counted from
// 1.
func columnOf(text string, prep *model.Preparation) (int, bool) {
	if j := slices.Index(prep.Names, text); j >= 0 {
		return j, true
	}
	n, err := strconv.Atoi(text)
	return n - 1, err == nil && n >= 1 && n <= prep.Inputs
}

// readPenalty reads d penalties from a file with one row or one column.
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
			return nil, cli.BadInput("--penalty: %s is sparse, must be one row or one column of numbers", name)
		}
		p = append(p, b.X...)
		if len(p) > d {
			break
		}
	}
	switch {
	case len(p) > d:
		return nil, cli.BadInput("--penalty: %s has more numbers than the %d input columns", name, d)
	case len(p) < d:
		return nil, cli.BadInput("--penalty: %s has %d numbers for %d input columns", name, len(p), d)
	}
	if j := slices.IndexFunc(p, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) }); j >= 0 {
		return nil, cli.BadInput("--penalty: number %d of %s is %v, must be 0 or positive", j+1, name, p[j])
	}
	return p, nil
}
