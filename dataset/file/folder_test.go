package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
)

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestFolder checks which folders are tables, and the order of their files.
func TestFolder(t *testing.T) {
	for names, want := range map[string]string{
		"_SUCCESS ._SUCCESS.crc part-00001-a.csv .part-00001-a.csv.crc part-00000-a.csv": "part-00000-a.csv part-00001-a.csv",
		"part.10.parquet part.9.parquet part.0.parquet _metadata": "" +
			"part.0.parquet part.9.parquet part.10.parquet",
		"_SUCCESS 000001_0 000000_0":     "000000_0 000001_0",
		"part-0.csv empty-part-1.csv":    "",
		"a.csv b.csv":                    "",
		"part-0.csv other.csv":           "",
		"part-0.csv part-1/":             "",
		"_SUCCESS x=1/":                  "",
		"_SUCCESS":                       "",
		"part-00 part-0 part-000 part-1": "part-0 part-00 part-000 part-1",
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(names) {
			path := filepath.Join(dir, name)
			if strings.HasSuffix(name, "/") {
				mkdir(t, path)
			} else if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "part-empty"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, path := range file.Folder(dir) {
			got = append(got, filepath.Base(path))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", names, s, want)
		}
	}
	if got := file.Folder(filepath.Join(t.TempDir(), "absent")); got != nil {
		t.Errorf("no folder: %v", got)
	}
}
