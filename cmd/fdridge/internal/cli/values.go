// Package cli contains what the commands share: parsing of flag values, checks of input and output files, and the
// display of progress.
package cli

import (
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/internal/errtext"
)

// A Single is the value of a text flag that may be given only once. The package pflag alone would silently use the
// last value of a repeated flag.
type Single struct {
	Value string
	Given bool
	again string // second value, if the flag was given twice
	twice bool
	Hint  string // advice for a flag that was given twice
}

func (o *Single) String() string { return o.Value }
func (o *Single) Type() string   { return "string" }

// Set stores the first value. A second value causes no error here, because the package cobra sets each flag twice
// during shell completion. [CheckSingle] reports a second value later.
func (o *Single) Set(s string) error {
	if o.Given {
		o.again, o.twice = s, true
		return nil
	}
	o.Value, o.Given = s, true
	return nil
}

// CheckSingle returns an error if a flag of type [Single] or [List] was given twice.
func CheckSingle(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		given, ok := f.Value.(interface{ single() *Single })
		if !ok || err != nil {
			return
		}
		if o := given.single(); o.twice {
			err = BadInput(
				"--%s: given twice (%s, %s)%s", f.Name, errtext.Excerpt(o.Value), errtext.Excerpt(o.again), o.Hint,
			)
		}
	})
	return err
}

func (o *Single) single() *Single { return o }

// A List is the value of a flag that takes a comma-separated list, see [SplitList]. The flag may be given only
// once, and the list may not be empty.
type List struct {
	Single
	Items []string
}

// Set parses the list.
func (o *List) Set(s string) error {
	o.Items = SplitList(s)
	if len(o.Items) == 0 {
		return errors.New("the list is empty")
	}
	o.Hint = "; several are one list, A,B"
	return o.Single.Set(s)
}

// ParseGammas parses a comma-separated list of values of the ridge penalty γ. They must be positive and finite. The
// value 0 is accepted only if allowZero is true.
func ParseGammas(text string, allowZero bool) ([]float64, error) {
	var out []float64
	for _, s := range strings.Split(text, ",") {
		g, err := ParseNumber(strings.TrimSpace(s))
		switch {
		case errors.Is(err, strconv.ErrRange):
			return nil, BadInput("--gamma: %v is outside the range of float64", errtext.Excerpt(s))
		case err != nil:
			return nil, BadInput("--gamma: %q is not a number", errtext.Excerpt(s))
		case g == 0 && allowZero:
		case !(g > 0) || math.IsInf(g, 0):
			return nil, BadInput(
				"--gamma: %v must be positive and finite (0 only as fit --gamma 0, not as a candidate of auto)",
				errtext.Excerpt(s),
			)
		}
		out = append(out, g)
	}
	return out, nil
}

// ParseNumber parses a number. It refuses underscores between digits. It also refuses a nonzero number that is so
// small that it would be rounded to 0.
func ParseNumber(s string) (float64, error) {
	if strings.Contains(s, "_") {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && v == 0 {
		mantissa := s
		if end := strings.IndexAny(s, "eEpP"); end >= 0 {
			mantissa = s[:end]
		}
		mantissa = strings.TrimPrefix(strings.ToLower(mantissa), "0x")
		if strings.ContainsAny(mantissa, "123456789abcdef") {
			return 0, strconv.ErrRange
		}
	}
	return v, err
}

// OneOf returns an error unless value is one of the allowed values. The error message names the flag.
func OneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return BadInput("--%s: %q must be one of %s", flag, errtext.Excerpt(value), strings.Join(allowed, ", "))
}

// FirstError returns the first error that is not nil.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// BadInput returns an error that reports a wrong flag, file or number from the user.
func BadInput(format string, args ...any) error {
	return errtext.BadInput(format, args...)
}

// ValuesKey is the key of the flag annotation that [SetValues] writes. The annotation lists the allowed values of a
// flag.
const ValuesKey = "fdridge_values"

// SetValues records the allowed values of a flag, so that shell completion can suggest them.
func SetValues(f *pflag.FlagSet, flag string, values ...string) {
	if err := f.SetAnnotation(flag, ValuesKey, values); err != nil {
		panic(err) // the flag is not registered
	}
}

// SplitList splits a list at its commas and drops empty items. An item that contains a comma must be in double
// quotes.
func SplitList(text string) []string {
	items := strings.Split(text, ",")
	if strings.Contains(text, `"`) {
		r := csv.NewReader(strings.NewReader(text))
		r.TrimLeadingSpace = true
		if quoted, err := r.Read(); err == nil {
			items = quoted
		}
	}
	var out []string
	for _, s := range items {
		s = strings.TrimSpace(s)
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
