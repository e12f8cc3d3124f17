package file_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	libarray "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowOf is a file or a stream of n rows of two columns.
func arrowOf(t testing.TB, stream bool, n int, opts ...ipc.Option) string {
	t.Helper()
	schema := lib.NewSchema(
		[]lib.Field{
			{Name: "a", Type: lib.PrimitiveTypes.Float64},
			{Name: "b", Type: lib.FixedSizeListOf(2, lib.PrimitiveTypes.Int32), Nullable: true},
		},
		nil,
	)
	b := libarray.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range n {
		b.Field(0).(*libarray.Float64Builder).Append(float64(i))
		b.Field(1).(*libarray.FixedSizeListBuilder).Append(true)
		b.Field(1).(*libarray.FixedSizeListBuilder).ValueBuilder().(*libarray.Int32Builder).AppendValues(
			[]int32{int32(i), 7},
			nil,
		)
	}
	var out bytes.Buffer
	var w interface {
		Write(lib.RecordBatch) error
		Close() error
	}
	opts = append(opts, ipc.WithSchema(schema))
	w = ipc.NewWriter(&out, opts...)
	if !stream {
		var err error
		w, err = ipc.NewFileWriter(&out, opts...)
		if err != nil {
			t.Fatal(err)
		}
	}
	batch := b.NewRecordBatch()
	for range 2 {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// number returns the bytes of an int64 in an Arrow file.
func number(v int64) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(v))) }

// forgedArrow are files and streams in which one length or offset is another: of rows, of a body, of
// buffers, of what is compressed, of metadata.
func forgedArrow(t testing.TB) map[string]string {
	const n = 1000
	out := map[string]string{}
	for name, text := range map[string]string{"file": arrowOf(t, false, n), "stream": arrowOf(t, true, n)} {
		out[name] = text
		// The last number is none of the others: rows of a batch, bytes of a column.
		for what, v := range map[string]int64{"rows": n, "bytes": 8 * n} {
			for to, forged := range map[string]int64{
				"2⁶²":       1 << 62,
				"2⁴⁰":       1 << 40,
				"2³⁰":       1 << 30,
				"−1":        -1,
				"some more": v + 8,
			} {
				if strings.Contains(text, number(v)) {
					out[name+", "+what+" "+to] = strings.ReplaceAll(text, number(v), number(forged))
				}
			}
		}
	}
	for name, opt := range map[string]ipc.Option{"lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()} {
		text := arrowOf(t, true, n, opt)
		out[name] = text
		for to, forged := range map[string]int64{"2⁶²": 1 << 62, "2⁴⁰": 1 << 40, "a GiB": 1 << 30, "less": 8} {
			out[name+", a column of "+to] = strings.ReplaceAll(text, number(8*n), number(forged))
		}
	}
	zstd := arrowOf(t, true, n, ipc.WithZstd())
	frame := strings.Index(zstd, "\x28\xb5\x2f\xfd") + 4
	out["zstd, a window of 3 GiB"] = zstd[:frame] + "\x00\xac" + zstd[frame+2:]
	out["metadata of 2 GiB"] = "\xff\xff\xff\xff\xff\xff\xff\x7f" + strings.Repeat("x", 100)
	out["a file of nothing"] = "ARROW1\x00\x00" + strings.Repeat("\xff", 40) + "ARROW1"
	return out
}
