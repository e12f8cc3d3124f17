package arrows

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxUpward is the largest share of the arrows between a package's files that run upward. A file has an arrow to
// another one if it uses a name that the other one defines: a constant, variable, function, type, field or method.
// The files stand in the order with the fewest arrows upward.
const maxUpward = 0.10

// ordered are the packages that are held to maxUpward.
var ordered = []string{
	".",
	"ridge",
	"ridge/window",
	"ridge/internal/accum",
	"dataset",
	"dataset/prepare",
	"cmd/fdridge",
	"cmd/fdridge/internal/input",
	"table",
	"cmd/fdridge/internal/cli",
}

// TestFileArrows holds packages to maxUpward.
func TestFileArrows(t *testing.T) {
	read(t, "../../..")
	for pkg, g := range fileGraphs(t, ordered) {
		order, upward := g.order()
		all := 0
		for _, uses := range g.uses {
			all += len(uses)
		}
		share := 100 * float64(upward) / max(1, float64(all))
		t.Logf("%s: %d of %d arrows between %d files (%.0f %%) run upward", pkg, upward, all, len(order), share)
		if share > 100*maxUpward {
			t.Errorf("%s: more than %g %% of the arrows run upward:\n%s", pkg, 100*maxUpward, g.describe(order))
		}
	}
}

// TestOrder tries the order of files on graphs with a known least number of arrows upward.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		arrows string
		upward int
	}{{"", 0}, {"ab ac ad bc bd cd", 0}, {"da ca ba db cb dc", 0}, {"ab bc cd da", 1}, {"ab ba ac bd cd dc", 2}, {"ab bc ca cd de ec", 2}} {
		g := graph{uses: map[string]map[string]string{}}
		for _, name := range "abcde" {
			g.uses[string(name)] = map[string]string{}
		}
		for _, arrow := range strings.Fields(c.arrows) {
			g.uses[arrow[:1]][arrow[1:]] = "name"
		}
		order, upward := g.order()
		if lines := strings.Count(g.describe(order), "\n"); upward != c.upward || lines != upward || len(order) != 5 {
			t.Errorf(
				"%s: %d arrows run upward in %v, want %d:\n%s",
				c.arrows,
				upward,
				order,
				c.upward,
				g.describe(order),
			)
		}
	}
}

// A graph has the arrows between the files of a package.
type graph struct {
	uses map[string]map[string]string // from each file to the files that it uses, with one of the names
}

// fileGraphs returns the graphs of packages. Tests are left out.
func fileGraphs(t *testing.T, packages []string) map[string]graph {
	t.Helper()
	type compiled struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}
	for _, pkg := range packages {
		args = append(args, "./"+pkg)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = "../../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	exports := map[string]string{}
	var listed []compiled
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p compiled
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			listed = append(listed, p)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	graphs := map[string]graph{}
	for _, p := range listed {
		g, err := graphOf(p.ImportPath, p.Dir, p.GoFiles, open)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := within(p.ImportPath)
		graphs[name] = g
	}
	if len(graphs) != len(packages) {
		t.Fatalf("%d packages of %v", len(graphs), packages)
	}
	return graphs
}

// graphOf type-checks the files of a package. open returns the export data of a package that these import.
func graphOf(path, dir string, names []string, open importer.Lookup) (graph, error) {
	files := token.NewFileSet()
	g := graph{uses: map[string]map[string]string{}}
	var parsed []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(files, filepath.Join(dir, name), nil, 0)
		if err != nil {
			return g, err
		}
		parsed, g.uses[name] = append(parsed, f), map[string]string{}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	cfg := types.Config{Importer: importer.ForCompiler(files, "gc", open)}
	checked, err := cfg.Check(path, files, parsed, &info)
	if err != nil {
		return g, err
	}
	fileOf := func(p token.Pos) string { return filepath.Base(files.Position(p).Filename) }
	for id, object := range info.Uses {
		if object.Pkg() != checked {
			continue
		}
		from, to := fileOf(id.Pos()), fileOf(object.Pos())
		if name := g.uses[from][to]; from != to && (name == "" || object.Name() < name) {
			g.uses[from][to] = object.Name()
		}
	}
	return g, nil
}

// order returns the files in an order with few arrows upward, and the number of these. From several orders drawn at
// random it moves one file at a time to its best place, until no move helps.
func (g graph) order() (best []string, upward int) {
	const draws = 100
	names := make([]string, 0, len(g.uses))
	for name := range g.uses {
		names = append(names, name)
	}
	slices.Sort(names)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range draws {
		order := slices.Clone(names)
		rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for g.improve(order) {
		}
		if n := strings.Count(g.describe(order), "\n"); best == nil || n < upward {
			best, upward = order, n
		}
	}
	return best, upward
}

// improve moves each file to the place with the fewest arrows upward. It reports whether a move made these fewer.
func (g graph) improve(order []string) (better bool) {
	// cost is the change in arrows upward if low, which stands next to high, moves above it.
	cost := func(low, high string) (c int) {
		if g.uses[high][low] != "" {
			c++
		}
		if g.uses[low][high] != "" {
			c--
		}
		return c
	}
	for i, name := range order {
		least, place := 0, i
		for j, change := i-1, 0; j >= 0; j-- {
			change += cost(name, order[j])
			if change < least {
				least, place = change, j
			}
		}
		for j, change := i+1, 0; j < len(order); j++ {
			change += cost(order[j], name)
			if change < least {
				least, place = change, j
			}
		}
		if least < 0 {
			copy(order, slices.Insert(slices.Delete(slices.Clone(order), i, i+1), place, name))
			better = true
		}
	}
	return better
}

// describe returns a line for each arrow upward.
func (g graph) describe(order []string) string {
	var out strings.Builder
	for i, low := range order {
		for _, high := range order[:i] {
			if name := g.uses[low][high]; name != "" {
				fmt.Fprintf(&out, "%s uses %s of %s\n", low, name, high)
			}
		}
	}
	return out.String()
}
