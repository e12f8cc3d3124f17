package table

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
)

// A Field is the name of a field of [Spec] or [Env], as it occurs in a [SpecError].
type Field string

// Flag returns the name that a field of [Spec] has as a flag of the command, such as missing-target: the name of the
// field in JSON, with - instead of _. It returns "" if f is not a field of Spec.
func (f Field) Flag() string {
	field, ok := reflect.TypeFor[Spec]().FieldByName(string(f))
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.ReplaceAll(name, "_", "-")
}

// A SpecError reports a field that is invalid, or that contradicts other fields. It matches [engine.ErrInput].
type SpecError struct {
	Field Field // the field at fault; "" if the message is about the data
	rule  string
	args  []any
}

// specError returns a *SpecError about the field. rule and args are the format of the message and its arguments. An
// argument that is the name of another field has the type [Field].
func specError(field Field, rule string, args ...any) *SpecError {
	return &SpecError{field, rule, args}
}

func (e *SpecError) Error() string {
	return "table: " + e.Words(func(f Field) string { return string(f) })
}

// Words returns the message with the names that the caller has for fields, for example flags.
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

// Unwrap returns the error that the message contains, if any.
func (e *SpecError) Unwrap() error {
	for _, arg := range e.args {
		if err, ok := arg.(error); ok {
			return err
		}
	}
	return nil
}

// Is reports whether target is [engine.ErrInput], which all errors about invalid input match.
func (e *SpecError) Is(target error) bool { return target == badinput.Err }

// checkMemory returns an error if bytes exceeds the available memory. rule and args are the beginning of the message.
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

// checkPreparation returns an error if the random weights of the Fourier features in p do not fit into memory.
func checkPreparation(p *model.Preparation) error {
	if p.Features == nil {
		return nil
	}
	bytes := 8 * float64(p.Inputs) * float64(p.Features.Components)
	return checkMemory(bytes, "Features", "rff:%d of %d columns", p.Features.Components, p.Inputs)
}

// unwrapPreparation returns the error inside a *[model.PreparationError]. It returns other errors unchanged.
func unwrapPreparation(err error) error {
	if e, ok := errors.AsType[*model.PreparationError](err); ok {
		return badinput.Errorf("%w", e.Err)
	}
	return err
}
