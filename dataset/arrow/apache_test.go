package arrow_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/verify/apachetest"
)

// TestApache reads all Arrow files and streams of Apache's repository arrow-testing. Each column of numbers equals the
// values that arrow-go reads; the test TestApache in dataset/parquet/testdata/arrow wrote their hashes.
func TestApache(t *testing.T) {
	apachetest.Run(t, filepath.Join("testdata", "apache.txt"), apachetest.Reader{
		IsInput: func(path string) bool {
			return strings.Contains(path, "/data/arrow-ipc-") && !strings.HasSuffix(path, ".gz") &&
				!strings.HasSuffix(path, ".md")
		},
		Columns: func(path string) ([]string, error) { return arrow.Columns(path, arrow.Options{}) },
		Open: func(path, column string) (dataset.Source, error) {
			return arrow.Open(
				path,
				arrow.Options{Columns: []string{column}, Cells: &prepare.Cells{Missing: prepare.MissingMean}},
			)
		},
		Refused: []string{"bigendian", "/0.14.1/"}, // with another byte order, or in a format of 2019
	})
}
