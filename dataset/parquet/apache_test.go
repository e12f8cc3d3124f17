package parquet_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/verify/apachetest"
)

// TestApache reads all Parquet files of Apache's repositories parquet-testing and arrow-testing. Each column of numbers
// equals the values that arrow-go reads; testdata/arrow/apache_test.go wrote their hashes.
func TestApache(t *testing.T) {
	apachetest.Run(t, filepath.Join("testdata", "apache.txt"), apachetest.Reader{
		IsInput: func(path string) bool { return strings.HasSuffix(path, ".parquet") },
		Columns: parquet.Columns,
		Open: func(path, column string) (dataset.Source, error) {
			return parquet.Open(
				path,
				parquet.Options{Columns: []string{column}, Cells: &prepare.Cells{Missing: prepare.MissingMean}},
			)
		},
		// arrow-go cannot read these files, or reads no value although there is one null, or reads compressed bytes.
		More: []string{
			"parquet-testing/data/hadoop_lz4_compressed.parquet", "parquet-testing/data/non_hadoop_lz4_compressed.parquet",
			"parquet-testing/data/unknown-logical-type.parquet", "parquet-testing/data/datapage_v2_empty_datapage.snappy.parquet",
			"arrow-testing/data/parquet/ARROW-17100.parquet",
		},
		Refused: []string{"corrupt-checksum"}, // arrow-go does not verify checksums
	})
}
