package file

import (
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A Layout describes the rows of a file: its columns and which of them are targets. The
// rows of one file may follow those of another where their layouts agree.
type Layout struct {
	File   string
	Number int // of the file in its list, from 1
	Format string
	// Names are those of the features, and TargetNames those of the targets, nil
	// where the file gives none.
	Names, TargetNames []string
	Features, Targets  int
}

// Agrees returns nil where the rows of l may follow those of first, and otherwise an
// *[dataset.InputError] that says of both files what differs: the format, the number of
// targets or, but for labelled rows ([Labelled]), of features, or the names of columns, where both have any.
func (l Layout) Agrees(first Layout) error {
	var msg string
	switch {
	case l.Format != first.Format:
		msg = fmt.Sprintf("is %s where %s is %s", l.Format, first.File, first.Format)
	case l.Targets != first.Targets, l.Features != first.Features && !Labelled(l.Format):
		msg = fmt.Sprintf("has %d features and %d targets, %s has %d and %d", l.Features, l.Targets, first.File, first.Features, first.Targets)
	case l.Names == nil || first.Names == nil:
		return nil
	default:
		differ := difference("feature", l.Names, first.Names)
		if differ == "" {
			differ = difference("target", l.TargetNames, first.TargetNames)
		}
		if differ == "" {
			return nil
		}
		msg = fmt.Sprintf("its columns are not those of %s in the same order: %s", first.File, differ)
	}
	return &dataset.InputError{File: l.File, Msg: fmt.Sprintf("%s (files %d and %d of the list)", msg, l.Number, first.Number)}
}

// difference describes the first place where two lists of equal length differ, "" for none.
func difference(what string, names, others []string) string {
	for i, name := range names {
		if name != others[i] {
			return fmt.Sprintf("%s %d is %q, not %q", what, i+1, excerpt.Of(name), excerpt.Of(others[i]))
		}
	}
	return ""
}
