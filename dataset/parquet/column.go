package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A column is one that is read.
type column struct {
	index    int    // in the file, from 0
	name     string // in errors
	leaf     int
	optional bool // may have nulls
	integers bool
	missing  bool // these are NaN
	text     bool
	lexicon  *dataset.Lexicon // of a categorical column; nil: it has numbers
	// convert turns an integer into a number, +∞ where it is no float64. No integer is
	// infinite otherwise, and NaN would be a missing value.
	convert func(v int64) float64
	chunk   file.ColumnChunkReader // of the row group at hand
}

// column describes column j of the file, which is chosen, or tells why it cannot be read.
func (f *opened) column(j int, choice *columns.Choice) (column, *dataset.InputError) {
	leaf := f.MetaData().Schema.Column(f.leaf[j])
	c := column{index: j, name: excerpt.Of(f.names[j]), leaf: f.leaf[j], optional: leaf.MaxDefinitionLevel() > 0, convert: signed, missing: choice.Allows(j), lexicon: choice.Lexicon(j)}
	refuse := func(holds, hint string) (column, *dataset.InputError) {
		return c, &dataset.InputError{File: f.name, Msg: fmt.Sprintf("column %s holds %s", c.name, holds), Omittable: true, Hint: hint + ", or leave it out"}
	}
	if root := f.MetaData().Schema.ColumnRoot(f.leaf[j]); root.Type() == schema.Group || leaf.MaxRepetitionLevel() > 0 {
		return refuse("nested values", "make columns of its fields")
	}
	const encode = "encode it as numbers"
	logical := leaf.LogicalType()
	switch leaf.PhysicalType() {
	case pq.Types.Boolean, pq.Types.Float, pq.Types.Double:
		return c, nil
	case pq.Types.Int32, pq.Types.Int64:
		c.integers = true
		switch t := logical.(type) {
		case schema.IntLogicalType:
			if !t.IsSigned() {
				c.convert = unsigned(leaf.PhysicalType())
			}
			return c, nil
		case schema.DecimalLogicalType:
			if t.Scale() < 0 || int(t.Scale()) >= len(pow10) {
				return refuse(fmt.Sprintf("decimals of scale %d", t.Scale()), "cast it to double")
			}
			c.convert = decimal(pow10[t.Scale()])
			return c, nil
		}
		if logical.IsNone() {
			return c, nil
		}
		return refuse("values of type "+logical.String(), encode)
	case pq.Types.Int96:
		return refuse("timestamps", encode)
	case pq.Types.ByteArray:
		if t, ok := logical.(schema.DecimalLogicalType); ok {
			return refuse("values of type "+t.String()+" as bytes", "cast it to double")
		}
		if c.text = true; c.lexicon != nil {
			return c, nil
		}
		return refuse("text or categories", encode)
	}
	return refuse("values of type "+logical.String(), "cast it to double")
}

// maxExact is 2⁵³: all whole numbers up to it are float64.
const maxExact = 1 << 53

func signed(v int64) float64 {
	if v < -maxExact || v > maxExact {
		return math.Inf(1)
	}
	return float64(v)
}

// unsigned reads the bits of a physical type without a sign.
func unsigned(t pq.Type) func(v int64) float64 {
	if t == pq.Types.Int32 {
		return func(v int64) float64 { return float64(uint32(v)) }
	}
	return func(v int64) float64 {
		if uint64(v) > maxExact {
			return math.Inf(1)
		}
		return float64(v)
	}
}

// pow10 are the powers of ten that are exact in float64.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// decimal divides two numbers that are exact, and so rounds only once.
func decimal(scale float64) func(v int64) float64 {
	return func(v int64) float64 { return signed(v) / scale }
}

// scratch holds values of one type on the way to float64, and levels.
type scratch struct {
	float32s []float32
	int32s   []int32
	int64s   []int64
	bools    []bool
	texts    []pq.ByteArray
	levels   []int16
}

// sized returns n values, kept in *s for the next time.
func sized[T any](s *[]T, n int) []T {
	if len(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}

// skip leaves out the next rows.
func (c *column) skip(rows int64) error {
	_, err := c.chunk.(interface{ Skip(int64) (int64, error) }).Skip(rows) // all of the library's have it
	return err
}

// read reads the next len(dst) values. Where it reads less, rows is the number of
// rows read, and the last of them is followed by the end of the column or is null.
func (c *column) read(dst []float64, s *scratch) (rows int, null bool, err error) {
	var levels []int16
	if c.optional {
		levels = sized(&s.levels, len(dst))
	}
	var total, values int
	switch r := c.chunk.(type) {
	case *file.Float64ColumnChunkReader:
		total, values, err = batch(r, r.ReadBatchInPage, dst, levels)
	case *file.Float32ColumnChunkReader:
		from := sized(&s.float32s, len(dst))
		total, values, err = batch(r, r.ReadBatchInPage, from, levels)
		for i, v := range from {
			dst[i] = float64(v)
		}
	case *file.Int64ColumnChunkReader:
		from := sized(&s.int64s, len(dst))
		total, values, err = batch(r, r.ReadBatchInPage, from, levels)
		for i, v := range from {
			dst[i] = c.convert(v)
		}
	case *file.Int32ColumnChunkReader:
		from := sized(&s.int32s, len(dst))
		total, values, err = batch(r, r.ReadBatchInPage, from, levels)
		for i, v := range from {
			dst[i] = c.convert(int64(v))
		}
	case *file.BooleanColumnChunkReader:
		from := sized(&s.bools, len(dst))
		total, values, err = batch(r, r.ReadBatchInPage, from, levels)
		for i, v := range from {
			dst[i] = 0
			if v {
				dst[i] = 1
			}
		}
	case *file.ByteArrayColumnChunkReader:
		total, values, err = batch(r, c.texts(r, dst), sized(&s.texts, len(dst)), levels)
	}
	if err == nil {
		err = c.chunk.Err()
	}
	if err != nil {
		return 0, false, err
	}
	if values < total && c.missing {
		spread(dst[:total], levels[:total], values)
		values = total
	}
	if values < total {
		for i, level := range levels[:total] {
			if level == 0 {
				return i, true, nil
			}
		}
	}
	return total, false, nil
}

// spread moves values, the first of dst, to their rows, and puts NaN where one is missing.
func spread(dst []float64, levels []int16, values int) {
	for i := len(dst) - 1; i >= 0; i-- {
		if levels[i] == 0 {
			dst[i] = math.NaN()
			continue
		}
		values--
		dst[i] = dst[values]
	}
}

// A levelError says why a column is not categorical.
type levelError string

func (e levelError) Error() string { return string(e) }

// errEmpty says that a text is empty where values may not be missing.
var errEmpty = errors.New("has an empty text, a missing value")

// texts reads a page of texts and puts their codes into dst, one page behind the other: the texts
// are gone with their page. An empty one is a missing value.
func (c *column) texts(r *file.ByteArrayColumnChunkReader, dst []float64) func(int64, []pq.ByteArray, []int16, []int16) (int64, int, error) {
	done := 0
	return func(n int64, values []pq.ByteArray, levels, none []int16) (int64, int, error) {
		total, got, err := r.ReadBatchInPage(n, values, levels, none)
		for _, text := range values[:got] {
			text = bytes.TrimSpace(text)
			code, ok := math.NaN(), true
			if len(text) > 0 {
				code, ok = c.lexicon.Code(text)
			} else if !c.missing {
				return total, got, errEmpty
			}
			if !ok {
				return total, got, levelError(columns.NoCode(text))
			}
			dst[done] = code
			done++
		}
		return total, got, err
	}
}

// batch reads values, from as many pages as it takes, and the levels of a column that
// has them. The library's ReadBatch does the same, but for a page with fewer values
// than its header says, where it does not end.
func batch[T any](c file.ColumnChunkReader, page func(n int64, values []T, levels, none []int16) (int64, int, error), values []T, levels []int16) (total, read int, err error) {
	for total < len(values) && c.HasNext() {
		rest := levels
		if levels != nil {
			rest = levels[total:]
		}
		n, got, err := page(int64(len(values)-total), values[read:], rest, nil)
		total, read = total+int(n), read+got
		switch {
		case err != nil:
			return total, read, err
		case n == 0:
			return total, read, errors.New("a page has fewer values than its header says")
		}
	}
	return total, read, nil
}
