package npy

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/errtext"
)

// A field is a column of a structured array. NumPy describes the fields by a list such as
//
//	[('a', '<f8'), ('b', '<i4', (3,)), ('', '|V4')]
//
// In this list, b stands for three numbers, which become the columns b[1], b[2] and b[3]. An entry without a name
// is padding and becomes no column, unless it is a number.
type field struct {
	name  string
	descr string
	at    int  // position in a row, in bytes
	kind  kind // the zero kind if the entries are no numbers
}

// maxFields limits the fields of a structured array.
const maxFields = 1 << 16

var errFields = errors.New("has a malformed header: its list of fields cannot be read")

// cutList returns the text of a header with its first list replaced by an empty list, and the list that it cut out.
func cutList(text string) (rest, list string) {
	lo := outsideQuotes(text, "[")
	if lo < 0 {
		return text, ""
	}
	depth := 0
	for at := lo; ; {
		i := outsideQuotes(text[at:], "[]")
		if i < 0 {
			return text, ""
		}
		depth++
		if text[at+i] == ']' {
			depth -= 2
		}
		at += i + 1
		if depth == 0 {
			return text[:lo] + "[]" + text[at:], text[lo:at]
		}
	}
}

// outsideQuotes returns the index of the first byte of text that is one of characters and not in quotes, or −1.
func outsideQuotes(text, characters string) int {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && strings.IndexByte(characters, c) >= 0:
			return i
		}
	}
	return -1
}

// A literal is a parsed Python value: a string, an integer, a list or a tuple. The field text holds a string, or
// the digits of an integer. The field items holds the elements of a list or tuple.
type literal struct {
	text  string
	items []literal
	kind  byte // ' for a string, [ for a list, ( for a tuple, 0 for a number
}

// parseLiteral parses the Python literal at the start of text. It returns the literal and the text after it. depth
// is the number of lists and tuples around the literal.
func parseLiteral(text string, depth int) (l literal, rest string, err error) {
	text = strings.TrimLeft(text, " \t\n")
	if text == "" || depth > 8 {
		return l, "", errFields
	}
	switch l.kind = text[0]; l.kind {
	case '[', '(':
		end := map[byte]byte{'[': ']', '(': ')'}[l.kind]
		for text = text[1:]; ; {
			text = strings.TrimLeft(text, " \t\n,")
			if text == "" {
				return l, "", errFields
			}
			if text[0] == end {
				return l, text[1:], nil
			}
			var item literal
			item, text, err = parseLiteral(text, depth+1)
			if err != nil {
				return l, "", err
			}
			l.items = append(l.items, item)
		}
	case '\'', '"':
		quote := text[:1]
		l.kind = '\''
		for text = text[1:]; text != ""; text = text[1:] {
			if text[:1] == quote {
				return l, text[1:], nil
			}
			if text[0] == '\\' && len(text) > 1 {
				text = text[1:]
			}
			l.text += text[:1]
		}
		return l, "", errFields
	}
	end := strings.IndexAny(text+",", ",)] ")
	l.kind = 0
	l.text = text[:end]
	if _, err := strconv.Atoi(l.text); err != nil {
		return l, "", errFields
	}
	return l, text[end:], nil
}

// describeFields describes a structured array.
func describeFields(d description) (header, error) {
	out := header{fields: []field{}}
	list, rest, err := parseLiteral(d.descr, 0)
	if err != nil || rest != "" {
		return out, errFields
	}
	for _, item := range list.items {
		if err := out.addField(item); err != nil {
			return out, err
		}
	}
	if len(d.shape) != 1 {
		return out, fmt.Errorf("is a structured array of %d dimensions instead of 1", len(d.shape))
	}
	out.rows, out.cols = d.shape[0], len(out.fields)
	if out.rows < 0 || out.cols == 0 {
		return out, fmt.Errorf("is a structured array of %d rows and %d fields", out.rows, out.cols)
	}
	hi, lo := bits.Mul64(uint64(out.rows), uint64(out.record))
	if hi != 0 || lo > math.MaxInt64/2 {
		return out, fmt.Errorf("has shape %v, which is too large to be addressed", d.shape)
	}
	if out.rows == 0 {
		return out, errors.New("has no rows")
	}
	out.decode = out.decodeFields
	return out, nil
}

// addField adds the columns of a field of a structured array. The argument item is a tuple of the name (or a pair
// of title and name), the type and, if the field has several numbers, their shape.
func (h *header) addField(item literal) error {
	if item.kind != '(' || len(item.items) < 2 || len(item.items) > 3 {
		return errFields
	}
	name, kinds := item.items[0], item.items[1]
	if name.kind == '(' && len(name.items) == 2 {
		name = name.items[1]
	}
	if kinds.kind == '[' {
		return fmt.Errorf("has the nested field %q; make fields of its parts", errtext.Excerpt(name.text))
	}
	if name.kind != '\'' || kinds.kind != '\'' {
		return errFields
	}
	k, size, err := fieldKind(kinds.text)
	if err != nil {
		return fmt.Errorf(
			"has the field %q of type %q, which cannot be read",
			errtext.Excerpt(name.text),
			errtext.Excerpt(kinds.text),
		)
	}
	count := 1
	isList := len(item.items) == 3
	if isList {
		for _, n := range shapeOf(item.items[2]) {
			if n < 0 || n > maxFields || count*n > maxFields {
				return fmt.Errorf("has more than %d columns in the field %q", maxFields, errtext.Excerpt(name.text))
			}
			count *= n
		}
	}
	if len(h.fields)+count > maxFields ||
		size > math.MaxInt32-h.record ||
		count > 0 && size > (math.MaxInt32-h.record)/count {
		return fmt.Errorf("has more than %d columns, or rows of more than 2 GiB", maxFields)
	}
	for i := range count {
		f := field{
			name:  name.text,
			descr: kinds.text,
			at:    h.record,
			kind:  k,
		}
		if isList {
			f.name = fmt.Sprintf("%s[%d]", f.name, i+1)
		}
		if isPadding := name.text == "" && k.decode == nil; !isPadding {
			h.fields = append(h.fields, f)
		}
		h.record += size
	}
	return nil
}

// shapeOf returns the dimensions of a field. l is a number or a tuple of numbers.
func shapeOf(l literal) (shape []int) {
	if l.kind != '(' {
		l.items = []literal{l}
	}
	for _, item := range l.items {
		n, err := strconv.Atoi(item.text)
		if err != nil {
			n = -1
		}
		shape = append(shape, n)
	}
	return shape
}

// fieldKind returns the number type that NumPy calls descr, and the bytes of an entry. For texts, times and
// padding, k is the zero kind, because these are no numbers.
func fieldKind(descr string) (k kind, size int, err error) {
	if k, ok := kindOf(descr); ok {
		return k, k.size, nil
	}
	text := strings.TrimLeft(descr, "<>|=")
	if text == "" {
		return k, 0, errFields
	}
	count := text[1:]
	if i := strings.IndexByte(count, '['); i >= 0 { // the unit of a time
		count = count[:i]
	}
	size, err = strconv.Atoi(count)
	if err != nil ||
		size < 0 ||
		size > math.MaxInt32/4 ||
		!strings.Contains("SUVmMcfa", text[:1]) {
		return k, 0, errFields
	}
	if text[0] == 'U' {
		size *= 4
	}
	return k, size, nil
}

// decodeFields converts raw, the bytes of whole rows of a structured array, to numbers in dst. Entries that are no
// numbers, such as texts, become NaN.
func (h *header) decodeFields(dst []float64, raw []byte) {
	for j := range h.fields {
		f := &h.fields[j]
		k, at := j, f.at
		if f.kind.decode == nil {
			for ; k < len(dst); k += len(h.fields) {
				dst[k] = math.NaN()
			}
			continue
		}
		for ; k < len(dst); k += len(h.fields) {
			f.kind.decode(dst[k:k+1], raw[at:at+f.kind.size])
			at += h.record
		}
	}
}

// names returns the names of the columns of a structured array. For other arrays it returns nil.
func (h *header) names() []string {
	var names []string
	for _, f := range h.fields {
		names = append(names, f.name)
	}
	return names
}

// holds returns what column j has instead of numbers, such as "text". If the column has numbers, it returns "".
func (h *header) holds(j int) string {
	if h.fields == nil || h.fields[j].kind.decode != nil {
		return ""
	}
	switch descr := h.fields[j].descr; strings.TrimLeft(descr, "<>|=")[0] {
	case 'S', 'U', 'a':
		return "text"
	case 'm', 'M':
		return "times"
	default:
		return fmt.Sprintf("entries of type %q", errtext.Excerpt(descr))
	}
}

// label describes column j in errors.
func (h *header) label(j int) string {
	if h.fields == nil {
		return fmt.Sprintf("column %d", j+1)
	}
	return "column " + errtext.Excerpt(h.fields[j].name)
}

// isInteger reports whether column j holds integers.
func (h *header) isInteger(j int) bool {
	if h.fields == nil {
		return h.integers
	}
	return h.fields[j].kind.integers
}
