package jsonfields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// MarshalEach writes the struct common and the structs in items as one JSON object. names lists the members of the
// object in order. A name is the JSON name of a field of common, or otherwise of a field that all structs in items
// have. For a field of items, the member is the list of the values in all items, even if there is only one item:
//
//	{"gamma": 1.0, "error_bound": [1e-9, 2e-9]}
func MarshalEach[T any](
	names []string,
	common any,
	items []T,
) ([]byte, error) {
	single := fieldsOf(reflect.ValueOf(common))
	fields := make([][]field, len(items))
	for j := range items {
		fields[j] = fieldsOf(reflect.ValueOf(items[j]))
	}
	var out bytes.Buffer
	separator := "{"
	for _, name := range names {
		var text []byte
		var err error
		if i := named(single, name); i < 0 {
			text, err = list(fields, name)
		} else if text, err = single[i].marshal(); single[i].isLeftOut() {
			continue
		}
		if err != nil {
			return nil, err
		}
		out.WriteString(separator + strconv.Quote(name) + ":")
		out.Write(text)
		separator = ","
	}
	if out.Len() == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// list returns the values of the field called name in all structs, as a JSON list.
func list(items [][]field, name string) ([]byte, error) {
	values := make([]json.RawMessage, len(items))
	for j, fields := range items {
		var err error
		values[j], err = fields[named(fields, name)].marshal()
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(values)
}

// UnmarshalEach parses the output of [MarshalEach] into *common and *items. *items gets the length of the longest
// list. Shorter lists are ignored. A single value counts as a list of this value, because earlier versions of this
// program wrote single values. Names match regardless of upper and lower case.
//
// counts maps each member to the number of its values in the text. For a field of common, this number is 1.
func UnmarshalEach[T, U any](
	text []byte,
	common *T,
	items *[]U,
) (counts map[string]int, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, Explain(err)
	}
	members := make(map[string]json.RawMessage, len(all))
	for name, text := range all {
		members[strings.ToLower(name)] = text
	}
	counts = map[string]int{}
	single := reflect.ValueOf(common).Elem()
	setNull(single)
	for _, f := range fieldsOf(single) {
		if text, ok := members[f.name]; ok {
			if err := f.unmarshal(text); err != nil {
				return nil, err
			}
			counts[f.name] = 1
			delete(members, f.name)
		}
	}
	lists := map[string][]json.RawMessage{}
	longest := 0
	for _, f := range fieldsOf(reflect.New(reflect.TypeFor[U]()).Elem()) {
		text, ok := members[f.name]
		if !ok {
			continue
		}
		var values []json.RawMessage
		if f.unmarshal(text) == nil {
			values = append(values, text)
		} else if err := json.Unmarshal(text, &values); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, Explain(err))
		}
		lists[f.name] = values
		counts[f.name] = len(values)
		longest = max(longest, len(values))
	}
	*items = make([]U, longest)
	for j := range *items {
		value := reflect.ValueOf(&(*items)[j]).Elem()
		setNull(value)
		for _, f := range fieldsOf(value) {
			if values := lists[f.name]; len(values) == longest {
				if err := f.unmarshal(values[j]); err != nil {
					return nil, err
				}
			}
		}
	}
	return counts, nil
}
