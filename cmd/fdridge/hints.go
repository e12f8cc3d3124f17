package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
)

// nameColumns adds the flags to an error of rows to be fitted that says what would help.
func (o *inputFlags) nameColumns(err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	switch {
	case !ok:
	case e.Missing && e.NonFinite:
		return fmt.Errorf("%w (where NaN is a missing value, see --missing)", err)
	case e.Missing && e.Omittable:
		return fmt.Errorf("%w (--columns; or --missing mean or drop)", err)
	case e.Missing:
		return fmt.Errorf("%w (--missing drop leaves such rows out)", err)
	case e.Omittable && len(e.Texts)+len(e.Others) > 0:
		return fmt.Errorf("%w (%s)", err, o.withoutTexts(e))
	case e.Omittable:
		return fmt.Errorf("%w (--columns; or see --missing and --onehot)", err)
	}
	return err
}

// withoutTexts says by which flags the rows of an error can be read.
func (o *inputFlags) withoutTexts(e *dataset.InputError) string {
	const most = 40
	all := slices.Concat(e.Texts, e.Others)
	if len(all) > most || slices.ContainsFunc(all, func(name string) bool { return !plainName.MatchString(name) }) {
		return "--columns; or see --onehot"
	}
	oneHot := ""
	if len(e.Texts) > 0 {
		oneHot = "--onehot " + strings.Join(append(splitList(o.oneHot), e.Texts...), ",")
	}
	omit := func(names []string) string {
		if listed := splitList(o.columns); len(listed) > 0 && !strings.HasPrefix(listed[0], "-") {
			return "--columns without " + strings.Join(names, ",")
		}
		return "--columns=" + strings.Join(append(splitList(o.columns), minus(names)...), ",")
	}
	switch {
	case len(e.Texts) == 0:
		return omit(all)
	case len(e.Others) == 0:
		return oneHot + "; or " + omit(all)
	}
	return oneHot + " and " + omit(e.Others) + "; or " + omit(all)
}

// plainName matches names that a list of a flag takes as they are.
var plainName = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.:/%+-]*$`)

// minus puts a - before each name.
func minus(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "-" + name
	}
	return out
}

// nameModel says what would help where a model cannot predict for rows: none of its columns can be
// left out of them.
func nameModel(err error) error {
	if errors.Is(err, dataset.ErrUnknownLevel) {
		return fmt.Errorf("%w; --unknown ignore makes the columns of such a level zero", err)
	}
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok {
		return err
	}
	switch {
	case e.Missing && e.NonFinite:
		return hinted(e, "where NaN is a missing value fit a model with --missing mean or drop, which says what becomes of it")
	case e.Missing && e.Omittable:
		return hinted(e, "fill it in, or fit a model with --missing mean or drop, which says what becomes of it")
	case e.Missing:
		return hinted(e, "fill it in, or leave --target out: rows are predicted for without it")
	case e.Omittable:
		return hinted(e, "the model has a number of this column")
	}
	return err
}

// nameSketch is nameModel for rows that a sketch is to be of.
func nameSketch(err error) error {
	if e, ok := errors.AsType[*dataset.InputError](err); ok && (e.Missing || e.Omittable) {
		return hinted(e, "these are not the rows that the sketch is of")
	}
	return err
}

// hinted is an error with another hint.
func hinted(e *dataset.InputError, hint string) error {
	other := *e
	other.Hint = hint
	return &other
}
