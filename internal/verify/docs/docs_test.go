// Package docs is for tests: the identifiers, flags and files that the pages name exist.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../../.."

// foreign are words that look like identifiers of this module but come from elsewhere: data, Python, Go's tools and
// other programs.
var foreign = strings.Fields(`
	True False None NaN Nord March BayesianRidge Ridge RidgeClassifier RidgeCV Sketch.load Sketch.frombytes ValueError
	ConvergenceWarning UserWarning FutureWarning RidgeClassifierCV RidgeClassifier.partial_fit AggregateFnV2 CombineFn
	FdridgeError MemoryError distributed.Client fdridge.dask fdridge.dask.fit fdridge.dask.sketch KeyboardInterrupt
	StandardScaler OneHotEncoder SimpleImputer RBFSampler --array --tmpfs --help --version
`)

// A tree has everything that the pages may name.
type tree struct {
	files    []string                   // paths from the root
	exported map[string]map[string]bool // exported names of each package, by its name
	members  map[string]map[string]bool // fields and methods of each type, by its name; "": of all types
	embedded map[string][]string        // types that each type embeds
	tests    map[string]bool            // functions of test files
	flags    map[string]bool
	text     strings.Builder // all sources
}

func load(t *testing.T) *tree {
	t.Helper()
	w := &tree{
		exported: map[string]map[string]bool{},
		members:  map[string]map[string]bool{"": {}},
		embedded: map[string][]string{},
		tests:    map[string]bool{},
		flags:    map[string]bool{},
	}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		w.files = append(w.files, filepath.ToSlash(name))
		if filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if filepath.Base(name) != "docs_test.go" {
			w.text.Write(src)
		}
		f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		w.add(f, strings.HasSuffix(name, "_test.go"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// add adds the declarations of a file.
func (w *tree) add(f *ast.File, isTest bool) {
	pkg := f.Name.Name
	if w.exported[pkg] == nil {
		w.exported[pkg] = map[string]bool{}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case isTest:
				w.tests[d.Name.Name] = true
			case d.Recv != nil:
				w.member(receiver(d.Recv.List[0].Type), d.Name.Name)
			default:
				w.exported[pkg][d.Name.Name] = true
			}
		case *ast.GenDecl:
			if !isTest {
				w.declare(pkg, d)
			}
		}
	}
	if pkg == "main" || pkg == "input" {
		ast.Inspect(f, w.flag)
	}
}

func (w *tree) declare(pkg string, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			for _, n := range s.Names {
				w.exported[pkg][n.Name] = true
			}
		case *ast.TypeSpec:
			w.exported[pkg][s.Name.Name] = true
			var fields *ast.FieldList
			switch x := s.Type.(type) {
			case *ast.StructType:
				fields = x.Fields
			case *ast.InterfaceType:
				fields = x.Methods
			default:
				continue
			}
			for _, field := range fields.List {
				for _, n := range field.Names {
					w.member(s.Name.Name, n.Name)
				}
				if len(field.Names) == 0 {
					embedded := receiver(field.Type)
					w.member(s.Name.Name, embedded)
					w.embedded[s.Name.Name] = append(w.embedded[s.Name.Name], embedded)
				}
			}
		}
	}
}

func (w *tree) member(of, name string) {
	if w.members[of] == nil {
		w.members[of] = map[string]bool{}
	}
	w.members[of][name] = true
	w.members[""][name] = true
}

// receiver returns the name of the type of a receiver or an embedded field.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

var defines = regexp.MustCompile(`^(String|Bool|Int|Uint64|Float64|Duration)?(Slice)?(Var)?P?$`)

// flag adds the flag that a node defines, as in f.StringVar(&x, "name", …).
func (w *tree) flag(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); !ok || !defines.MatchString(f.Sel.Name) {
		return true
	}
	for _, a := range call.Args {
		if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if name, err := strconv.Unquote(lit.Value); err == nil {
				w.flags[name] = true
			}
			break
		}
	}
	return true
}

var (
	span       = regexp.MustCompile("`[^`]+`")
	identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*`)
	capital    = regexp.MustCompile(`^[A-Z][A-Z0-9]*[a-z][A-Za-z0-9_]*$`)
	flagName   = regexp.MustCompile(`(?:^|[\s(])--([a-z][a-z0-9-]*)`)
	variable   = regexp.MustCompile(`FDRIDGE_[A-Z_]+`)
	ours       = regexp.MustCompile(
		`^(-|fdridge |go run (-tags \S+ )?\./cmd/fdridge|` +
			`fit |sketch |merge |solve |predict |plan |plot |doctor |paper |show )`,
	)
	goFile = regexp.MustCompile(`^[\w./-]+\.go$`)
)

// faults returns what the code of one page names and the tree does not have.
func (w *tree) faults(page string) (out []string) {
	var prose []string
	isCode := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			isCode = !isCode
			line = "\n"
		}
		if !isCode {
			prose = append(prose, line)
		}
	}
	for _, s := range span.FindAllString(strings.Join(prose, ""), -1) {
		s = strings.Trim(s, "`")
		for _, name := range variable.FindAllString(s, -1) {
			if !strings.Contains(w.text.String(), name) {
				out = append(out, "variable "+name)
			}
		}
		if ours.MatchString(s) {
			for _, m := range flagName.FindAllStringSubmatch(s, -1) {
				if !w.flags[m[1]] && !slices.Contains(foreign, "--"+m[1]) {
					out = append(out, "flag --"+m[1])
				}
			}
			continue
		}
		for _, word := range strings.Fields(s) {
			if goFile.MatchString(word) {
				if !slices.ContainsFunc(w.files, func(f string) bool { return f == word || strings.HasSuffix(f, "/"+word) }) {
					out = append(out, "file "+word)
				}
				continue
			}
			for _, name := range identifier.FindAllString(word, -1) {
				if !w.has(name) && !slices.Contains(foreign, name) {
					out = append(out, "identifier "+name)
				}
			}
		}
	}
	return out
}

// has reports whether a name may be what it looks like: Name, Type.Member, package.Name or package.Type.Member. Other
// words pass.
func (w *tree) has(name string) bool {
	parts := strings.Split(name, ".")
	if names := w.exported[parts[0]]; names != nil && len(parts) > 1 {
		if !capital.MatchString(parts[1]) {
			return true
		}
		return names[parts[1]] && (len(parts) == 2 || w.hasMember(parts[1], parts[2]))
	}
	if !capital.MatchString(parts[0]) {
		return true
	}
	if len(parts) > 1 {
		return w.hasMember(parts[0], parts[1])
	}
	if w.members[""][name] {
		return true
	}
	for test := range w.tests { // pages name Test and Benchmark functions by a part, as go test -run does
		if strings.Contains(test, name) {
			return true
		}
	}
	for _, names := range w.exported {
		if names[name] {
			return true
		}
	}
	return false
}

// hasMember reports whether a type with the name of has the field or method, its own or of an embedded type.
func (w *tree) hasMember(of, name string) bool {
	if w.members[of][name] {
		return true
	}
	return slices.ContainsFunc(w.embedded[of], func(e string) bool { return e != of && w.hasMember(e, name) })
}

// TestPages checks the pages of the root and of docs.
func TestPages(t *testing.T) {
	w := load(t)
	if len(w.flags) < 60 {
		t.Errorf("only %d flags were found", len(w.flags))
	}
	for _, page := range w.files {
		dir := path.Dir(page)
		if !strings.HasSuffix(page, ".md") || dir != "." && dir != "docs" ||
			page == "CHANGELOG.md" { // which names flags that were removed
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range w.faults(string(text)) {
			t.Errorf("%s names the %s, which does not exist", page, f)
		}
	}
}

// TestFaults checks that what does not exist is found.
func TestFaults(t *testing.T) {
	w := load(t)
	for _, s := range []string{"--gone", "fdridge fit --gone", "Result.Attainable", "fdridge.Options.Doubt", "ridge.Gone",
		"Gone", "ridge/gone.go", "FDRIDGE_GONE", "errors.Is(err, model.Gone)"} {
		if len(w.faults("x `"+s+"` y")) != 1 {
			t.Errorf("%s passes", s)
		}
	}
	for _, s := range []string{"--gamma", "Result.Remedies", "fdridge.Options.Size", "*ridge.ScaleError", "TestPages",
		"sbatch --array=1-4", "np.load", "model.json", "fit.go", "AᵀA"} {
		if f := w.faults("x `" + s + "` y"); len(f) > 0 {
			t.Errorf("%s is refused: %v", s, f)
		}
	}
}
