package npy_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
)

// array is a version 1 file with the given dictionary entries and body.
func array(descr, fortran, shape string, body []byte) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
	dict += strings.Repeat(" ", 127-(10+len(dict))%64) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict)))
	return append(append(head, dict...), body...)
}

// BenchmarkRead: bytes of the file a second, delivered to a consumer that does
// nothing.
func BenchmarkRead(b *testing.B) {
	for _, d := range []int{100, 1000, 4096} {
		for _, c := range []struct {
			name, descr, fortran string
			size                 int
			targets              []string
		}{
			{"float64", "<f8", "False", 8, nil},
			{"float64,target", "<f8", "False", 8, []string{"last"}},
			{"float32", "<f4", "False", 4, nil},
			{"int16", "<i2", "False", 2, nil},
			{"big", ">f8", "False", 8, nil},
			{"fortran", "<f8", "True", 8, nil},
			{"fortran,float32", "<f4", "True", 4, nil},
		} {
			b.Run(fmt.Sprintf("%s/d=%d", c.name, d), func(b *testing.B) {
				n := (64 << 20) / c.size / d
				body := array(c.descr, c.fortran, fmt.Sprintf("(%d, %d)", n, d), bytes.Repeat([]byte{0x3f}, n*d*c.size))
				path := filepath.Join(b.TempDir(), "x.npy")
				if err := os.WriteFile(path, body, 0o600); err != nil {
					b.Fatal(err)
				}
				s, err := npy.Open(path, npy.Options{Targets: c.targets})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					pass(b, s)
				}
			})
		}
	}
}

func pass(b *testing.B, s dataset.Source) {
	for _, err := range s.Blocks(context.Background()) {
		if err != nil {
			b.Fatal(err)
		}
	}
}
