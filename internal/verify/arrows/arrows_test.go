// Package arrows holds the module to the import arrows of its design: it has only
// this test.
package arrows

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fdridge/fdridge"

// foundation has the packages that engine imports, directly or not.
var foundation = []string{"engine", "engine/cblas", "engine/purego/...", "engine/internal/...", "internal/..."}

func above(packages ...string) []string { return append(packages, foundation...) }

// library returns the packages that a program for ridge regression can use.
func library(packages ...string) []string {
	return above(append(packages, ".", "dataset/...", "dist/...", "fd", "randsketch", "ridge/...")...)
}

// arrows says what packages may depend on, directly or not, inside the module. A
// pattern x/... covers x and all below it; a package's own name holds for it before
// any pattern, and a longer pattern before a shorter.
var arrows = map[string][]string{
	"internal/...":        {"internal/..."},
	"internal/spectral":   above(),
	"internal/parallel":   above(),
	"internal/verify/...": library("internal/verify/..."),
	"engine/internal/...": {"engine/internal/...", "internal/..."},
	"engine/purego/...":   {"engine/purego/...", "engine/internal/...", "internal/..."},
	"engine/cblas":        {"engine/purego/...", "engine/internal/...", "internal/..."},
	"engine":              above(),
	"engine/enginetest":   above("internal/verify/..."),
	"fd":                  above(),
	"randsketch":          above("dataset", "fd"),
	"dataset":             above("dataset/internal/proportion"),
	"dataset/...":         above("dataset/..."),
	"ridge":               above("dataset", "fd", "ridge/internal/..."),
	"ridge/reason":        above("dataset", "fd", "ridge", "ridge/internal/..."),
	"ridge/choose":        above("dataset", "fd", "ridge", "ridge/reason", "ridge/internal/..."),
	"ridge/plan":          above("dataset", "fd", "ridge", "ridge/reason", "ridge/internal/..."),
	"ridge/columns":       above("dataset", "fd", "ridge", "ridge/internal/..."),
	"ridge/classes":       above("dataset", "fd", "ridge", "ridge/internal/..."),
	".": above(
		"dataset",
		"fd",
		"ridge",
		"ridge/choose",
		"ridge/classes",
		"ridge/plan",
		"ridge/columns",
		"ridge/reason",
		"ridge/internal/...",
	),
	"ridge/window":            above("dataset", "fd", "ridge", "ridge/internal/..."),
	"ridge/internal/roundoff": {},
	"ridge/internal/interval": {"ridge/internal/roundoff"},
	"ridge/internal/rows":     above("dataset", "fd", "ridge/internal/roundoff"),
	"ridge/internal/gram":     above("dataset", "fd", "ridge/internal/roundoff", "ridge/internal/rows"),
	"ridge/internal/accum": above(
		"dataset",
		"fd",
		"ridge/internal/certify",
		"ridge/internal/interval",
		"ridge/internal/roundoff",
		"ridge/internal/rows",
	),
	"ridge/internal/certify": above("fd", "ridge/internal/interval", "ridge/internal/roundoff"),
	"ridge/internal/krylov": above(
		"dataset",
		"fd",
		"ridge/internal/certify",
		"ridge/internal/gram",
		"ridge/internal/interval",
		"ridge/internal/roundoff",
		"ridge/internal/rows",
	),
	"ridge/internal/direct": above(
		"dataset",
		"fd",
		"ridge/internal/certify",
		"ridge/internal/interval",
		"ridge/internal/roundoff",
		"ridge/internal/rows",
	),
	"ridge/internal/dual": above(
		"dataset",
		"fd",
		"ridge/internal/certify",
		"ridge/internal/direct",
		"ridge/internal/interval",
		"ridge/internal/roundoff",
		"ridge/internal/rows",
	),
	"ridge/internal/sparsework": {}, // tests only
	"ridge/ridgetest":           above("dataset/...", "fd", "ridge/...", "internal/verify/..."),
	"model": above(
		"dataset",
		"dataset/prepare",
		"fd",
		"ridge/internal/...",
		"ridge",
		"ridge/choose",
		"ridge/classes",
		"ridge/reason",
	),
	"live": above(
		"dataset",
		"fd",
		"ridge/internal/...",
		"ridge",
		"ridge/choose",
		"ridge/reason",
		"ridge/window",
	),
	"dist/...":                 above("dataset", "dist/...", "fd", "randsketch", "ridge/..."),
	"dist/disttest":            above("dataset/...", "dist/...", "fd", "randsketch", "ridge/...", "internal/verify/..."),
	"paper":                    library(),
	"examples/...":             library("batch", "live", "model", "table"),
	"bench/...":                library("bench/...", "paper", "internal/verify/..."),
	"batch":                    above(".", "dataset", "dist", "fd", "ridge/..."),
	"table":                    library("batch", "model"),
	"cmd/...":                  library("cmd/...", "batch", "live", "model", "paper", "table"),
	"cmd/fdridge/internal/cli": library("batch", "model", "cmd/fdridge/internal/report"),
	"cmd/fdridge/internal/report": above(
		".",
		"dataset",
		"dataset/prepare",
		"fd",
		"model",
		"ridge/...",
	),

	"cmd/fdridge/internal/report/reporttest": nil,
}

// forTests are packages that only tests may import, and packages that are in this list
// themselves: what a pattern allows beyond is not meant for them.
var forTests = []string{
	"internal/verify/...",
	"bench/digits",
	"engine/enginetest",
	"ridge/ridgetest",
	"dist/disttest",
	"cmd/fdridge/internal/report/reporttest",
}

// covers reports whether a pattern covers a package.
func covers(pattern, pkg string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == tree || strings.HasPrefix(pkg, tree+"/")
	}
	return pkg == pattern
}

// allows reports whether a pattern in a list of the table allows a dependency on a package. A package brings its
// internal packages with it.
func allows(pattern, pkg string) bool {
	return covers(pattern, pkg) || strings.HasPrefix(pkg, pattern+"/internal/")
}

// within returns the path of a package inside the module, "." for the root.
func within(path string) (pkg string, inside bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// rule returns the pattern that holds for a package, "" where none does.
func rule(pkg string) string {
	if _, ok := arrows[pkg]; ok {
		return pkg
	}
	best := ""
	for pattern := range arrows {
		if covers(pattern, pkg) && len(pattern) > len(best) {
			best = pattern
		}
	}
	return best
}

// violation says what is wrong with pkg depending on dep, "" if nothing.
func violation(pkg, dep string) string {
	pattern := rule(pkg)
	if pattern == "" {
		return pkg + " has no arrows in the table"
	}
	inTests := func(name string) bool {
		return slices.ContainsFunc(forTests, func(pattern string) bool { return covers(pattern, name) })
	}
	for _, allowed := range arrows[pattern] {
		if allows(allowed, dep) && (inTests(pkg) || !inTests(dep)) {
			return ""
		}
	}
	return pkg + " must not depend on " + dep
}

// heavy modules are depended on, directly or not, by no more packages than these.
var heavy = map[string][]string{
	"github.com/apache/arrow-go/": nil, // compiling it takes a minute; tests write files with it
}

// burden says what is wrong with pkg depending on dep of another module, "" if
// nothing.
func burden(pkg, dep string) string {
	for prefix, allowed := range heavy {
		if strings.HasPrefix(dep, prefix) &&
			!slices.ContainsFunc(allowed, func(pattern string) bool { return covers(pattern, pkg) }) {
			return pkg + " must not depend on " + dep
		}
	}
	return ""
}

func TestArrows(t *testing.T) {
	read(t, "../../..")
	for _, tags := range []string{"", "noasm", "openblas", "mpi"} {
		for _, p := range list(t, tags) {
			pkg, inside := within(p.ImportPath)
			if !inside || rule(pkg) == "" {
				t.Errorf("-tags %q: %s has no arrows in the table", tags, p.ImportPath)
				continue
			}
			for _, dep := range p.Deps {
				dep, inside := within(dep)
				if !inside {
					if what := burden(pkg, dep); what != "" {
						t.Errorf("-tags %q: %s", tags, what)
					}
					continue
				}
				if what := violation(pkg, dep); what != "" {
					t.Errorf("-tags %q: %s", tags, what)
				}
			}
		}
	}
}

// TestTable tries the table itself on arrows that the design names.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		pkg, dep string
		allowed  bool
	}{
		{".", "ridge/choose", true},
		{"ridge", ".", false},
		{"ridge/choose", "ridge/plan", false},
		{"ridge/plan", "ridge/choose", false},
		{"ridge/window", ".", false},
		{"batch", ".", true},
		{"ridge", "dataset", true},
		{"ridge", "dataset/csv", false},
		{"ridge", "dist", false},
		{"fd", "engine", true},
		{"fd", "engine/enginetest", false},
		{"fd", "ridge", false},
		{"fd", "dataset", false},
		{"dataset", "dataset/csv", false},
		{"dataset", "dataset/prepare", false},
		{"ridge", "dataset/prepare", false},
		{"dataset/csv", "dataset", true},
		{"dataset/csv", "fd", false},
		{"engine", "engine/purego", true},
		{"engine", "fd", false},
		{"engine/purego", "engine", false},
		{"engine/internal/eigen", "engine", false},
		{"engine/purego", "engine/cblas", false},
		{"engine/cblas", "engine", false},
		{"internal/twofold", "engine", false},
		{"cmd/fdridge", "dist/mpi", true},
		{"cmd/fdridge", "bench", false},
		{"cmd/fdridge", "ridge/ridgetest", false},
		{"ridge/internal/certify", "ridge/internal/krylov", false},
		{"ridge/internal/certify", "ridge/internal/gram", false},
		{"ridge/internal/certify", "dataset", false},
		{"ridge/internal/gram", "ridge/internal/certify", false},
		{"ridge/internal/krylov", "ridge/internal/direct", false},
		{"ridge/internal/krylov", "ridge", false},
		{"randsketch", "ridge", false},
		{"ridge", "internal/wire", true},
		{"ridge", "internal/verify/refbig", false},
		{"ridge/ridgetest", "internal/verify/refbig", true},
		{"model", "ridge", true},
		{"model", "dataset", true},
		{"model", "dataset/csv", false},
		{"model", "dataset/file", false},
		{"model", "dist", false},
		{"ridge", "model", false},
		{"live", "ridge", true},
		{"live", "model", false},
		{"ridge", "live", false},
		{"cmd/fdridge", "model", true},
		{"cmd/fdridge", "batch", true},
		{"cmd/fdridge/internal/report", "batch", false},
		{"batch", "dist", true},
		{"batch", "dist/mpi", false},
		{"batch", "dataset/file", false},
		{"batch", "cmd/fdridge/internal/report", false},
		{"dist", "batch", false},
		{"paper", "ridge", true},
		{"paper", "cmd/fdridge", false},
		{"bench", "paper", true},
		{"unheard/of", "engine", false},
	} {
		if what := violation(c.pkg, c.dep); (what == "") != c.allowed {
			t.Errorf("%s on %s: %q, allowed must be %v", c.pkg, c.dep, what, c.allowed)
		}
	}
}

// TestHeavy: a package depends on arrow-go in its tests alone.
func TestHeavy(t *testing.T) {
	for _, pkg := range []string{"ridge", "dataset/arrow", "dataset/file", "cmd/fdridge"} {
		if burden(pkg, "github.com/apache/arrow-go/v18/arrow/ipc") == "" {
			t.Errorf("%s may depend on arrow-go", pkg)
		}
	}
	if what := burden("ridge", "gonum.org/v1/gonum/mat"); what != "" {
		t.Error(what)
	}
}

type listed struct {
	ImportPath string
	Deps       []string
}

// list returns the module's packages in a build with the given tags.
func list(t *testing.T, tags string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", tags, "-json=ImportPath,Deps", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		t.Fatalf("%v lists nothing", cmd)
	}
	return packages
}

// read looks into every directory under root, so that go test knows that this
// test depends on all of them and does not answer from its cache.
func read(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
