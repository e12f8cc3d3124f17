// Package arrow writes the files arrow-*.parquet of the folder above with arrow-go: the numbers of
// foreign in foreign_test.go, and texts. It is a module of its own, because arrow-go's encoder takes
// longer to compile than all of fdridge. Run it with "go test ." in this folder.
package arrow

import (
	"fmt"
	"log"
	"os"
	"slices"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const rows, groups = 500, 2

func TestWrite(*testing.T) {
	enc := pq.Encodings
	v2, plain := pq.WithDataPageVersion(pq.DataPageV2), pq.WithDictionaryDefault(false)
	delta := []pq.WriterProperty{
		plain,
		pq.WithEncodingFor("int64", enc.DeltaBinaryPacked),
		pq.WithEncodingFor("int32", enc.DeltaBinaryPacked),
		pq.WithEncodingFor("int16", enc.DeltaBinaryPacked),
		pq.WithEncodingFor("uint32", enc.DeltaBinaryPacked),
		pq.WithEncodingFor("bool", enc.RLE),
	}
	split := []pq.WriterProperty{
		plain,
		pq.WithEncodingFor("double", enc.ByteStreamSplit),
		pq.WithEncodingFor("float", enc.ByteStreamSplit),
		pq.WithEncodingFor("int64", enc.ByteStreamSplit),
		pq.WithEncodingFor("int32", enc.ByteStreamSplit),
	}
	codec := func(c compress.Compression, more ...pq.WriterProperty) []pq.WriterProperty {
		return append(more, pq.WithCompression(c))
	}
	for name, opts := range map[string][]pq.WriterProperty{
		"v1-plain":             {plain},
		"v1-snappy-dictionary": codec(compress.Codecs.Snappy),
		"v1-zstd-delta":        codec(compress.Codecs.Zstd, delta...),
		"v1-brotli-split":      codec(compress.Codecs.Brotli, split...),
		"v2-gzip-delta":        codec(compress.Codecs.Gzip, append(delta, v2)...),
		"v2-lz4-split":         codec(compress.Codecs.Lz4Raw, append(split, v2)...),
		"v2-zstd-dictionary":   codec(compress.Codecs.Zstd, v2),
	} {
		write(name, numbers(), numberOf, opts)
	}
	texts := schema.FieldList{text("plain"), text("dictionary"), text("length"), text("prefix")}
	write(
		"texts",
		texts,
		nil,
		[]pq.WriterProperty{
			pq.WithDictionaryFor("plain", false),
			pq.WithDictionaryFor("length", false),
			pq.WithDictionaryFor("prefix", false),
			pq.WithEncodingFor("length", enc.DeltaLengthByteArray),
			pq.WithEncodingFor("prefix", enc.DeltaByteArray),
		},
	)
}

func numbers() (out schema.FieldList) {
	add := func(name string, t pq.Type, logical schema.LogicalType) {
		rep := []pq.Repetition{pq.Repetitions.Required, pq.Repetitions.Optional}[len(out)%2]
		out = append(out, schema.Must(schema.NewPrimitiveNodeLogical(name, rep, logical, t, -1, -1)))
	}
	none := schema.NoLogicalType{}
	add("double", pq.Types.Double, none)
	add("float", pq.Types.Float, none)
	add("int64", pq.Types.Int64, none)
	add("int32", pq.Types.Int32, none)
	add("int16", pq.Types.Int32, schema.NewIntLogicalType(16, true))
	add("uint8", pq.Types.Int32, schema.NewIntLogicalType(8, false))
	add("uint32", pq.Types.Int32, schema.NewIntLogicalType(32, false))
	add("bool", pq.Types.Boolean, none)
	return out
}

func text(name string) schema.Node {
	return schema.Must(
		schema.NewPrimitiveNodeLogical(
			name,
			pq.Repetitions.Optional,
			schema.StringLogicalType{},
			pq.Types.ByteArray,
			-1,
			-1,
		),
	)
}

// numberOf is foreign of foreign_test.go.
func numberOf(i, column int) float64 {
	return []float64{
		float64(i*37%101)/8 - 5, float64(i%17)/4 - 2, float64(i%53*1000003 - 50000000), float64((i%71)*(i%71) - 1000),
		float64(-(i % 29) * 100), float64(i * 7 % 256), float64(4294967295 - int64(i%5)), map[bool]float64{true: 1}[i%3 == 0],
	}[column]
}

func write(name string, fields schema.FieldList, number func(i, column int) float64, opts []pq.WriterProperty) {
	create(name, fields, opts, func(c file.ColumnChunkWriter, first int) error {
		return put(c, first, func(i int) float64 {
			return number(i, slices.IndexFunc(fields, func(n schema.Node) bool { return n.Name() == c.Descr().Name() }))
		})
	})
}

// create writes a file. The function put writes one column of a row group, whose first row is given.
func create(
	name string,
	fields schema.FieldList,
	opts []pq.WriterProperty,
	put func(c file.ColumnChunkWriter, first int) error,
) {
	out, err := os.Create("../arrow-" + name + ".parquet")
	check(err)
	root := schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, fields, -1))
	opts = append([]pq.WriterProperty{pq.WithDataPageSize(300), pq.WithBatchSize(50)}, opts...)
	w := file.NewParquetWriter(out, root, file.WithWriterProps(pq.NewWriterProperties(opts...)))
	for first := 0; first < rows*groups; first += rows {
		g, err := w.AppendRowGroupChecked()
		check(err)
		for range fields {
			c, err := g.NextColumn()
			check(err)
			check(put(c, first))
			check(c.Close())
		}
		check(g.Close())
	}
	check(w.Close())
}

func put(c file.ColumnChunkWriter, first int, number func(i int) float64) (err error) {
	levels := make([]int16, rows)
	for i := range levels {
		levels[i] = 1
	}
	switch w := c.(type) {
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(list(first, func(i int) float64 { return number(i) }), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(list(first, func(i int) float32 { return float32(number(i)) }), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(list(first, func(i int) int64 { return int64(number(i)) }), levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(list(first, func(i int) int32 { return int32(int64(number(i))) }), levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(list(first, func(i int) bool { return number(i) != 0 }), levels, nil)
	case *file.ByteArrayColumnChunkWriter: // every seventh is missing
		var texts []pq.ByteArray
		for i := range levels {
			if k := first + i; k%7 == 0 {
				levels[i] = 0
			} else {
				texts = append(texts, pq.ByteArray(fmt.Sprintf("level %d", k%23)))
			}
		}
		_, err = w.WriteBatch(texts, levels, nil)
	}
	return err
}

func list[T any](first int, of func(i int) T) []T {
	out := make([]T, rows)
	for i := range out {
		out[i] = of(first + i)
	}
	return out
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
