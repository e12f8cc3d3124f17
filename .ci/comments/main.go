// Command comments writes the comments of Go files as Markdown, for tools that check prose:
//
//	comments FOLDER FILE...
//
// FOLDER/FILE.md has the lines of FILE. Code, directives, indented examples and the output of examples become empty
// lines.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "comments:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: comments FOLDER FILE")
	}
	for _, name := range args[1:] {
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out := filepath.Join(args[0], name+".md")
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(out, []byte(markdown(fset, f, src)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var (
	directive = regexp.MustCompile(`^//[a-z0-9]+:[a-z]|^// ?#|^//line `)
	output    = regexp.MustCompile(`^//\s*(?i:(?:unordered )?output):`)
	item      = regexp.MustCompile(`^\s+(?:[-*+•]|\d+[.)])\s+`)
	dot       = regexp.MustCompile(`([\pL\pN)])\.([\pL_])`)
	indented  = regexp.MustCompile(`^(?:\t|  )`)
)

// markdown returns the comments of a file, each in the line in which it stands. A comment after code becomes an item
// of a list.
func markdown(fset *token.FileSet, f *ast.File, src []byte) string {
	code := strings.Split(string(src), "\n")
	lines := make([]string, len(code))
	for _, group := range f.Comments {
		if group == preamble(f) {
			continue
		}
		inItem, isOutput := false, false
		for _, c := range group.List {
			at := fset.PositionFor(c.Pos(), false)
			i, isTrailing := at.Line-1, strings.TrimSpace(code[at.Line-1][:at.Column-1]) != ""
			text, isLine := strings.CutPrefix(c.Text, "//")
			isOutput = isOutput || output.MatchString(c.Text)
			switch {
			case isOutput, directive.MatchString(c.Text):
			case !isLine:
				for j, l := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(c.Text, "/*"), "*/"), "\n") {
					lines[i+j] = escape(strings.TrimSpace(l))
				}
			case isTrailing:
				lines[i] = "- " + escape(strings.TrimSpace(text))
			case item.MatchString(text):
				lines[i], inItem = "- "+escape(item.ReplaceAllString(text, "")), true
			case strings.TrimSpace(text) == "", indented.MatchString(text) && !inItem:
				inItem = inItem && strings.TrimSpace(text) != ""
			default:
				lines[i] = escape(strings.TrimSpace(text))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// preamble returns the comment that holds C code for cgo, or nil.
func preamble(f *ast.File) *ast.CommentGroup {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT && d.Specs[0].(*ast.ImportSpec).Path.Value == `"C"` {
			return d.Doc
		}
	}
	return nil
}

// escape replaces the characters that Markdown takes for markup, except backquotes. It also replaces dots inside names
// such as fs.FS. Otherwise the prose checker vale misses the end of a sentence after such a name.
func escape(text string) string {
	text = dot.ReplaceAllString(text, "$1·$2")
	return strings.NewReplacer(
		"<", "‹", ">", "›", "*", "∗", "_", "‗", "#", "＃", "|", "│", "[", "‹", "]", "", "~", "∼", "$", "＄",
	).Replace(text)
}
