package jsonfields

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Explain returns err with a message for people who do not know Go, if err is an error of encoding/json about a text.
// It names the last JSON field on the way to a wrong value, and the byte of a syntax error. Other errors are returned
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

// describeValue describes the value of an [json.UnmarshalTypeError], such as "string" or "number 1e999".
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
