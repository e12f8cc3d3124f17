package input

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/table"
)

// NameFields makes an error of [table.Spec] readable for users: it replaces names of fields by names of flags.
func NameFields(err error) error {
	e, ok := err.(*table.SpecError)
	if !ok {
		return err
	}
	return &flagError{e.Words(flagOf), e}
}

// flagOf returns the flag that sets a field of [table.Spec] or [table.Env].
func flagOf(field table.Field) string {
	if flag := field.Flag(); flag != "" {
		return "--" + flag
	}
	return map[table.Field]string{"Cache": "--cache", "PlanOut": "--prepare-out", "Ranks": "--mpi"}[field]
}

// Settings returns the settings of s that a checkpoint records. The settings have the names of flags.
func Settings(s table.Spec) []batch.Setting {
	out := s.Settings()
	for i := range out {
		out[i].Name = flagOf(table.Field(out[i].Name))
	}
	return out
}

// A flagError is a *[table.SpecError] whose message names flags instead of fields.
type flagError struct {
	text string
	err  *table.SpecError
}

func (e *flagError) Error() string        { return e.text }
func (e *flagError) Unwrap() error        { return e.err.Unwrap() }
func (e *flagError) Is(target error) bool { return target == errtext.ErrBadInput }

// mostNumbers is the number of classes up to which labels that are numbers cause no warning.
const mostNumbers = 100

// warnNumbers warns if there are more than mostNumbers labels and all labels are numbers. The target may then be a
// number instead of a class.
func warnNumbers(labels []string, bar *cli.Progress, stderr io.Writer) {
	isText := func(label string) bool {
		_, err := strconv.ParseFloat(label, 64)
		return err != nil
	}
	if n := len(labels); n > mostNumbers && !slices.ContainsFunc(labels, isText) {
		bar.Warn(stderr, fmt.Sprintf(
			"--classes: the target has %d different numbers, each a class of its own; leave out --classes if it is a number", n))
	}
}

// Warn writes notes to stderr about how ambiguous text of the files was read. It also warns of categorical columns
// with too many levels, and of class labels that may be numbers. Call Warn before the pass over the rows.
func Warn(t *table.Table, bar *cli.Progress, stderr io.Writer) {
	for _, r := range t.Rows.Opened.Remarks() {
		bar.Remark(stderr, r)
	}
	if t.Classes != nil {
		warnNumbers(t.Classes.Labels, bar, stderr)
	}
	for _, d := range t.Doubts() {
		omit := "--columns"
		if columns := d.LeavesOut(); columns != "" {
			omit += "=" + columns
		}
		bar.Warn(
			stderr,
			fmt.Sprintf(
				"--onehot: %s has %d levels in %d rows, each with a column of its own; leave the column out (%s), or "+
					"remove it from --onehot if it is a number",
				d.Column,
				d.Levels,
				d.Rows,
				omit,
			),
		)
	}
}

// RemarkEnd writes a note to stderr if the end of the text read from a pipe seems to be missing. Call RemarkEnd
// after a pass has read all rows.
func RemarkEnd(rows *table.Rows, bar *cli.Progress, stderr io.Writer) {
	for _, r := range rows.Opened.EndRemarks() {
		bar.Remark(stderr, r)
	}
}
