package arrows

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestExported checks that users can name all types that they meet. Users can import packages that are not internal.
// Their exported functions, methods, fields and variables must not mention types of internal packages. The exception is
// a type that such a package exports under another name, as an alias.
func TestExported(t *testing.T) {
	read(t, "../../..")
	e := exportedTypes{named: map[*types.TypeName]bool{}}
	for _, p := range load(t, "../../..") {
		if !isInternal(p.Path()) && p.Name() != "main" {
			e.packages = append(e.packages, p)
		}
	}
	e.findAliases()
	for _, what := range e.check() {
		t.Error(what)
	}
}

// TestExportedFinds checks that TestExported finds each kind of mention.
func TestExportedFinds(t *testing.T) {
	hidden := types.NewPackage(module+"/internal/hidden", "hidden")
	name := func(text string) *types.Named {
		return types.NewNamed(types.NewTypeName(token.NoPos, hidden, text, nil), types.NewStruct(nil, nil), nil)
	}
	lost, known := name("Lost"), name("Known")
	open := types.NewPackage(module+"/open", "open")
	declare := func(o types.Object) { open.Scope().Insert(o) }
	parameter := func(of types.Type) *types.Tuple { return types.NewTuple(types.NewVar(token.NoPos, open, "x", of)) }
	accepts := func(of types.Type) *types.Signature {
		return types.NewSignatureType(nil, nil, nil, parameter(of), nil, false)
	}
	declare(types.NewFunc(token.NoPos, open, "Accepts", accepts(types.NewPointer(lost))))
	declare(types.NewFunc(token.NoPos, open, "accepts", accepts(lost)))
	declare(types.NewFunc(token.NoPos, open, "AcceptsKnown", accepts(known)))
	alias := types.NewTypeName(token.NoPos, open, "Alias", nil)
	types.NewAlias(alias, known)
	declare(alias)
	fields := types.NewStruct([]*types.Var{
		types.NewField(token.NoPos, open, "Lost", types.NewSlice(lost), false),
		types.NewField(token.NoPos, open, "lost", lost, false),
	}, nil)
	box := types.NewTypeName(token.NoPos, open, "Box", nil)
	made := types.NewNamed(box, fields, nil)
	receiver := types.NewVar(token.NoPos, open, "b", made)
	returns := types.NewSignatureType(receiver, nil, nil, nil, parameter(types.NewMap(types.Typ[types.Int], lost)), false)
	made.AddMethod(types.NewFunc(token.NoPos, open, "Returns", returns))
	declare(box)
	e := exportedTypes{packages: []*types.Package{open}, named: map[*types.TypeName]bool{}}
	e.findAliases()
	got := e.check()
	want := []string{"open.Accepts", "open.Box.Lost", "open.Box.Returns"}
	for i, w := range want {
		want[i] = w + " mentions internal/hidden.Lost, which users cannot name"
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// isInternal reports whether users cannot import a package of the module, or are not meant to.
func isInternal(pkg string) bool { return slices.Contains(strings.Split(pkg, "/"), "internal") }

// load returns the types of all packages of the module in a directory.
func load(t *testing.T, dir string) []*types.Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(pkg string) (io.ReadCloser, error) {
		return os.Open(exports[pkg])
	})
	var packages []*types.Package
	for _, pkg := range slices.Sorted(maps.Keys(exports)) {
		if _, inside := within(pkg); !inside || exports[pkg] == "" { // "" for a package of tests only
			continue
		}
		p, err := from.Import(pkg)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}

// exportedTypes checks the types that packages mention.
type exportedTypes struct {
	packages []*types.Package
	named    map[*types.TypeName]bool // types of internal packages that an alias exports
	found    []string
}

// findAliases finds the types of internal packages that have an exported alias.
func (e *exportedTypes) findAliases() {
	for _, p := range e.packages {
		for _, name := range p.Scope().Names() {
			o, isType := p.Scope().Lookup(name).(*types.TypeName)
			if !isType || !o.Exported() || !o.IsAlias() {
				continue
			}
			if of, isNamed := types.Unalias(o.Type()).(*types.Named); isNamed {
				e.named[of.Origin().Obj()] = true
			}
		}
	}
}

// check returns the mentions of types that users cannot name, sorted.
func (e *exportedTypes) check() []string {
	for _, p := range e.packages {
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				e.object(path.Base(p.Path())+"."+name, o)
			}
		}
	}
	slices.Sort(e.found)
	return slices.Compact(e.found)
}

// object checks a declaration.
func (e *exportedTypes) object(where string, o types.Object) {
	of, isNamed := types.Unalias(o.Type()).(*types.Named)
	if _, isType := o.(*types.TypeName); !isType || !isNamed {
		e.mention(where, o.Type())
		return
	}
	e.mention(where, of.Underlying())
	for i := range of.NumMethods() {
		if m := of.Method(i); m.Exported() {
			e.mention(where+"."+m.Name(), m.Type())
		}
	}
}

// mention checks the types that are parts of a type.
func (e *exportedTypes) mention(where string, of types.Type) {
	switch of := types.Unalias(of).(type) {
	case *types.Named:
		o := of.Origin().Obj()
		if o.Pkg() != nil && isInternal(o.Pkg().Path()) && !e.named[o] {
			if pkg, inside := within(o.Pkg().Path()); inside {
				what := fmt.Sprintf("%s mentions %s.%s, which users cannot name", where, pkg, o.Name())
				e.found = append(e.found, what)
			}
		}
		for i := range of.TypeArgs().Len() {
			e.mention(where, of.TypeArgs().At(i))
		}
	case *types.Pointer:
		e.mention(where, of.Elem())
	case *types.Slice:
		e.mention(where, of.Elem())
	case *types.Array:
		e.mention(where, of.Elem())
	case *types.Chan:
		e.mention(where, of.Elem())
	case *types.Map:
		e.mention(where, of.Key())
		e.mention(where, of.Elem())
	case *types.Signature:
		for _, list := range []*types.Tuple{of.Params(), of.Results()} {
			for i := range list.Len() {
				e.mention(where, list.At(i).Type())
			}
		}
	case *types.Struct:
		for i := range of.NumFields() {
			if f := of.Field(i); f.Exported() {
				e.mention(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for i := range of.NumMethods() {
			if m := of.Method(i); m.Exported() {
				e.mention(where+"."+m.Name(), m.Type())
			}
		}
	}
}
