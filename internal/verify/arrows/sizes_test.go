package arrows

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A size is a thermometer, not a goal: code that is cut to fit is worse than a long function. Files,
// functions and types beyond these sizes mostly do too much.
const (
	maxFileLines     = 500
	maxFunctionLines = 90
	maxFields        = 14
)

// tooLarge are the sizes that are larger, with the reason.
var tooLarge = map[string]string{
	"engine: type Tuning":                         "options",
	"engine/purego/internal/kernel: type Kernel":  "a table of the loops of an instruction set",
	".: type Options":                             "options",
	"paper: type Config":                          "options",
	"cmd/fdridge/internal/report: type fitRecord": "the record that --json prints",
}

// TestSizes holds every file to the sizes above, but for tests and what only they use, and
// for generated files. An exception that is none any more has to go.
func TestSizes(t *testing.T) {
	read(t, "../../..")
	found := map[string]string{}
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name := entry.Name(); name == "testdata" || name == "verify" || strings.HasPrefix(name, ".") && name != ".." {
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
		return sizes(path, filepath.ToSlash(name), found)
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

// sizes adds to found what is too large in one file.
func sizes(path, name string, found map[string]string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(f) {
		return nil
	}
	if n := files.Position(f.FileEnd).Line; n > maxFileLines {
		found[name] = fmt.Sprintf("has %d lines, at most %d", n, maxFileLines)
	}
	dir := filepath.ToSlash(filepath.Dir(name))
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := files.Position(n.End()).Line - files.Position(n.Pos()).Line + 1; lines > maxFunctionLines {
				found[dir+": func "+n.Name.Name] = fmt.Sprintf("has %d lines, at most %d", lines, maxFunctionLines)
			}
		case *ast.TypeSpec:
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

// maxPackageLines is the largest number of lines of a package, tests excluded.
const maxPackageLines = 6000

// TestPackageSizes holds every package to maxPackageLines.
func TestPackageSizes(t *testing.T) {
	lines := map[string]int{}
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..") {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel("../../..", filepath.Dir(path))
		lines[filepath.ToSlash(name)] += bytes.Count(text, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range lines {
		if n > maxPackageLines {
			t.Errorf("%s has %d lines, at most %d", name, n, maxPackageLines)
		}
	}
}
