package file

import (
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A Layout describes the columns of a file. Two files can be read one after the other if their layouts agree.
type Layout struct {
	File   string
	Number int // position of the file in the list of files, from 1
	Format string
	// Names are the names of the features and TargetNames the names of the targets. They are nil if the file has no
	// names.
	Names, TargetNames []string
	Features, Targets  int
}

// Agrees returns nil if files with the layouts l and other can be read one after the other. Otherwise it returns an
// *[dataset.InputError] that describes the difference.
//
// The formats and the numbers of features and targets must be equal. Exception: files with [Labelled] rows may have
// different numbers of features. If both layouts have column names, the names must be equal.
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

// difference describes the first name that differs between the two lists. It returns "" if there is none.
func difference(what string, names, others []string) string {
	for i, name := range names {
		if name != others[i] {
			return fmt.Sprintf("%s %d is %q, not %q", what, i+1, errtext.Excerpt(name), errtext.Excerpt(others[i]))
		}
	}
	return ""
}
