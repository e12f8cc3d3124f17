package jsonfields

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Encode writes v to w as JSON, followed by a newline. The JSON is as [Value] returns it. If indent is not "",
// every member and every element gets its own line.
func Encode(w io.Writer, v any, indent string) error {
	text, err := Value(v)
	if err != nil {
		return err
	}
	return Write(w, text, indent)
}

// Write writes a JSON text as [Encode] does.
func Write(w io.Writer, text []byte, indent string) error {
	var out bytes.Buffer
	if indent == "" {
		out.Write(text)
	} else if err := json.Indent(&out, text, "", indent); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// Value returns v as JSON like [json.Marshal], but writes every float64 with a decimal point or an exponent. The
// reason is that Python and other languages parse 1 and 477300523269698200000 as integers. They parse 1.0 and
// 4.773005232696982e+20 as floats. The text of a float64 restores every bit.
//
// The tag option string of encoding/json is not supported. The null tags of this package have no effect.
func Value(v any) ([]byte, error) {
	return encoder{}.appendValue(nil, reflect.ValueOf(v))
}

// Text returns v as JSON like [Value], but does not escape the characters <, > and & for HTML.
func Text(v any) ([]byte, error) {
	return encoder{plain: true}.appendValue(nil, reflect.ValueOf(v))
}

// An encoder appends values as JSON.
type encoder struct {
	plain bool // no escapes for HTML
}

// other appends v as encoding/json writes it. It is used for the types that this package does not write itself.
func (e encoder) other(out []byte, v any) ([]byte, error) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(!e.plain)
	err := to.Encode(v)
	return append(out, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...), err
}

// AppendFloat appends a finite x as [Value] writes it.
func AppendFloat(out []byte, x float64) []byte {
	const large, small = 1e16, 1e-5
	format := byte('f')
	if size := math.Abs(x); size >= large || size < small && size != 0 {
		format = 'e'
	}
	from := len(out)
	out = strconv.AppendFloat(out, x, format, -1, 64)
	if !bytes.ContainsAny(out[from:], ".e") {
		out = append(out, ".0"...)
	}
	return out
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// appendValue appends v as JSON.
func (e encoder) appendValue(out []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() || isNil(v) {
		return append(out, "null"...), nil
	}
	if t := v.Type(); t.Implements(marshaler) || t.Implements(textMarshaler) {
		return e.other(out, v.Interface())
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		x := v.Float()
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, &json.UnsupportedValueError{Value: v, Str: fmt.Sprint(x)}
		}
		return AppendFloat(out, x), nil
	case reflect.Pointer, reflect.Interface:
		return e.appendValue(out, v.Elem())
	case reflect.Struct:
		return e.appendStruct(out, v)
	case reflect.Map:
		return e.appendMap(out, v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice &&
			v.Type().Elem().Kind() == reflect.Uint8 {
			break // encoding/json writes base64
		}
		return e.appendList(out, v)
	}
	return e.other(out, v.Interface())
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return v.IsNil()
	}
	return false
}

func (e encoder) appendList(out []byte, v reflect.Value) (_ []byte, err error) {
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		out, err = e.appendValue(out, v.Index(i))
		if err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// appendMap appends a map with keys that are strings or integers. As in encoding/json, the members are sorted by
// name.
func (e encoder) appendMap(out []byte, v reflect.Value) (_ []byte, err error) {
	type member struct {
		name  string
		value reflect.Value
	}
	var members []member
	for it := v.MapRange(); it.Next(); {
		members = append(members, member{fmt.Sprint(it.Key()), it.Value()})
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Compare(a.name, b.name)
	})
	out = append(out, '{')
	for i, m := range members {
		out, err = e.appendMember(out, i, m.name, m.value)
		if err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func (e encoder) appendStruct(out []byte, v reflect.Value) (_ []byte, err error) {
	out = append(out, '{')
	written := 0
	for _, m := range membersOf(v, 0) {
		if m.isLeftOut() {
			continue
		}
		out, err = e.appendMember(out, written, m.name, m.value)
		if err != nil {
			return nil, err
		}
		written++
	}
	return append(out, '}'), nil
}

// appendMember appends member number i of an object.
func (e encoder) appendMember(
	out []byte,
	i int,
	name string,
	value reflect.Value,
) ([]byte, error) {
	if i > 0 {
		out = append(out, ',')
	}
	out, err := e.other(out, name)
	if err != nil {
		return nil, err
	}
	return e.appendValue(append(out, ':'), value)
}

// A member is a field of a struct that encoding/json would write as a member of an object.
type member struct {
	name    string
	options []string
	value   reflect.Value
	depth   int // number of embedded structs around the field
}

func (m member) isLeftOut() bool {
	if slices.Contains(m.options, "omitzero") {
		if z, ok := m.value.Interface().(interface{ IsZero() bool }); ok {
			return z.IsZero()
		}
		return m.value.IsZero()
	}
	if !slices.Contains(m.options, "omitempty") {
		return false
	}
	switch m.value.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return m.value.Len() == 0
	case reflect.Struct:
		return false
	}
	return m.value.IsZero()
}

// membersOf returns the fields of a struct and of its embedded structs, in order. If several fields have the same
// name, only the one with the fewest embedded structs around it is kept.
func membersOf(v reflect.Value, depth int) []member {
	var all []member
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		value := v.Field(i)
		switch {
		case tag == "-":
			continue
		case f.Anonymous && name == "":
			if value.Kind() == reflect.Pointer {
				if value.IsNil() {
					continue
				}
				value = value.Elem()
			}
			if value.Kind() == reflect.Struct {
				all = append(all, membersOf(value, depth+1)...)
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		all = append(all, member{name, strings.Split(options, ","), value, depth})
	}
	least := map[string]int{}
	for _, m := range all {
		if d, ok := least[m.name]; !ok || m.depth < d {
			least[m.name] = m.depth
		}
	}
	return slices.DeleteFunc(all, func(m member) bool {
		return m.depth > least[m.name]
	})
}
