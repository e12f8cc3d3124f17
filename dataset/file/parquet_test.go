package file_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	mathbits "math/bits"
	"slices"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A small writer of Parquet files. dataset/parquet has the same file with another package clause.
// Files of other writers are in dataset/parquet/testdata.

// Physical types, encodings, codecs.
const (
	boolean, word, long, int96, float, double, bytesType, fixed = 0, 1, 2, 3, 4, 5, 6, 7
	plain, runs, indices, split                                 = 0, 3, 8, 9
	uncompressed, snap, gz, brot, zst, lz, hadoop               = 0, 1, 2, 4, 6, 7, 5
)

// A column is a node of a schema and its values, a slice of the physical type.
// Where valid is set it tells which rows are there; values then has only those.
type column struct {
	node   listOf // SchemaElements
	values any
	valid  []bool
}

// A layout says how a file is written.
type layout struct {
	codec     int
	encoding  int  // of numbers: plain, indices or split
	version2  bool // data pages
	pageRows  int  // 0: all
	repeats   int  // bytes of repetition levels of data pages of version 2
	checksum  bool // pages have a checksum
	statistic bool // minimum and maximum, of no use, in the headers
	spark     bool // names and encodings as Spark writes them
}

// fields appends a struct in Thrift's compact protocol. Each field follows its number: an int, a
// []byte, a string, a bool, a list or another struct.
func fields(out []byte, list ...any) []byte {
	last := 0
	for i := 0; i < len(list); i += 2 {
		kind, b := thriftValue(list[i+1])
		out = append(append(out, byte(list[i].(int)-last)<<4|kind), b...)
		last = list[i].(int)
	}
	return append(out, 0)
}

type structOf []byte // encoded
type listOf [][]byte // encoded structs

func thriftValue(v any) (kind byte, b []byte) {
	switch v := v.(type) {
	case bool:
		return map[bool]byte{true: 1, false: 2}[v], nil
	case int:
		return 6, binary.AppendVarint(nil, int64(v))
	case int32:
		return 5, binary.AppendVarint(nil, int64(v))
	case string:
		return 8, append(binary.AppendUvarint(nil, uint64(len(v))), v...)
	case structOf:
		return 12, v
	case listOf:
		b = binary.AppendUvarint([]byte{0xfc}, uint64(len(v)))
		for _, e := range v {
			b = append(b, e...)
		}
		return 9, b
	}
	panic(fmt.Sprintf("%T", v))
}

// node is a column of the schema. logical is a LogicalType, or nil.
func node(name string, optional bool, typ int, logical structOf) listOf {
	return element(name, map[bool]int{true: 1}[optional], typ, logical)
}

func element(name string, repetition, typ int, logical structOf) listOf {
	list := []any{1, int32(typ), 3, int32(repetition), 4, name}
	if typ == fixed {
		list = append([]any{1, int32(typ), 2, int32(2)}, list[2:]...)
	}
	if logical != nil {
		list = append(list, 10, logical)
	}
	return listOf{fields(nil, list...)}
}

// as is a LogicalType whose one field has this number and contents.
func as(id int, contents ...any) structOf { return fields(nil, id, structOf(fields(nil, contents...))) }

// encode writes the same columns as so many row groups.
func encode(tb testing.TB, groups int, cols []column, l layout) []byte {
	tb.Helper()
	return encodeGroups(tb, slices.Repeat([][]column{cols}, groups), l)
}

func encodeGroups(tb testing.TB, groups [][]column, l layout) []byte {
	tb.Helper()
	out := []byte("PAR1")
	root, writer, about := "schema", "a test", listOf(nil)
	if l.spark {
		root, writer = "spark_schema", "parquet-mr version 1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)"
		about = listOf{
			fields(nil, 1, "org.apache.spark.version", 2, "3.5.1"),
			fields(nil, 1, "org.apache.spark.sql.parquet.row.metadata", 2, `{"type":"struct","fields":[]}`),
		}
	}
	schema := listOf{fields(nil, 4, root, 5, int32(len(groups[0])))}
	for _, c := range groups[0] {
		schema = append(schema, c.node...)
	}
	total := 0
	var all listOf
	for _, cols := range groups {
		rows := 0
		var chunks listOf
		for _, c := range cols {
			start := len(out)
			typ, n, pages := c.pages(tb, l)
			dictionary, data := 0, start
			if len(pages) > 1 {
				dictionary, data = start, start+len(pages[0])
			}
			out = append(out, bytes.Join(pages, nil)...)
			meta := fields(
				nil,
				1,
				int32(typ),
				2,
				listOf{},
				3,
				listOf{},
				4,
				int32(l.codec),
				5,
				n,
				6,
				len(out)-start,
				7,
				len(out)-start,
				9,
				data,
				11,
				dictionary,
			)
			chunks = append(chunks, fields(nil, 2, start, 3, structOf(meta)))
			rows = n
		}
		all = append(all, fields(nil, 1, chunks, 2, len(out), 3, rows))
		total += rows
	}
	footer := fields(nil, 1, int32(1), 2, schema, 3, total, 4, all, 5, about, 6, writer)
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

// pages returns the dictionary page, if there is one, and the data pages together.
func (c column) pages(tb testing.TB, l layout) (typ, n int, pages [][]byte) {
	typ, values := plainValues(c.values)
	n = len(values)
	if c.valid != nil {
		n = len(c.valid)
	}
	encoding := l.encoding
	if typ == boolean || typ >= int96 && typ != float && typ != double && (encoding != indices || typ != bytesType) {
		encoding = plain
	}
	dictionary := map[string]uint32{}
	if encoding == indices {
		var list [][]byte
		for _, v := range values {
			if _, ok := dictionary[string(v)]; !ok {
				dictionary[string(v)] = uint32(len(list))
				list = append(list, v)
			}
		}
		body := bytes.Join(list, nil)
		packed := compressed(tb, l.codec, body)
		named := plain
		if l.spark {
			named = oldIndices
		}
		head := structOf(fields(nil, 1, int32(len(list)), 2, int32(named), 3, false))
		pages = append(pages, append(l.header(2, len(body), packed, 7, head), packed...))
	}
	var data []byte
	for at := 0; at < n; {
		rows := n - at
		if l.pageRows > 0 {
			rows = min(rows, l.pageRows)
		}
		here := rows
		var levels []byte
		if c.valid != nil {
			present := make([]uint32, rows)
			here = 0
			for i, there := range c.valid[at : at+rows] {
				if there {
					present[i] = 1
					here++
				}
			}
			levels = l.packed(present, 1)
			if here == rows {
				levels = append(binary.AppendUvarint(nil, uint64(rows)<<1), 1)
			}
		}
		body := l.encoded(typ, encoding, values[:here], dictionary)
		values, at = values[here:], at+rows
		data = append(data, page(tb, l, encoding, rows, rows-here, levels, c.valid != nil, body)...)
	}
	return typ, n, append(pages, data)
}

// oldIndices is an old number of the encoding indices, and of its dictionaries.
const oldIndices = 2

// named is the number of an encoding in the header of a data page of version 1.
func (l layout) named(encoding int) int {
	if l.spark && encoding == indices {
		return oldIndices
	}
	return encoding
}

// page is a data page with its header.
func page(tb testing.TB, l layout, encoding, rows, nulls int, levels []byte, optional bool, body []byte) []byte {
	statistics := structOf(fields(nil))
	if l.statistic {
		statistics = fields(nil, 3, nulls, 5, "least", 6, "most")
	}
	if l.version2 {
		head := fields(
			nil,
			1,
			int32(rows),
			2,
			int32(nulls),
			3,
			int32(rows),
			4,
			int32(encoding),
			5,
			int32(len(levels)),
			6,
			int32(l.repeats),
			7,
			true,
			8,
			statistics,
		)
		levels = append(make([]byte, l.repeats), levels...)
		packed := append(bytes.Clone(levels), compressed(tb, l.codec, body)...)
		return append(l.header(3, len(levels)+len(body), packed, 8, head), packed...)
	}
	if optional {
		body = append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...), body...)
	}
	packed := compressed(tb, l.codec, body)
	head := fields(nil, 1, int32(rows), 2, int32(l.named(encoding)), 3, int32(runs), 4, int32(runs), 5, statistics)
	return append(l.header(0, len(body), packed, 5, head), packed...)
}

// header is the header of a page of the given kind, with the field of this kind.
func (l layout) header(kind, size int, packed []byte, field int, contents structOf) []byte {
	list := []any{1, int32(kind), 2, int32(size), 3, int32(len(packed))}
	if l.checksum {
		list = append(list, 4, int32(crc32.ChecksumIEEE(packed)))
	}
	return fields(nil, append(list, field, contents)...)
}

// plainValues are the values as PLAIN has them, a boolean as a byte.
func plainValues(values any) (typ int, out [][]byte) {
	little := binary.LittleEndian
	switch list := values.(type) {
	case []float64:
		for _, v := range list {
			out = append(out, little.AppendUint64(nil, math.Float64bits(v)))
		}
		return double, out
	case []float32:
		for _, v := range list {
			out = append(out, little.AppendUint32(nil, math.Float32bits(v)))
		}
		return float, out
	case []int64:
		for _, v := range list {
			out = append(out, little.AppendUint64(nil, uint64(v)))
		}
		return long, out
	case []int32:
		for _, v := range list {
			out = append(out, little.AppendUint32(nil, uint32(v)))
		}
		return word, out
	case []bool:
		for _, v := range list {
			out = append(out, map[bool][]byte{true: {1}, false: {0}}[v])
		}
		return boolean, out
	case []string:
		for _, v := range list {
			out = append(out, append(little.AppendUint32(nil, uint32(len(v))), v...))
		}
		return bytesType, out
	case [][12]byte:
		for _, v := range list {
			out = append(out, bytes.Clone(v[:]))
		}
		return int96, out
	case [][2]byte:
		for _, v := range list {
			out = append(out, bytes.Clone(v[:]))
		}
		return fixed, out
	}
	panic(fmt.Sprintf("%T", values))
}

func (l layout) encoded(typ, encoding int, values [][]byte, dictionary map[string]uint32) (out []byte) {
	switch {
	case typ == boolean:
		out = make([]byte, (len(values)+7)/8)
		for i, v := range values {
			out[i/8] |= v[0] << (i % 8)
		}
	case encoding == indices:
		of := make([]uint32, len(values))
		for i, v := range values {
			of[i] = dictionary[string(v)]
		}
		width := mathbits.Len(uint(len(dictionary)))
		out = append([]byte{byte(width)}, l.packed(of, width)...)
	case encoding == split && len(values) > 0:
		for k := range values[0] {
			for _, v := range values {
				out = append(out, v[k])
			}
		}
	default:
		out = bytes.Join(values, nil)
	}
	return out
}

// packed is a run of values of width bits. Spark's writer writes eight or more equal values as a run of their own.
func (l layout) packed(values []uint32, width int) (out []byte) {
	if !l.spark {
		return packedBits(values, width)
	}
	from := 0 // values that are not yet written
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && values[i+n] == values[i] {
			n++
		}
		if n < 8 {
			i += 8
			continue
		}
		if i > from {
			out = append(out, packedBits(values[from:i], width)...)
		}
		out = binary.AppendUvarint(out, uint64(n)<<1)
		for k := 0; k < width; k += 8 {
			out = append(out, byte(values[i]>>k))
		}
		i += n
		from = i
	}
	if from < len(values) {
		out = append(out, packedBits(values[from:], width)...)
	}
	return out
}

// packedBits is a run of values of width bits.
func packedBits(values []uint32, width int) []byte {
	groups := (len(values) + 7) / 8
	out := make([]byte, groups*width)
	for i, v := range values {
		for k := range width {
			out[(i*width+k)/8] |= byte(v>>k&1) << ((i*width + k) % 8)
		}
	}
	return append(binary.AppendUvarint(nil, uint64(groups)<<1|1), out...)
}

func compressed(tb testing.TB, codec int, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch codec {
	case uncompressed:
		return text
	case snap:
		return snappy.Encode(nil, text)
	case gz:
		w = gzip.NewWriter(&out)
	case brot:
		w = brotli.NewWriter(&out)
	case zst:
		z, err := zstd.NewWriter(&out)
		if err != nil {
			tb.Fatal(err)
		}
		return z.EncodeAll(text, nil)
	case hadoop: // two texts; the first has two blocks
		be := binary.BigEndian
		block := func(text []byte) []byte {
			b := compressed(tb, lz, text)
			return append(be.AppendUint32(nil, uint32(len(b))), b...)
		}
		half := len(text) / 2
		b := append(be.AppendUint32(nil, uint32(half)), block(text[:half/3])...)
		b = append(b, block(text[half/3:half])...)
		return append(append(b, be.AppendUint32(nil, uint32(len(text)-half))...), block(text[half:])...)
	case lz:
		b := make([]byte, lz4.CompressBlockBound(len(text)))
		var c lz4.Compressor
		n, err := c.CompressBlock(text, b)
		if err != nil {
			tb.Fatal(err)
		}
		if n == 0 && len(text) < 15 { // lz4 gives up: literals alone
			return append([]byte{byte(len(text) << 4)}, text...)
		}
		if n == 0 {
			b = append([]byte{0xf0}, bytes.Repeat([]byte{255}, (len(text)-15)/255)...)
			return append(append(b, byte((len(text)-15)%255)), text...)
		}
		return b[:n]
	}
	if _, err := w.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
