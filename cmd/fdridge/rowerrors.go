package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// hintAtModel adds a hint to an error about a row that cannot be predicted. The reason can be a missing value, a
// text instead of a number, or an unknown level of a category.
func hintAtModel(err error) error {
	if errors.Is(err, dataset.ErrUnknownLevel) {
		return fmt.Errorf("%w; --unknown ignore sets the columns of such a level to zero", err)
	}
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok {
		return err
	}
	switch {
	case e.Missing && e.NonFinite:
		return withHint(e, "if NaN is a missing value, fit a model with --missing mean or drop")
	case e.Missing && e.Omittable:
		return withHint(e, "fill it in, or fit a model with --missing mean or drop")
	case e.Missing:
		return withHint(e, "fill it in, or leave out --target, which predictions do not need")
	case e.Omittable:
		return withHint(e, "the model needs a number in this column")
	}
	return err
}

// hintAtTarget adds a hint to an error about rows that have no column with the name of one of the targets.
func hintAtTarget(err error, targets []string) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok {
		return err
	}
	for _, target := range targets {
		if strings.Contains(e.Msg, fmt.Sprintf("there is no column %q", errtext.Excerpt(target))) {
			return withHint(e, "without --target, predict needs no target")
		}
	}
	return err
}

// nameSketch adds a hint to an error about a missing value or a text: these rows are not the rows of the sketch.
func nameSketch(err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if ok && (e.Missing || e.Omittable) {
		return withHint(e, "these are not the rows of the sketch")
	}
	return err
}

// withHint returns a copy of the error e that also contains a hint for the user.
func withHint(e *dataset.InputError, hint string) error {
	other := *e
	other.Hint = hint
	return &other
}

// nameData adds the name of the data to an error about the rows if its message does not contain the name. It
// returns other errors unchanged.
func nameData(data string, err error) error {
	if data == "" {
		return err
	}
	err = prepare.NameRows(input.Name(data), err)
	_, source := errors.AsType[*dataset.SourceError](err)
	_, large := errors.AsType[*fd.RangeError](err)
	scaled, ok := errors.AsType[*dataset.InputError](err)
	unnamed := ok && scaled.File == "standardisation"
	if source || large || unnamed || errors.Is(err, ridge.ErrEmpty) {
		return fmt.Errorf("%s: %w", input.Name(data), err)
	}
	return err
}
