// Package testkit contains what the tests of package ridge share with the tests of packages that use ridge. It has
// random problems, tables, public data, a journal in memory and reducers. It also has sources whose rows change or
// end.
package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file in this module. elements are the parts of its path below the root of the module.
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
