package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
)

// ErrInput is the error for invalid shapes, values or files. All error types of this package match ErrInput by
// errors.Is. ErrInput equals [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape is the error for dimensions that disagree. Every *[SourceError] matches ErrShape by errors.Is. ErrShape
// equals [engine.ErrShape].
var ErrShape = engine.ErrShape

// ErrUnknownLevel is the error for a category that did not occur in the training rows; see package prepare. Every
// *[InputError] about such a category matches ErrUnknownLevel by errors.Is.
var ErrUnknownLevel = errors.New("dataset: an unknown level")

// A SourceError reports that rows are missing, or that sources do not fit together. It matches [ErrShape] and
// [ErrInput] by errors.Is.
type SourceError struct{ Reason string }

func (e *SourceError) Error() string { return "dataset: " + e.Reason }

// Is reports whether target is [ErrShape] or [ErrInput].
func (e *SourceError) Is(target error) bool {
	return target == ErrShape || target == ErrInput
}

func newSourceError(format string, args ...any) error {
	return &SourceError{fmt.Sprintf(format, args...)}
}

func checkSources(sources ...Source) error {
	for _, s := range sources {
		if s == nil {
			return newSourceError("the source of rows is nil")
		}
	}
	return nil
}

func newDimensionError(format string, args ...any) error {
	return newSourceError("dimensions disagree: "+format, args...)
}

// An InputError reports invalid data and their position. Its text has the form file:line:column: message. Line and
// Column are counted from 1, and 0 means unknown. In a text file, Column is the number of the byte in the line. In
// arrays and in transformed rows, Line and Column are the row and the column of the number.
//
// Texts lists the features that hold texts and could be categorical. Others lists the features whose cells are
// neither numbers nor texts. Both lists cover only the part of the file that was read. The message is about the
// first feature in the lists. A column without a name is listed by its number.
type InputError struct {
	File         string
	Line, Column int
	Row          int64 // number of the row, from 1, if Line is unknown; 0: unknown
	Msg          string
	NonFinite    bool // a number is NaN, infinite or beyond the range of float64
	Missing      bool // a value is missing, or NaN in an array
	UnknownLevel bool // a level did not occur in the training rows; errors.Is matches [ErrUnknownLevel]
	IsLabel      bool // the first target is a text; it may be the label of a class
	Omittable    bool // the rows can be read if this feature is left out; Hint describes how
	Texts        []string
	Others       []string
	Err          error  // the cause, or nil; [fs.ErrNotExist] if there is no such file
	Hint         string // advice, printed last; may be ""
}

func (e *InputError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			s += fmt.Sprintf(":%d", e.Column)
		}
	} else if e.Row > 0 {
		s += fmt.Sprintf(": row %d", e.Row)
	}
	s += ": " + e.Msg
	if e.Err != nil && e.Err != fs.ErrNotExist { // Msg covers fs.ErrNotExist
		s += ": " + errtext.Message(e.Err.Error())
	}
	if n := len(e.Texts) + len(e.Others); n > 1 {
		s += fmt.Sprintf("; %d columns are not numeric: %s", n, joinNames(slices.Concat(e.Texts, e.Others)))
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// joinNames joins the names by commas. Of more than 40 names, it joins the first 40.
func joinNames(names []string) string {
	const most = 40
	more := ""
	if len(names) > most {
		names = names[:most]
		more = ", …"
	}
	return strings.Join(errtext.Excerpts(names), ", ") + more
}

func (e *InputError) Unwrap() error { return e.Err }

// Is reports whether e matches target. Every InputError matches [ErrInput]. If UnknownLevel is set, it also matches
// [ErrUnknownLevel].
func (e *InputError) Is(target error) bool {
	return target == ErrInput || e.UnknownLevel && target == ErrUnknownLevel
}

// checkFinite returns an error if a number in x is not finite. The rows in x have cols numbers each, and the first
// of them is row firstRow.
func checkFinite(name string, x []float64, firstRow int64, cols int) error {
	if allFinite(x) {
		return nil
	}
	for i, v := range x {
		if v-v != 0 { // NaN or infinite
			return newNonFiniteError(name, firstRow+int64(i/cols), i%cols, v)
		}
	}
	return nil
}

// allFinite reports whether all numbers in x are finite. It adds up v − v for each number v. This difference is 0
// if v is finite, otherwise NaN. Four separate sums make the loop faster.
func allFinite(x []float64) bool {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0 += x[0] - x[0]
		s1 += x[1] - x[1]
		s2 += x[2] - x[2]
		s3 += x[3] - x[3]
	}
	for _, v := range x {
		s0 += v - v
	}
	return s0+s1+s2+s3 == 0
}

func newNonFiniteError(name string, row int64, col int, v float64) error {
	return &InputError{
		File:      name,
		Line:      int(row) + 1,
		Column:    col + 1,
		Msg:       fmt.Sprintf("%v is not finite", v),
		NonFinite: true,
	}
}
