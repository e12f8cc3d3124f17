package parquet_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/fdridge/fdridge/dataset/parquet"
)

// TestChecksum: a page whose bytes do not have the stated CRC-32 is an error with the position of the page. Pages
// without a checksum are not checked.
func TestChecksum(t *testing.T) {
	for _, l := range []layout{{}, {version2: true}, {encoding: indices}} {
		l.pageRows = 10
		for _, sums := range []bool{true, false} {
			l.checksum = sums
			c := column{node("a", false, double, nil), sequence(30), nil}
			text := encode(t, 1, []column{c}, l)
			page := bytes.Index(text, binary.LittleEndian.AppendUint64(nil, 0x3ff4000000000000)) // 1.25
			text[page] ^= 1
			_, err := open(write(t, text), parquet.Options{})
			if !sums && err != nil {
				t.Errorf("%+v: %v", l, err)
			}
			if sums &&
				(err == nil || !strings.Contains(
					err.Error(), ":1:1: column a cannot be read: the page at byte ",
				) || !strings.Contains(err.Error(), "its header states")) {
				t.Errorf("%+v: %v", l, err)
			}
		}
	}
}

// TestOldLZ4 reads codec 5 as older versions of Arrow wrote it: one block, or a frame. A block that lies outside its
// page is an error.
func TestOldLZ4(t *testing.T) {
	c := column{node("a", false, double, nil), make([]float64, 3000), nil}
	values := make([]byte, 8*3000)
	for name, packed := range map[string][]byte{
		"block":            compressed(t, lz, values),
		"frame":            framed(t, values),
		"Hadoop":           compressed(t, hadoop, values),
		"!cut":             compressed(t, hadoop, values)[:40],
		"!a block outside": append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 24000), 1<<30), 1, 2, 3),
		"!too long":        append(binary.BigEndian.AppendUint32(nil, 1<<31), compressed(t, hadoop, values)...),
		"!none":            {},
	} {
		isBad := strings.HasPrefix(name, "!")
		_, err := open(write(t, onePage(t, c, packed, len(values))), parquet.Options{})
		if (err != nil) != isBad {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func framed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// onePage is a file with one column and one page of codec 5, with the given bytes.
func onePage(t *testing.T, c column, packed []byte, size int) []byte {
	t.Helper()
	n := size / 8
	head := structOf(fields(nil, 1, int32(n), 2, int32(plain), 3, int32(runs), 4, int32(runs)))
	out := append([]byte("PAR1"), layout{}.header(0, size, packed, 5, head)...)
	out = append(out, packed...)
	meta := fields(
		nil,
		1,
		int32(double),
		2,
		listOf{},
		3,
		listOf{},
		4,
		int32(hadoop),
		5,
		n,
		6,
		size,
		7,
		len(packed),
		9,
		4,
	)
	groups := listOf{fields(nil, 1, listOf{fields(nil, 2, 4, 3, structOf(meta))}, 2, size, 3, n)}
	schema := append(listOf{fields(nil, 4, "schema", 5, int32(1))}, c.node...)
	footer := fields(nil, 1, int32(1), 2, schema, 3, n, 4, groups, 6, "a test")
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}
