package table

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
)

// A Field is the name of a field of [Spec] or [Env] in a [SpecError].
type Field string

// Flag returns the flag of the command for this field of [Spec]. For the field MissingTarget it is missing-target.
// The flag is the JSON name of the field, with "-" for each "_". Flag returns "" if f is not a field of Spec.
func (f Field) Flag() string {
	field, ok := reflect.TypeFor[Spec]().FieldByName(string(f))
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.ReplaceAll(name, "_", "-")
}

// A SpecError reports a field of [Spec] or [Env] that is invalid, or that contradicts other fields. By [errors.Is],
// it matches [engine.ErrInput].
type SpecError struct {
	Field Field // the field at fault; "" if the message is about the data
	rule  string
	args  []any
}

// specError returns a *SpecError about the field. The message is args formatted by rule. Other fields in args have
// the type [Field], so that [SpecError.Words] can rename them.
func specError(field Field, rule string, args ...any) *SpecError {
	return &SpecError{field, rule, args}
}

func (e *SpecError) Error() string {
	return "table: " + e.Words(func(f Field) string { return string(f) })
}

// Words returns the error message in which each field is called name(field). For example, a command can replace the
// names of fields by its flags.
func (e *SpecError) Words(name func(Field) string) string {
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		args[i] = arg
		if f, ok := arg.(Field); ok {
			args[i] = name(f)
		}
	}
	text := fmt.Errorf(e.rule, args...).Error()
	if e.Field == "" {
		return text
	}
	return name(e.Field) + ": " + text
}

// Unwrap returns the first error among the arguments of the message, or nil if there is none.
func (e *SpecError) Unwrap() error {
	for _, arg := range e.args {
		if err, ok := arg.(error); ok {
			return err
		}
	}
	return nil
}

// Is reports whether target is [engine.ErrInput]. All errors about invalid input match this error.
func (e *SpecError) Is(target error) bool { return target == errtext.ErrBadInput }

// checkMemory returns an error about field if the available memory is less than bytes. rule and args are the
// beginning of the message.
func checkMemory(bytes float64, field Field, rule string, args ...any) error {
	there := float64(rss.Available())
	if there == 0 || bytes <= there {
		return nil
	}
	limit := ""
	if l := rss.Limited(); l.Bytes > 0 {
		limit = " (" + l.String() + ")"
	}
	args = append(args, bytes/(1<<30), there/(1<<30), limit)
	return specError(field, rule+" takes about %.1f GiB, %.1f GiB are available%s; are there so many features?", args...)
}

// checkPreparation returns an error if the random weights for the Fourier features of p do not fit into memory.
func checkPreparation(p *model.Preparation) error {
	if p.Features == nil {
		return nil
	}
	bytes := 8 * float64(p.Inputs) * float64(p.Features.Components)
	return checkMemory(bytes, "Features", "rff:%d of %d columns", p.Features.Components, p.Inputs)
}

// unwrapPreparation returns the error that a *[model.PreparationError] contains. It returns any other error
// unchanged.
func unwrapPreparation(err error) error {
	if e, ok := errors.AsType[*model.PreparationError](err); ok {
		return errtext.BadInput("%w", e.Err)
	}
	return err
}
