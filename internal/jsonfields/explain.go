package jsonfields

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Explain replaces the message of an error of encoding/json by one for people who do not know Go. The message names
// the innermost JSON field that has a wrong value, or the byte of a syntax error. Explain returns other errors
// unchanged.
func Explain(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		text := fmt.Sprintf("%s instead of %s", describeValue(kind.Value), describeType(kind.Type))
		if kind.Field != "" {
			text = kind.Field[strings.LastIndexByte(kind.Field, '.')+1:] + ": " + text
		}
		return &explained{text, err}
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &explained{fmt.Sprintf("%v, after %d bytes", syntax, syntax.Offset), err}
	}
	if err != nil && strings.HasPrefix(err.Error(), "json: ") {
		return &explained{strings.TrimPrefix(err.Error(), "json: "), err}
	}
	return err
}

// An explained is an error with another message.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// describeValue returns words for the value in a [json.UnmarshalTypeError], such as "a text" for "string", and "the
// number 1e999" for "number 1e999".
func describeValue(value string) string {
	kind, number, _ := strings.Cut(value, " ")
	switch {
	case number != "":
		return "the number " + number
	case kind == "string":
		return "a text"
	case kind == "array":
		return "a list"
	case kind == "object":
		return "an object"
	case kind == "bool":
		return "true or false"
	}
	return "a " + kind
}

// describeType describes the values that a type accepts.
func describeType(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	switch t.Kind() {
	case reflect.Float64, reflect.Float32:
		return "a number in the range of float64"
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number"
	case reflect.Uint64, reflect.Uint32, reflect.Uint:
		return "a positive whole number"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return describeType(t.Elem())
	}
	return "an object"
}
