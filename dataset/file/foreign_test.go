package file_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
)

// TestForeignStreams: streams by the zstd and gzip commands, whatever their level,
// checksum, window and number of frames or members; testdata/write.sh makes them.
func TestForeignStreams(t *testing.T) {
	for name, want := range map[string]string{
		"fast.csv.zst":       "",
		"ultra.csv.zst":      "",
		"sized.csv.zst":      "",
		"window128M.csv.zst": "",
		"frames.csv.zst":     "", // two, and one to be skipped between them
		"members.csv.gz":     "",
		"window2G.csv.zst":   ":1: the zstd stream needs a window of more than 128 MiB",
		"cut.csv.zst":        ":1: the zstd stream is truncated",
	} {
		path := filepath.Join("testdata", name)
		err := readCompressed(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), path+want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// readCompressed compares what is read with what testdata/write.sh wrote.
func readCompressed(path string) error {
	src, err := file.Open([]string{path}, file.Options{Target: []string{"c"}, Targets: 1})
	if err != nil {
		return err
	}
	i := 0
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			return err
		}
		for k := range b.N {
			i++
			if x, y := b.X[2*k:2*k+2], b.Y[k]; x[0] != float64(i) || x[1] != float64(i*i) || y != float64(17*i%101) {
				return fmt.Errorf("row %d: %v, %v", i, x, y)
			}
		}
	}
	if i != 3000 {
		return fmt.Errorf("%d rows, want 3000", i)
	}
	return nil
}
