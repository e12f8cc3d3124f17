// Package jsonfields writes structs as JSON and reads them. [Value] and [Encode] write any value, with every float64
// as a float. The other functions use the json tags of encoding/json, and a tag null with the number that the JSON
// value null stands for:
//
//	ErrorBound float64 `json:"error_bound" null:"+Inf"`
//
// A float64 with this tag is written as null if it is infinite or NaN. When reading, a field that is null or missing
// in the text gets the number in its tag, also in nested structs.
//
// Fields without a json tag, and fields with the tag "-", are not written. Names are in lower case. omitempty is the
// only option of encoding/json that is supported.
//
// The functions ignore the methods of the struct itself. So its MarshalJSON and UnmarshalJSON can call them.
package jsonfields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/errtext"
)

// A field is a field of a struct together with the name it has in JSON.
type field struct {
	name  string
	null  string // the number that null stands for, or ""
	omits bool   // the field has the option omitempty
	value reflect.Value
}

// fieldsOf returns the fields of a struct that have a JSON name, in order. It includes the fields of embedded
// structs.
func fieldsOf(v reflect.Value) []field {
	var out []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
		case name != "":
			out = append(out, field{name, f.Tag.Get("null"), options == "omitempty", v.Field(i)})
		case f.Anonymous:
			out = append(out, fieldsOf(v.Field(i))...)
		}
	}
	return out
}

// named returns the index of the field with the JSON name, or −1 if there is none.
func named(fields []field, name string) int {
	return slices.IndexFunc(fields, func(f field) bool { return f.name == name })
}

// isLeftOut reports whether the field is not written to JSON, because it is empty and has the option omitempty.
func (f field) isLeftOut() bool {
	return f.omits &&
		(f.value.IsZero() || f.value.Kind() == reflect.Slice && f.value.Len() == 0)
}

func (f field) marshal() ([]byte, error) {
	if f.null != "" && f.value.CanFloat() {
		x := f.value.Float()
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return []byte("null"), nil
		}
	}
	return encoder{}.appendValue(nil, f.value)
}

// unmarshal parses text into the field. If text is null, and the field is a struct or has the tag null, the field
// is left unchanged. A null in a list of numbers is an ErrInput, because encoding/json would read it as zero.
func (f field) unmarshal(text []byte) error {
	isNull := string(text) == "null"
	if isNull && (f.null != "" || f.value.Kind() == reflect.Struct) {
		return nil
	}
	if f.value.Type() == reflect.TypeFor[[]float64]() &&
		!isNull &&
		bytes.Contains(text, []byte("null")) {
		return errtext.BadInput("a number of %s is null", f.name)
	}
	if err := json.Unmarshal(text, f.value.Addr().Interface()); err != nil {
		return fmt.Errorf("%s: %w", f.name, Explain(err))
	}
	return nil
}

// setNull sets each field of a struct that has the tag null to the number in this tag. It includes nested structs.
func setNull(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch tag := v.Type().Field(i).Tag.Get("null"); {
		case f.Kind() == reflect.Struct:
			setNull(f)
		case tag == "" || !f.CanSet():
		case f.CanFloat():
			x, err := strconv.ParseFloat(tag, 64)
			must(err)
			f.SetFloat(x)
		default:
			x, err := strconv.ParseInt(tag, 10, 64)
			must(err)
			f.SetInt(x)
		}
	}
}

// must panics if err is not nil. err comes from parsing the number in a null tag.
func must(err error) {
	if err != nil {
		panic("jsonfields: invalid null tag: " + err.Error())
	}
}

// Marshal returns a struct as JSON.
func Marshal(v any) ([]byte, error) {
	var names []string
	for _, f := range fieldsOf(reflect.ValueOf(v)) {
		names = append(names, f.name)
	}
	return MarshalEach[struct{}](names, v, nil)
}

// Unmarshal parses the output of [Marshal]. If there is no error, it sets *v. Otherwise *v is unchanged.
func Unmarshal[T any](text []byte, v *T) error {
	var out T
	if _, err := UnmarshalEach(text, &out, new([]struct{})); err != nil {
		return err
	}
	*v = out
	return nil
}
