package errtext_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/internal/errtext"
)

// TestError: names of packages disappear from every error in a tree, and nothing else does.
func TestError(t *testing.T) {
	inner := errors.New("fd: byte 7")
	for want, err := range map[string]error{
		"byte 7":                            inner,
		"a.fds: byte 7":                     fmt.Errorf("a.fds: %w", inner),
		"no rows: byte 7":                   fmt.Errorf("ridge: no rows: %w", inner),
		"byte 7\nno rows":                   errors.Join(inner, errors.New("model: no rows")),
		"--out: x: byte 7; no rows":         fmt.Errorf("--out: %w; %w", fmt.Errorf("dataset: x: %w", inner), errors.New("model: no rows")),
		"column fd: byte 7":                 errors.New("column fd: byte 7"),
		"fish: byte 7":                      fmt.Errorf("fish: %w", inner),
		"a level \"model: fd: x\" is twice": errors.New("ridge: a level \"model: fd: x\" is twice"),
	} {
		if got := errtext.Error(err); got != want {
			t.Errorf("%q becomes %q, want %q", err, got, want)
		}
	}
}

// TestErrorPackages: the names of all packages of this module that begin texts of errors are known.
func TestErrorPackages(t *testing.T) {
	root := filepath.Join("..", "..")
	prefixes, names := map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() &&
			(d.Name() == "_asm" || d.Name() == "beam" || d.Name() == "bench" || d.Name() == "verify" || strings.HasSuffix(d.Name(), "test") || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names[file.Name.Name] = true
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
					return false
				}
			}
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if s, err := strconv.Unquote(text.Value); err == nil {
					if name, rest, ok := strings.Cut(s, ": "); ok && rest != "" {
						prefixes[name] = path
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range prefixes {
		if names[name] && errtext.Error(errors.New(name+": x")) != "x" {
			t.Errorf("%s: the name %q begins the text of an error and is not known", path, name)
		}
	}
}
