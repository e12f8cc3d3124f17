package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// ErrInput tells, by errors.Is, that what was given is at fault: shapes, values, files. All
// errors that are named here are. It is [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape reports sources whose dimensions disagree, as a *[SourceError]. It is [engine.ErrShape].
var ErrShape = engine.ErrShape

// ErrUnknownLevel reports, by errors.Is, a level of a categorical column that an [Encoding] has not
// learnt; the error is an *[InputError].
var ErrUnknownLevel = errors.New("dataset: an unknown level")

// A SourceError reports rows that are not there, or sources that do not go together. It is
// [ErrShape], whatever it says.
type SourceError struct{ Reason string }

func (e *SourceError) Error() string { return "dataset: " + e.Reason }

// Is tells that it is [ErrShape] and [ErrInput].
func (e *SourceError) Is(target error) bool { return target == ErrShape || target == ErrInput }

// unfit is a SourceError.
func unfit(format string, args ...any) error { return &SourceError{fmt.Sprintf(format, args...)} }

// noSource reports a nil source, nil where there is one.
func noSource(sources ...Source) error {
	for _, s := range sources {
		if s == nil {
			return unfit("no source of rows")
		}
	}
	return nil
}

// mismatched is one that tells two dimensions.
func mismatched(format string, args ...any) error {
	return unfit("dimensions disagree: "+format, args...)
}

// An InputError reports what is wrong with the data and where, printed as
// file:line:column: message. Line and Column are 1-based; 0 says that there is
// none to name. In text they are the line and the byte in it; in arrays (.npy
// files, data in memory, transformed rows) the row and the number of the column.
// NonFinite is set where a number is NaN, infinite or beyond the range of float64, Missing where
// there is no value, or NaN in an array, and Omittable where the rows can be read if the column, which is that of a
// feature, is left out, and the hint says so.
//
// Texts are the features that hold texts, and could be categorical (see [Cells]), as far as the file
// was read. Others are the features of other types that no number is made of. The message is about
// the first of all these. A column without a name is given by its number.
type InputError struct {
	File         string
	Line, Column int
	Msg          string
	NonFinite    bool
	Missing      bool
	Omittable    bool
	Texts        []string
	Others       []string
	Err          error  // the cause, if another error: [fs.ErrNotExist] of a file that there is not
	Hint         string // what would help, printed last; "": nothing is said

	unknownLevel bool // it is ErrUnknownLevel
}

func (e *InputError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			s += fmt.Sprintf(":%d", e.Column)
		}
	}
	s += ": " + e.Msg
	if e.Err != nil && e.Err != fs.ErrNotExist { // which Msg says
		s += ": " + excerpt.Message(e.Err.Error())
	}
	if n := len(e.Texts) + len(e.Others); n > 1 {
		s += fmt.Sprintf("; %d columns hold no numbers: %s", n, listed(slices.Concat(e.Texts, e.Others)))
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// listed are names, of many the first.
func listed(names []string) string {
	const most = 40
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return strings.Join(excerpt.All(names), ", ") + more
}

func (e *InputError) Unwrap() error { return e.Err }

// Is tells that it is [ErrInput], and [ErrUnknownLevel] where it is that.
func (e *InputError) Is(target error) bool {
	return target == ErrInput || e.unknownLevel && target == ErrUnknownLevel
}

// finite checks rows of cols numbers, of which the first is row first of what is
// called name.
func finite(name string, x []float64, first int64, cols int) error {
	if allFinite(x) {
		return nil
	}
	for i, v := range x {
		if v-v != 0 { // NaN or infinite
			return nonFinite(name, first+int64(i/cols), i%cols, v)
		}
	}
	return nil
}

// allFinite adds up x − x, which is 0 or NaN, without a branch and in four sums, so that no
// addition waits for the one before it.
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

func nonFinite(name string, row int64, col int, v float64) error {
	return &InputError{File: name, Line: int(row) + 1, Column: col + 1, Msg: fmt.Sprintf("%v is not finite", v), NonFinite: true}
}

// isFinite is false for NaN and ±Inf.
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
