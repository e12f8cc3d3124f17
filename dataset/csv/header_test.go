package csv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestWideHeader: a header takes a small multiple of its bytes, and no memory of its own
// for each name.
func TestWideHeader(t *testing.T) {
	const n = 300000
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprint("c", i)
	}
	header := strings.Join(want, " , ")
	path := filepath.Join(t.TempDir(), "wide.csv")
	for rows, most := range map[string]uint64{"": 12, strings.Repeat("1,", n-1) + "1\n": 15} {
		if err := os.WriteFile(path, []byte(header+"\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		names, err := Columns(path, Options{})
		runtime.ReadMemStats(&after)
		if err != nil || !slices.Equal(names, want) {
			t.Fatalf("%d names, %v", len(names), err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > most*uint64(len(header)+len(rows))+1<<20 {
			t.Errorf("%d bytes for a header of %d and rows of %d", took, len(header), len(rows))
		}
		if took := after.Mallocs - before.Mallocs; took > 2000 {
			t.Errorf("%d allocations for %d names", took, n)
		}
	}
}
