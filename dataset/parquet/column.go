package parquet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/excerpt"
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
	lexicon  *prepare.Lexicon // codes of the levels of a categorical column; nil for numbers
	kind     int32            // physical type
	// convert converts bits to float64. An inexact integer becomes +∞, because NaN would mean a missing value.
	convert func(bits uint64) float64
}

// column describes column j, or returns why it cannot be read.
func (f *opened) column(j int, choice *columns.Choice) (column, *dataset.InputError) {
	leaf, means := &f.columns[j], f.columns[j].annotation()
	c := column{index: j, name: excerpt.Of(f.names[j]), leaf: f.leaf[j], optional: leaf.Repetition == 1, missing: choice.Allows(j), lexicon: choice.Lexicon(j)}
	refuse := func(holds, hint string) (column, *dataset.InputError) {
		return c, &dataset.InputError{File: f.name, Msg: fmt.Sprintf("column %s holds %s", c.name, holds), Omittable: true, Hint: hint + ", or leave it out"}
	}
	if leaf.Kind == nil || leaf.Repetition > 1 {
		return refuse("nested values", "make columns of its fields")
	}
	c.kind = *leaf.Kind
	const encode = "encode it as numbers"
	switch c.kind {
	case typeBool:
		c.convert = func(bits uint64) float64 { return float64(bits) }
		return c, nil
	case typeFloat:
		c.convert = func(bits uint64) float64 { return float64(math.Float32frombits(uint32(bits))) }
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
			if means.scale < 0 || int(means.scale) >= len(pow10) {
				return refuse(fmt.Sprintf("decimals of scale %d", means.scale), "cast it to double")
			}
			toFloat = decimal(pow10[means.scale])
		default:
			if means.perSecond == 0 || c.lexicon == nil || c.lexicon.IsLevels() {
				return refuse("values of type "+means.name, encode)
			}
			c.date, c.integers, toFloat = true, false, dates(means.perSecond, c.lexicon)
		}
		c.convert = func(bits uint64) float64 { return toFloat(int64(bits)) }
		if c.kind == typeInt32 {
			c.convert = func(bits uint64) float64 { return toFloat(int64(int32(bits))) }
		}
		return c, nil
	case typeInt96:
		return refuse("timestamps", encode)
	case typeBytes:
		if means.name == "Decimal" {
			return refuse(fmt.Sprintf("values of type Decimal(precision=%d, scale=%d) as bytes", means.precision, means.scale), "cast it to double")
		}
		if c.text = true; c.lexicon != nil {
			return c, nil
		}
		return refuse("text or categories", encode)
	}
	return refuse("values of type "+cmp.Or(means.name, "fixed-length bytes"), "cast it to double")
}

// dates returns the function that converts a date v to l.Date(v, perSecond).
func dates(perSecond int64, l *prepare.Lexicon) func(v int64) float64 {
	return func(v int64) float64 { return l.Date(v, perSecond) }
}

// maxExact is 2⁵³: float64 represents all integers up to ±2⁵³.
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

// pow10 lists the powers of ten that are exact in float64.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// decimal divides by scale. Integer and scale are exact in float64.
func decimal(scale float64) func(v int64) float64 {
	return func(v int64) float64 { return signed(v) / scale }
}

// A levelError is the reason why a column is not categorical.
type levelError string

func (e levelError) Error() string { return string(e) }

var errEmpty = errors.New("has an empty text, which is a missing value")

// code returns the code of a text, or NaN if empty. If missing values are not allowed, an empty text gives errEmpty.
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
