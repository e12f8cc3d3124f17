package parquet

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"sync"
)

// A thrift decodes data in the compact protocol of Thrift, see "thrift-compact-protocol.md" in
// github.com/apache/thrift. rest are the bytes not decoded yet. If the data are damaged, bad becomes true.
type thrift struct {
	rest         []byte
	bad          bool
	elementsLeft int // number of elements of lists that may still be decoded
}

// Types of values.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// unmarshal decodes a struct from the start of b into *v. The tags of the struct's fields are the field numbers of
// Thrift. It returns the number of bytes of the encoded struct, or 0 if they are damaged.
func unmarshal(b []byte, v any) int {
	t := &thrift{rest: b, elementsLeft: len(b)/8 + 1} // the structs in a footer have at least 8 bytes
	t.value(thriftStruct, reflect.ValueOf(v).Elem(), 0, false)
	if t.bad {
		return 0
	}
	return len(b) - len(t.rest)
}

// take returns the next n bytes.
func (t *thrift) take(n uint64) []byte {
	if n > uint64(len(t.rest)) {
		t.rest, t.bad = nil, true
		return nil
	}
	b := t.rest[:n]
	t.rest = t.rest[n:]
	return b
}

func (t *thrift) byte() byte {
	if b := t.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.rest)
	t.bad = t.bad || n <= 0
	t.take(uint64(max(n, 0)))
	return v
}

// value decodes a value of the given kind into v. If v is the zero reflect.Value, it skips the value. element
// states whether the value is an element of a list. A boolean in a list is one byte. A boolean field has no bytes;
// its kind is thriftTrue or thriftFalse.
func (t *thrift) value(kind byte, v reflect.Value, depth int, element bool) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	is := func(want reflect.Kind) bool {
		t.bad = t.bad || v.IsValid() && v.Kind() != want
		return v.IsValid() && !t.bad
	}
	t.bad = t.bad || depth > 64
	if t.bad {
		return
	}
	switch {
	case kind == thriftTrue || kind == thriftFalse:
		if element {
			kind = t.byte()
		}
		if is(reflect.Bool) {
			v.SetBool(kind == thriftTrue)
		}
	case kind == thriftByte:
		t.take(1)
		t.bad = t.bad || v.IsValid() // no field to be read has this type
	case kind > thriftByte && kind <= thriftInt64:
		n := unzigzag(t.uvarint())
		t.bad = t.bad || v.IsValid() && (!v.CanInt() || v.OverflowInt(n))
		if v.IsValid() && !t.bad {
			v.SetInt(n)
		}
	case kind == thriftDouble:
		t.take(8)
	case kind == thriftBinary:
		b := t.take(t.uvarint())
		if is(reflect.String) {
			v.SetString(string(b))
		}
	case kind == thriftList || kind == thriftSet:
		is(reflect.Slice)
		if !t.bad {
			t.list(v, depth)
		}
	case kind == thriftMap:
		if n := t.uvarint(); n > 0 {
			for kinds := t.byte(); n > 0 && !t.bad; n-- {
				t.value(kinds>>4, reflect.Value{}, depth+1, true)
				t.value(kinds&15, reflect.Value{}, depth+1, true)
			}
		}
	case kind == thriftStruct:
		is(reflect.Struct)
		if !t.bad {
			t.fields(v, depth)
		}
	case kind == thriftUUID:
		t.take(16)
	default:
		t.bad = true
	}
}

func (t *thrift) list(v reflect.Value, depth int) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && !t.bad; n-- {
		var element reflect.Value
		if v.IsValid() {
			t.elementsLeft--
			if t.elementsLeft < 0 {
				t.bad = true
				return
			}
			v.Grow(1)
			v.SetLen(v.Len() + 1)
			element = v.Index(v.Len() - 1)
		}
		t.value(head&15, element, depth+1, true)
	}
}

func (t *thrift) fields(v reflect.Value, depth int) {
	var numbers map[int16]int
	if v.IsValid() {
		numbers = fieldsOf(v.Type())
	}
	for id := int16(0); !t.bad; {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := int16(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int16(unzigzag(t.uvarint()))
		}
		var field reflect.Value
		if i, ok := numbers[id]; ok {
			field = v.Field(i)
		}
		t.value(head&15, field, depth+1, false)
	}
}

// numbersOf holds a map for each struct type. The map gives the index of the struct's field with a Thrift field
// number.
var numbersOf sync.Map // of map[int16]int by reflect.Type

func fieldsOf(t reflect.Type) map[int16]int {
	if known, ok := numbersOf.Load(t); ok {
		return known.(map[int16]int)
	}
	out := map[int16]int{}
	for i := range t.NumField() {
		if id, err := strconv.Atoi(t.Field(i).Tag.Get("thrift")); err == nil {
			out[int16(id)] = i
		}
	}
	numbersOf.Store(t, out)
	return out
}

func unzigzag(v uint64) int64 {
	return int64(v>>1) ^ -int64(v&1)
}
