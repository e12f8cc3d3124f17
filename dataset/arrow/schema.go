package arrow

import (
	"errors"
	"fmt"
	"slices"
)

// Types of columns, numbered as in Apache Arrow's Schema.fbs.
const (
	typeNull = iota + 1
	typeInt
	typeFloat
	typeBinary
	typeText
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedBinary
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeText
	typeLargeList
	typeRuns
	typeBinaryView
	typeTextView
	typeListView
	typeLargeListView
)

// typeNames are the names of types in error messages.
var typeNames = map[byte]string{
	typeDate:      "date",
	typeTime:      "time",
	typeTimestamp: "timestamp",
	typeInterval:  "interval",
	typeDuration:  "duration",
	typeRuns:      "runs",
}

// A dataType is the type of a column.
type dataType struct {
	id         byte
	bits       int // of a number or of an offset
	signed     bool
	perSecond  int64 // units of a timestamp per second, −86400 for days
	scale      int32 // of a decimal
	items      int   // length of a list of fixed length
	dense      bool  // whether a union is dense
	children   []field
	dictionary int64     // number of the dictionary
	index      *dataType // type of the indices; nil if there is no dictionary
}

// A field is a column of the schema.
type field struct {
	name string
	dataType
}

// isText reports whether the values are texts. The texts may be dictionary-encoded.
func (t *dataType) isText() bool {
	return t.id == typeText || t.id == typeLargeText || t.id == typeTextView
}

// isNumber reports whether the values can be converted to float64.
func (t *dataType) isNumber() bool {
	switch t.id {
	case typeBool:
		return true
	case typeFloat:
		return 16 <= t.bits && t.bits <= 64
	case typeInt:
		return slices.Contains([]int{8, 16, 32, 64}, t.bits)
	case typeDecimal:
		return slices.Contains([]int{32, 64, 128, 256}, t.bits)
	}
	return false
}

func (t *dataType) isFloat64() bool {
	return t.id == typeFloat &&
		t.bits == 64 &&
		t.index == nil
}

// item returns the type of the items if t is a list of fixed length. Otherwise it returns t.
func (t *dataType) item() *dataType {
	if t.id == typeFixedList && t.index == nil {
		return &t.children[0].dataType
	}
	return t
}

// A schemaDecoder counts the fields and the bytes of names while it decodes a schema. The counts are limited,
// because in a small file many fields can refer to the same long name or to the same children.
type schemaDecoder struct {
	fields, names int
}

func schemaOf(schema table) (fields []field, err error) {
	if schema.int16(0) != 0 {
		return nil, errors.New("the numbers are big-endian; write them as little-endian")
	}
	d := new(schemaDecoder)
	err = schema.tables(1, func(t table) error {
		f, err := d.field(t, 0)
		fields = append(fields, f)
		return err
	})
	return fields, err
}

func (d *schemaDecoder) field(t table, depth int) (f field, err error) {
	name, _, _ := t.vector(0, 1)
	d.fields++
	d.names += len(name)
	if d.fields > maxColumns || depth > maxDepth || d.names > maxMeta {
		return f, fmt.Errorf(
			"there are more than %d columns, more than %d levels of nesting, or names of more than %d MiB",
			maxColumns,
			maxDepth,
			maxMeta>>20,
		)
	}
	f.name = string(name)
	of, ok := t.table(3)
	if !ok {
		return f, errors.New("a column has no type")
	}
	f.setType(t.byte(2), of)
	err = t.tables(5, func(child table) error {
		c, err := d.field(child, depth+1)
		f.children = append(f.children, c)
		return err
	})
	if encoding, ok := t.table(4); ok {
		f.dictionary = encoding.int64(0)
		f.index = &dataType{id: typeInt, bits: 32, signed: true}
		if index, ok := encoding.table(1); ok {
			f.index.setType(typeInt, index)
		}
	}
	lists := []byte{typeList, typeFixedList, typeMap, typeLargeList, typeListView, typeLargeListView}
	switch bad := f.items < 0 || f.id == 0 || f.id > typeLargeListView; {
	case err != nil:
		return f, err
	case bad, slices.Contains(lists, f.id) &&
		len(f.children) != 1, f.id == typeRuns &&
		len(f.children) != 2:
		return f, fmt.Errorf("column %q has a damaged type", f.name)
	}
	return f, nil
}

func (t *dataType) setType(id byte, of table) {
	t.id = id
	switch id {
	case typeInt:
		t.bits = int(of.int32(0))
		t.signed = of.byte(1) != 0
	case typeFloat:
		t.bits = 16 << of.int16(0)
	case typeBool:
		t.bits = 1
	case typeDecimal:
		t.scale = of.int32(1)
		t.bits = int(of.int32(2))
		if of.place(2) == 0 { // older versions of the format have only one width
			t.bits = 128
		}
	case typeDate:
		t.bits, t.perSecond = 64, 1e3
		if of.place(0) > 0 && of.int16(0) == 0 {
			t.bits = 32
			t.perSecond = -86400
		}
	case typeTimestamp:
		t.bits = 64
		t.perSecond = [4]int64{1, 1e3, 1e6, 1e9}[of.int16(0)]
	case typeText, typeBinary:
		t.bits = 32
	case typeLargeText, typeLargeBinary:
		t.bits = 64
	case typeFixedList:
		t.items = int(of.int32(0))
	case typeUnion:
		t.dense = of.int16(0) == 1
	}
}

// buffers returns the number of buffers of a column of type t, without the buffers of its children. Before version
// 5 of the format, a union has one buffer more, the bitmap of nulls.
func (t *dataType) buffers(version int16) int {
	if t.index != nil {
		return 2
	}
	switch t.id {
	case typeNull, typeRuns:
		return 0
	case typeStruct, typeFixedList:
		return 1
	case typeUnion:
		n := 1
		if t.dense {
			n++
		}
		if version < 4 {
			n++
		}
		return n
	case typeBinary, typeText, typeLargeBinary, typeLargeText, typeListView, typeLargeListView:
		return 3
	}
	return 2
}
