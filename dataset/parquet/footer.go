package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// The footer of a Parquet file lists the columns and the positions of their values. Each struct tag below is the
// number of the field in parquet.thrift of github.com/apache/parquet-format.

// Physical types.
const (
	typeBool   = 0
	typeInt32  = 1
	typeInt64  = 2
	typeInt96  = 3
	typeFloat  = 4
	typeDouble = 5
	typeBytes  = 6
	typeFixed  = 7 // bytes of a fixed length
	lastType   = typeFixed
)

const (
	magic     = "PAR1"
	footerEnd = 8 // bytes after the footer: the length of the footer, and the magic bytes
)

type fileMetaData struct {
	Schema []element `thrift:"2"`
	Groups []group   `thrift:"4"`
	Writer string    `thrift:"6"` // program that wrote the file
}

// An element of the schema is a column or a group of elements.
type element struct {
	Kind       *int32       `thrift:"1"` // physical type; nil for a group
	Length     int32        `thrift:"2"` // bytes of a value of typeFixed
	Repetition int32        `thrift:"3"` // 0 required, 1 optional, 2 repeated
	Name       string       `thrift:"4"`
	Children   int32        `thrift:"5"`
	Converted  *int32       `thrift:"6"` // an older form of Logical
	Scale      int32        `thrift:"7"`
	Precision  int32        `thrift:"8"`
	Logical    *logicalType `thrift:"10"`
}

// A logicalType states what the values of a column mean, such as dates. At most one of its fields is not nil, and
// this field is the meaning.
type logicalType struct {
	Text    *struct{} `thrift:"1"`
	Decimal *struct {
		Scale     int32 `thrift:"1"`
		Precision int32 `thrift:"2"`
	} `thrift:"5"`
	Date      *struct{} `thrift:"6"`
	Time      *struct{} `thrift:"7"`
	Timestamp *struct {
		Unit struct {
			Milli *struct{} `thrift:"1"`
			Micro *struct{} `thrift:"2"`
			Nano  *struct{} `thrift:"3"`
		} `thrift:"2"`
	} `thrift:"8"`
	Int *struct {
		Signed bool `thrift:"2"`
	} `thrift:"10"`
	Float16 *struct{} `thrift:"15"`
}

// A group is a row group.
type group struct {
	Chunks []struct {
		File      string    `thrift:"1"`
		Chunk     chunk     `thrift:"3"`
		Encrypted *struct{} `thrift:"8"`
	} `thrift:"1"` // one per leaf
	Rows int64 `thrift:"3"`
}

// A chunk locates the values of a column in a row group.
type chunk struct {
	Kind       int32 `thrift:"1"`
	Codec      int32 `thrift:"4"`
	Values     int64 `thrift:"5"` // number of values, nulls included
	Data       int64 `thrift:"9"` // position of the first data page
	Dictionary int64 `thrift:"11"`
}

// A footer describes the columns and row groups of a file.
type footer struct {
	columns []element // outermost columns that hold a leaf
	leaf    []int     // for each column, the index of its first leaf
	groups  []group
	rows    int64 // in all row groups
	// packed is true if pages of version 2 are compressed, whatever their headers state.
	packed bool
}

// readFooter reads the footer of a file. size is the size of the file in bytes.
func readFooter(f io.ReaderAt, size int64) (*footer, error) {
	if size < int64(len(magic)+footerEnd) {
		return nil, fmt.Errorf("it has only %d bytes", size)
	}
	var end [footerEnd]byte
	if n, err := f.ReadAt(end[:], size-footerEnd); n < len(end) {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	switch is := string(end[4:]); {
	case is == "PARE":
		return nil, errors.New("it is encrypted")
	case is != magic:
		return nil, errors.New("it has no footer")
	case length > size-int64(len(magic)+footerEnd):
		return nil, fmt.Errorf("its footer has %d bytes, the file %d", length, size)
	}
	b := make([]byte, length)
	if n, err := f.ReadAt(b, size-footerEnd-length); n < len(b) {
		return nil, err
	}
	var m fileMetaData
	if unmarshal(b, &m) == 0 || len(m.Schema) == 0 {
		return nil, errors.New("its footer is damaged")
	}
	out, err := newFooter(m.Schema[1:], m.Groups)
	if err == nil {
		out.packed = strings.HasPrefix(m.Writer, "parquet-cpp version 1.") // Arrow before version 3
	}
	return out, err
}

// newFooter finds the outermost columns in a schema. The schema lists each element before the elements inside it.
func newFooter(schema []element, groups []group) (*footer, error) {
	f := &footer{groups: groups}
	leaves := 0
	for i := 0; i < len(schema); {
		column := schema[i]
		first := leaves
		for open := 1; open > 0; i++ { // open is the number of elements that must follow
			if i == len(schema) ||
				schema[i].Children < 0 ||
				schema[i].Children > 0 && schema[i].Kind != nil {
				return nil, errors.New("its schema is damaged")
			}
			if kind := schema[i].Kind; kind != nil {
				leaves++
				if *kind < 0 || *kind > lastType {
					return nil, fmt.Errorf("its schema has the unknown type number %d", *kind)
				}
			}
			open += int(schema[i].Children) - 1
		}
		if leaves > first {
			f.columns = append(f.columns, column)
			f.leaf = append(f.leaf, first)
		}
	}
	for i, g := range groups {
		if len(g.Chunks) != leaves {
			return nil, fmt.Errorf("row group %d has %d columns, the schema %d", i+1, len(g.Chunks), leaves)
		}
		if g.Rows < 0 || g.Rows > math.MaxInt64-f.rows {
			return nil, fmt.Errorf("row group %d has %d rows", i+1, g.Rows)
		}
		f.rows += g.Rows
		for _, c := range g.Chunks {
			if c.File != "" || c.Encrypted != nil {
				return nil, errors.New("its values are encrypted, or in other files")
			}
		}
	}
	return f, nil
}

// An annotation states the meaning of a physical type.
type annotation struct {
	name      string // "" for a plain physical type
	perSecond int64  // units of a timestamp per second, −86400 for a date
	scale     int32  // of a decimal
	precision int32
}

// converted lists the annotations for the values of element.Converted.
var converted = map[int32]annotation{
	0:  {name: "String"},
	4:  {name: "Enum"},
	6:  {name: "Date", perSecond: -86400},
	7:  {name: "Time"},
	8:  {name: "Time"},
	9:  {name: "Timestamp", perSecond: 1e3},
	10: {name: "Timestamp", perSecond: 1e6},
	11: {name: "UInt"},
	12: {name: "UInt"},
	13: {name: "UInt"},
	14: {name: "UInt"},
	15: {name: "Int"},
	16: {name: "Int"},
	17: {name: "Int"},
	18: {name: "Int"},
	19: {name: "JSON"},
	20: {name: "BSON"},
	21: {name: "Interval"},
}

// annotation returns the annotation of a column.
func (e *element) annotation() annotation {
	l := e.Logical
	switch {
	case l == nil && e.Converted == nil:
		return annotation{}
	case l == nil && *e.Converted == 5:
		return annotation{"Decimal", 0, e.Scale, e.Precision}
	case l == nil:
		if known, ok := converted[*e.Converted]; ok {
			return known
		}
	case l.Text != nil:
		return converted[0]
	case l.Decimal != nil:
		return annotation{"Decimal", 0, l.Decimal.Scale, l.Decimal.Precision}
	case l.Date != nil:
		return converted[6]
	case l.Time != nil:
		return converted[7]
	case l.Timestamp != nil:
		out := annotation{name: "Timestamp"}
		switch unit := l.Timestamp.Unit; {
		case unit.Milli != nil:
			out.perSecond = 1e3
		case unit.Micro != nil:
			out.perSecond = 1e6
		case unit.Nano != nil:
			out.perSecond = 1e9
		}
		return out
	case l.Int != nil && l.Int.Signed:
		return annotation{name: "Int"}
	case l.Int != nil:
		return annotation{name: "UInt"}
	case l.Float16 != nil:
		return annotation{name: "Float16"}
	}
	return annotation{name: "another kind"}
}
