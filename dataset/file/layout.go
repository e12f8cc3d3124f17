package file

import (
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/printable"
)

// A Layout describes the columns of a file. Rows of one file may follow rows of another if their layouts agree.
type Layout struct {
	File   string
	Number int // position of the file in the list of files, from 1
	Format string
	// Names and TargetNames are the names of the features and of the targets, or nil if the file has none.
	Names, TargetNames []string
	Features, Targets  int
}

// Agrees returns nil if rows with layout l may follow rows with the other layout. Otherwise it returns an
// *[dataset.InputError] that describes the difference. The formats and the numbers of features and targets must be
// equal; [Labelled] rows may differ in the number of features. If both layouts have column names, the names must be
// equal.
func (l Layout) Agrees(other Layout) error {
	var msg string
	switch {
	case l.Format != other.Format:
		msg = fmt.Sprintf("is %s, but %s is %s", l.Format, other.File, other.Format)
	case l.Targets != other.Targets, l.Features != other.Features && !Labelled(l.Format):
		msg = fmt.Sprintf(
			"has %d features and %d targets, %s has %d and %d",
			l.Features,
			l.Targets,
			other.File,
			other.Features,
			other.Targets,
		)
	case l.Names == nil || other.Names == nil:
		return nil
	default:
		differ := difference("feature", l.Names, other.Names)
		if differ == "" {
			differ = difference("target", l.TargetNames, other.TargetNames)
		}
		if differ == "" {
			return nil
		}
		msg = fmt.Sprintf("its columns differ from those of %s: %s", other.File, differ)
	}
	return &dataset.InputError{
		File: l.File,
		Msg:  fmt.Sprintf("%s (files %d and %d of the list)", msg, l.Number, other.Number),
	}
}

// difference describes the first difference of the lists, or returns "".
func difference(what string, names, others []string) string {
	for i, name := range names {
		if name != others[i] {
			return fmt.Sprintf("%s %d is %q, not %q", what, i+1, printable.Excerpt(name), printable.Excerpt(others[i]))
		}
	}
	return ""
}
