package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A column is a column to read.
type column struct {
	index    int    // index in the file, from 0
	name     string // name in errors
	leaf     int
	optional bool // the column may have nulls
	integers bool
	missing  bool // nulls become NaN instead of an error
	text     bool
	date     bool
	left     bool             // the column is left out: its values are missing, whatever the file has
	lexicon  *prepare.Lexicon // codes of the levels of a categorical column; nil for numbers
	kind     int32            // physical type
	// convert converts the bits of a number to float64, if the number has at most 64 bits. An integer that float64
	// cannot represent becomes +∞. It does not become NaN, because NaN would mean a missing value.
	convert func(bits uint64) float64
	// wide converts a number that the file stores as a byte string, such as a long decimal. ok is false if the
	// bytes are invalid. For columns of other types, wide is nil.
	wide   func(b []byte) (v float64, ok bool)
	length int // bytes of a number, for wide; 0 if the numbers have different lengths
}

// column describes how to read column j of the file. If the column cannot be read, it returns an error.
func (f *opened) column(j int, choice *columns.Choice) (column, *dataset.InputError) {
	leaf := &f.columns[j]
	means := f.columns[j].annotation()
	c := column{
		index:    j,
		name:     errtext.Excerpt(f.names[j]),
		leaf:     f.leaf[j],
		optional: leaf.Repetition == 1,
		missing:  choice.Allows(j),
		lexicon:  choice.Lexicon(j),
	}
	refuse := func(holds, hint string) (column, *dataset.InputError) {
		c.left = c.lexicon.LeaveOut("holds " + holds)
		if c.left {
			return c, nil
		}
		return c, &dataset.InputError{
			File:      f.name,
			Msg:       fmt.Sprintf("column %s holds %s", c.name, holds),
			Omittable: true,
			Hint:      hint + ", or leave it out",
		}
	}
	if leaf.Kind == nil || leaf.Repetition > 1 {
		return refuse("nested values", "make columns of its fields")
	}
	c.kind = *leaf.Kind
	const encode = "encode it as numbers"
	isDate := c.lexicon != nil && !c.lexicon.IsLevels()
	switch c.kind {
	case typeBool:
		c.convert = func(bits uint64) float64 { return float64(bits) }
		return c, nil
	case typeFloat:
		c.convert = func(bits uint64) float64 {
			return float64(math.Float32frombits(uint32(bits)))
		}
		return c, nil
	case typeDouble:
		c.convert = math.Float64frombits
		return c, nil
	case typeInt32, typeInt64:
		c.integers = true
		toFloat := signed
		switch means.name {
		case "", "Int":
		case "UInt":
			c.convert = unsigned(c.kind)
			return c, nil
		case "Decimal":
			if means.scale < 0 {
				return refuse(fmt.Sprintf("decimals of scale %d", means.scale), "cast it to double")
			}
			c.integers = false
			toFloat = cell.NewDecimal(means.scale).Int
		default:
			if means.perSecond != 0 && !isDate {
				return refuse("values of type "+means.name, readDates)
			}
			if means.perSecond == 0 {
				return refuse("values of type "+means.name, encode)
			}
			c.date = true
			c.integers = false
			toFloat = dates(means.perSecond, c.lexicon)
		}
		c.convert = func(bits uint64) float64 { return toFloat(int64(bits)) }
		if c.kind == typeInt32 {
			c.convert = func(bits uint64) float64 { return toFloat(int64(int32(bits))) }
		}
		return c, nil
	case typeInt96:
		if !isDate {
			return refuse("timestamps", readDates)
		}
		c.date = true
		c.length = 12
		c.wide = int96(c.lexicon)
		return c, nil
	case typeFixed:
		switch length := int(leaf.Length); {
		case means.name == "Float16" && length == 2:
			c.length, c.wide = length, half
			return c, nil
		case means.name == "Decimal" &&
			means.scale >= 0 &&
			length > 0 &&
			length <= cell.MaxDecimalBytes:
			c.length = length
			c.wide = cell.NewDecimal(means.scale).Big
			return c, nil
		}
	case typeBytes:
		if means.name == "Decimal" && means.scale >= 0 {
			c.wide = cell.NewDecimal(means.scale).Big
			return c, nil
		}
		c.text = true
		if c.lexicon != nil {
			return c, nil
		}
		return refuse("text or categories", encode)
	}
	return refuse("values of type "+cmp.Or(means.name, "fixed-length bytes"), "cast it to double")
}

// dates returns a function that converts a date to the number that stands for the date in a row. The date is given
// as a number of units since 1970. The argument perSecond states the unit, as in [prepare.Lexicon.Date].
func dates(perSecond int64, l *prepare.Lexicon) func(v int64) float64 {
	return func(v int64) float64 { return l.Date(v, perSecond) }
}

// readDates is the hint for a column of dates.
const readDates = "read it as dates (--dates), encode it as numbers"

// half converts a float16.
func half(b []byte) (float64, bool) {
	return cell.Half(binary.LittleEndian.Uint16(b)), true
}

// int96 returns a function that converts a timestamp of 96 bits to the number that stands for it in a row. The
// timestamp consists of the nanoseconds since midnight (64 bits) and the number of the Julian day (32 bits).
func int96(l *prepare.Lexicon) func(b []byte) (float64, bool) {
	const epoch = 2440588 // the Julian day of 1970-01-01
	return func(b []byte) (float64, bool) {
		nanoseconds := int64(binary.LittleEndian.Uint64(b))
		day := int32(binary.LittleEndian.Uint32(b[8:]))
		seconds := nanoseconds / 1e9
		if nanoseconds%1e9 < 0 {
			seconds--
		}
		return l.Date((int64(day)-epoch)*86400+seconds, 1), true
	}
}

// maxExact is 2⁵³. A float64 can represent every integer from −2⁵³ to 2⁵³.
const maxExact = 1 << 53

func signed(v int64) float64 {
	if v < -maxExact || v > maxExact {
		return math.Inf(1)
	}
	return float64(v)
}

func unsigned(kind int32) func(bits uint64) float64 {
	if kind == typeInt32 {
		return func(bits uint64) float64 { return float64(uint32(bits)) }
	}
	return func(bits uint64) float64 {
		if bits > maxExact {
			return math.Inf(1)
		}
		return float64(bits)
	}
}

// A levelError is the error for a text that its column cannot have. It holds the reason.
type levelError string

func (e levelError) Error() string { return string(e) }

var errEmpty = errors.New("has an empty text, which is a missing value")

// code returns the number that stands for a text in a row. A blank text is a missing value: code returns NaN, or
// errEmpty if the column allows no missing values.
func (c *column) code(text []byte) (float64, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		if !c.missing {
			return 0, errEmpty
		}
		return math.NaN(), nil
	}
	code, ok := c.lexicon.Code(text)
	if !ok {
		return 0, levelError(c.lexicon.Refusal(string(text)))
	}
	return code, nil
}
