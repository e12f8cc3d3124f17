package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

var kinds = []wire.Kind{wire.Sketch, wire.Summary, wire.Checkpoint, wire.Lanes, wire.Window, wire.Fading}

// message has the content.
func message(t *testing.T, kind wire.Kind, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	m := wire.NewWriter(&b, kind, int64(len(content)))
	m.Bytes(content)
	if n, err := m.Close(); err != nil || n != int64(b.Len()) {
		t.Fatal(n, err)
	}
	return b.Bytes()
}

// TestPreamble: each field of a preamble that is wrong is refused at its place, whatever the checksum says.
func TestPreamble(t *testing.T) {
	for _, kind := range kinds {
		other := wire.Sketch
		if kind == other {
			other = wire.Summary
		}
		put32 := func(at int, v uint32) func(b []byte) {
			return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
		}
		put64 := func(at int, v uint64) func(b []byte) { return func(b []byte) { wiretest.Put(b, at, v) } }
		for what, c := range map[string]struct {
			spoil  func(b []byte)
			at     int64 // -1: it is taken
			newer  bool
			length int64
		}{
			"nothing":             {func([]byte) {}, -1, false, 5},
			"magic":               {func(b []byte) { b[7]++ }, 0, false, 0},
			"version 0":           {put32(8, 0), 8, false, 0},
			"the newest version":  {put32(8, kind.Version()), -1, false, 5},
			"a newer version":     {put32(8, kind.Version()+1), 8, true, 0},
			"the largest version": {put32(8, math.MaxUint32), 8, true, 0},
			"another kind":        {put32(12, uint32(other)), 12, false, 0},
			"no kind":             {put32(12, 0), 12, false, 0},
			"shorter than any":    {put64(16, wire.Frame-1), 16, false, 0},
			"the shortest":        {put64(16, wire.Frame), -1, false, 0},
			"the longest":         {put64(16, math.MaxInt64), -1, false, math.MaxInt64 - wire.Frame},
			"too long":            {put64(16, 1<<63), 16, false, 0},
		} {
			b := message(t, kind, []byte("12345"))
			c.spoil(b)
			m := wire.NewReader(bytes.NewReader(wiretest.Seal(b)))
			version, size := m.Preamble(kind)
			if c.at < 0 {
				if m.Err() != nil || size != c.length || version != kind.Version() {
					t.Errorf("%v, %s: version %d, %d bytes, %v", kind, what, version, size, m.Err())
				}
				continue
			}
			e, ok := errors.AsType[*wire.Error](m.Err())
			if !ok || e.Offset != c.at || errors.Is(e, wire.ErrVersion) != c.newer {
				t.Errorf("%v, %s: %v", kind, what, m.Err())
			}
		}
	}
}

// TestReads: readers return the content of a message to the bit, whether or not they know its length, and for any
// length. Messages that are truncated or changed are refused.
func TestReads(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 511, 512, 513, 1500, 5000} { // a chunk has 512 sums
		floats, ints, int32s := make([]float64, n), make([]int, n), make([]int32, n)
		int64s, sums, text := make([]int64, n), make([]twofold.Total, n), make([]byte, n)
		for i := range n {
			floats[i] = math.Float64frombits(uint64(i) * 0x9e3779b97f4a7c15 >> 2)
			ints[i], int32s[i], int64s[i], text[i] = i*i, int32(-i), -int64(i)<<40, byte(i)
			sums[i] = twofold.TotalFromParts(floats[i], float64(i)*0x1p-60)
		}
		var b bytes.Buffer
		m := wire.NewWriter(&b, wire.Sketch, int64(45*n))
		m.Float64s(floats)
		m.Ints(ints)
		m.Int32s(int32s)
		m.Int64s(int64s)
		m.Sums(sums)
		m.Bytes(text)
		if _, err := m.Close(); err != nil || b.Len() != 45*n+wire.Frame {
			t.Fatal(b.Len(), err)
		}
		read := func(r io.Reader, whole bool) error {
			m := wire.NewReader(r)
			if _, size := m.Preamble(wire.Sketch); whole && size != int64(45*n) {
				t.Errorf("%d: the content has %d bytes", n, size)
			}
			f, i, i32, i64, s, x := m.Float64s(n), m.Ints(n), m.Int32s(n), m.Int64s(n), m.Sums(n), m.Bytes(n)
			m.Close()
			if whole &&
				!(slices.Equal(f, floats) && slices.Equal(i, ints) && slices.Equal(
					i32, int32s,
				) && slices.Equal(i64, int64s) && slices.Equal(s, sums) && bytes.Equal(x, text)) {
				t.Errorf("%d: other numbers are read", n)
			}
			return m.Err()
		}
		for way, open := range wiretest.Readers {
			if err := read(open(b.Bytes()), true); err != nil {
				t.Errorf("%s: %v", way, err)
			}
			for cut := 1; cut < b.Len(); cut += 1 + b.Len()/20 {
				if err := read(open(b.Bytes()[:cut]), false); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s: %d of %d bytes: %v", way, cut, b.Len(), err)
				}
			}
			spoilt := slices.Clone(b.Bytes())
			spoilt[len(spoilt)-5] ^= 1
			if err := read(open(spoilt), false); err == nil {
				t.Errorf("%s: a changed bit is taken", way)
			}
		}
	}
}
