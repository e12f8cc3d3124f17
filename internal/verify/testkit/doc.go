// Package testkit has what the tests of ridge and of the packages above it share. These are random problems, tables,
// sources of rows that change or end, a journal in memory, reducers, and public data.
package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file, given by the elements of its path below the root of the module.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir}, elements...)...)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod in a parent folder")
		}
		dir = parent
	}
}
