package arrow

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/float16"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// TestWriteWide writes columns of numbers that are stored as bytes: decimals, float16 and INT96.
func TestWriteWide(*testing.T) {
	enc := pq.Encodings
	v2, plain := pq.WithDataPageVersion(pq.DataPageV2), pq.WithDictionaryDefault(false)
	encoded := func(fixed, variable pq.Encoding) []pq.WriterProperty {
		return []pq.WriterProperty{plain,
			pq.WithEncodingFor("fixed9", fixed), pq.WithEncodingFor("fixed38", fixed), pq.WithEncodingFor("half", fixed),
			pq.WithEncodingFor("bytes", variable)}
	}
	for name, opts := range map[string][]pq.WriterProperty{
		"wide-v1-plain":             {plain},
		"wide-v1-snappy-dictionary": {pq.WithCompression(compress.Codecs.Snappy)},
		"wide-v2-zstd-dictionary":   {v2, pq.WithCompression(compress.Codecs.Zstd)},
		"wide-v2-lz4-split":         append(encoded(enc.ByteStreamSplit, enc.DeltaLengthByteArray), v2, pq.WithCompression(compress.Codecs.Lz4Raw)),
		"wide-v1-gzip-delta":        append(encoded(enc.Plain, enc.DeltaByteArray), pq.WithCompression(compress.Codecs.Gzip)),
	} {
		writeWide(name, append(opts, pq.WithDataPageSize(1500), pq.WithStats(false)))
	}
}

func writeWide(name string, opts []pq.WriterProperty) {
	var fields schema.FieldList
	add := func(name string, t pq.Type, logical schema.LogicalType, length int) {
		rep := []pq.Repetition{pq.Repetitions.Required, pq.Repetitions.Optional}[len(fields)%2]
		fields = append(fields, schema.Must(schema.NewPrimitiveNodeLogical(name, rep, logical, t, length, -1)))
	}
	add("decimal32", pq.Types.Int32, schema.NewDecimalLogicalType(9, 2), -1)
	add("decimal64", pq.Types.Int64, schema.NewDecimalLogicalType(18, 7), -1)
	add("fixed9", pq.Types.FixedLenByteArray, schema.NewDecimalLogicalType(20, 5), 9)
	add("fixed38", pq.Types.FixedLenByteArray, schema.NewDecimalLogicalType(38, 10), 16)
	add("bytes", pq.Types.ByteArray, schema.NewDecimalLogicalType(30, 12), -1)
	add("half", pq.Types.FixedLenByteArray, schema.Float16LogicalType{}, 2)
	add("int96", pq.Types.Int96, schema.NoLogicalType{}, -1)
	create(name, fields, opts, putWide)
}

// unscaled is unscaled of wide_test.go: the integer of the decimal in row i.
func unscaled(i int, column string) *big.Int {
	v := big.NewInt(int64(i*i%997 - 500))
	step := map[string]string{"decimal32": "1234567", "decimal64": "1234567890123457", "fixed9": "123456789012345679", "fixed38": "12345678901234567890123456789012345", "bytes": "123456789012345678901234567"}[column]
	by, _ := new(big.Int).SetString(step, 10)
	return v.Mul(v, by)
}

// complement returns v as a two's complement, big-endian, in size bytes.
func complement(v *big.Int, size int) []byte {
	all := new(big.Int).Lsh(big.NewInt(1), uint(8*size))
	return new(big.Int).Mod(v, all).FillBytes(make([]byte, size))
}

// putWide writes one row group. Every seventh value of an optional column is missing.
func putWide(c file.ColumnChunkWriter, first int) (err error) {
	name, optional := c.Descr().Name(), c.Descr().MaxDefinitionLevel() > 0
	levels := make([]int16, rows)
	var present []int
	for k := range levels {
		if i := first + k; !optional || i%7 != 0 {
			levels[k] = 1
			present = append(present, i)
		}
	}
	fixed := func(of func(i int) []byte) []pq.FixedLenByteArray {
		return each(present, func(i int) pq.FixedLenByteArray { return of(i) })
	}
	switch w := c.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(each(present, func(i int) int32 { return int32(unscaled(i, name).Int64()) }), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(each(present, func(i int) int64 { return unscaled(i, name).Int64() }), levels, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(each(present, func(i int) (v pq.Int96) {
			const epoch = 2440588 // the Julian day of 1970-01-01
			seconds := int64(i*86399 - 20000000)
			day := seconds / 86400
			if seconds%86400 < 0 {
				day--
			}
			binary.LittleEndian.PutUint64(v[:], uint64((seconds-day*86400)*1e9)+uint64(i))
			binary.LittleEndian.PutUint32(v[8:], uint32(day+epoch))
			return v
		}), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(each(present, func(i int) pq.ByteArray {
			v := unscaled(i, name)
			return complement(v, v.BitLen()/8+1)
		}), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(fixed(func(i int) []byte {
			if name != "half" {
				return complement(unscaled(i, name), c.Descr().TypeLength())
			}
			half := float16.New(float32(i%41)/8 - 2)
			return half.ToLEBytes()
		}), levels, nil)
	}
	return err
}

func each[T any](rows []int, of func(i int) T) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = of(i)
	}
	return out
}

// quotient returns v/10^scale, rounded to the nearest float64.
func quotient(v *big.Int, scale int) float64 {
	exact := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	f, _ := exact.Float64()
	return f
}

// bits returns the bits of v in a text. All NaN have the same text.
func bits(v float64) string {
	if v != v {
		return "NaN"
	}
	return strconv.FormatUint(math.Float64bits(v), 16)
}
