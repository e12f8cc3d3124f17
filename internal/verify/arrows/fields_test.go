package arrows

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// maxFields is the largest number of fields of a struct. A reader must keep all fields of a type in mind.
const maxFields = 16

// tooLarge lists the types with more fields, with the reason.
var tooLarge = map[string]string{
	"engine/purego/internal/kernel: type Kernel": "a table of the loops of an instruction set",
	".: type Options":                             "options",
	"table: type Spec":                            "options, one for each flag about rows",
	"paper: type Config":                          "options",
	"cmd/fdridge/internal/report: type fitRecord": "the record that --json prints",
}

// TestFields checks the number of fields of each struct, except in tests, in packages for tests and in generated
// files. It also checks that each exception is needed.
func TestFields(t *testing.T) {
	read(t, "../../..")
	found := map[string]string{}
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			name := entry.Name()
			if name == "testdata" || name == "verify" || strings.HasPrefix(name, ".") && name != ".." {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		name, err := filepath.Rel("../../..", path)
		if err != nil {
			return err
		}
		return addLarge(path, filepath.ToSlash(name), found)
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, is := range found {
		if tooLarge[what] == "" {
			t.Errorf("%s %s", what, is)
		}
	}
	for what, reason := range tooLarge {
		if found[what] == "" {
			t.Errorf("%s is an exception (%s) and need not be", what, reason)
		}
	}
}

// addLarge adds the types of one file with too many fields to found.
func addLarge(path, name string, found map[string]string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(f) {
		return nil
	}
	dir := filepath.ToSlash(filepath.Dir(name))
	ast.Inspect(f, func(n ast.Node) bool {
		if n, ok := n.(*ast.TypeSpec); ok {
			if s, ok := n.Type.(*ast.StructType); ok && fields(s) > maxFields {
				found[dir+": type "+n.Name.Name] = fmt.Sprintf("has %d fields, at most %d", fields(s), maxFields)
			}
		}
		return true
	})
	return nil
}

func fields(s *ast.StructType) int {
	n := 0
	for _, f := range s.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}
