package input

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// textFlags state how text files are written.
type textFlags struct {
	decimal, skipRows, comment, firstIndex string
	marks                                  cli.List
}

func (o *textFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.decimal, "decimal", "", "decimal mark of numbers in text: . or , (default: detected)")
	f.Var(&o.marks, "missing-marks", "further texts or numbers A,B that stand for a missing value")
	f.StringVar(&o.skipRows, "skip-rows", "", "skip the first N lines of csv files, or lines A:B before the rows")
	f.StringVar(&o.comment, "comment", "", "skip lines of csv files that begin with this character")
	f.StringVar(&o.firstIndex, "first-index", "auto", "smallest index of svmlight rows: auto, 0 or 1")
	cli.SetValues(f, "decimal", ".", ",")
	cli.SetValues(f, "first-index", "auto", "0", "1")
}

// key returns a text that differs if the flags read rows differently. It is empty for the defaults.
func (o *textFlags) key() string {
	if !o.marks.Given && o.decimal == "" && o.skipRows == "" && o.comment == "" &&
		(o.firstIndex == "auto" || o.firstIndex == "") {
		return ""
	}
	return fmt.Sprintf(" text %q %q %q %q %q", o.decimal, o.marks.Items, o.skipRows, o.comment, o.firstIndex)
}

// apply sets the options for csv files.
func (o *textFlags) apply(to *csv.Options) error {
	if o.decimal != "" && o.decimal != "." && o.decimal != "," {
		return cli.BadInput("--decimal: %q must be . or a comma", excerpt.Of(o.decimal))
	}
	if err := cli.OneOf("first-index", o.firstIndex, "", "auto", "0", "1"); err != nil {
		return err
	}
	to.Text = prepare.Text{Decimal: o.decimal, Marks: o.marks.Items}
	if o.firstIndex != "auto" {
		to.Text.FirstIndex = o.firstIndex
	}
	if len(o.comment) > 1 || strings.ContainsAny(o.comment, "\"\r\n.+-0123456789") {
		return cli.BadInput("--comment: %q must be one character that begins no number", excerpt.Of(o.comment))
	}
	if o.comment != "" {
		to.Comment = o.comment[0]
	}
	for _, item := range cli.SplitList(o.skipRows) {
		lines, ok := parseLines(item)
		if !ok {
			return cli.BadInput("--skip-rows: %q must be a number of lines, or A:B with 1 <= A <= B", excerpt.Of(item))
		}
		to.Skip = append(to.Skip, lines)
	}
	return nil
}

// parseLines parses a range A:B of lines, or N for the first N lines.
func parseLines(text string) (csv.Lines, bool) {
	a, b, ok := strings.Cut(text, ":")
	if !ok {
		a, b = "1", text
	}
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	return csv.Lines{
			First: first,
			Last:  last,
		}, err1 == nil && err2 == nil && 1 <= first && first <= last &&
			last < math.MaxInt32
}
