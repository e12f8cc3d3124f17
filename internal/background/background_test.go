package background_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/paper"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/window"
)

// TestEveryFunction: each exported function, and each exported method of an exported type, that takes a
// context gives a nil one up first, or only hands it on. The source says so, whatever the build tags.
func TestEveryFunction(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			skipped := slices.Contains(
				[]string{"internal", "cmd", "bench", "testdata", "disttest", "ridgetest", "_asm"},
				base,
			)
			if skipped || len(base) > 2 && base[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || !f.Name.IsExported() || f.Recv != nil && !ast.IsExported(receiver(f.Recv.List[0].Type)) ||
				!takesContext(f) {
				continue
			}
			found++
			if !guards(f.Body.List[0]) && !handsOn(f.Body) {
				t.Errorf("%s: %s does not begin with ctx = background.IfNil(ctx)", name, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 40 {
		t.Errorf("%d functions were found", found)
	}
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// takesContext reports whether a parameter is a context.
func takesContext(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		s, is := p.Type.(*ast.SelectorExpr)
		return is && s.Sel.Name == "Context"
	})
}

// guards reports whether a statement is ctx = background.IfNil(ctx).
func guards(s ast.Stmt) bool {
	a, is := s.(*ast.AssignStmt)
	if !is || len(a.Rhs) != 1 {
		return false
	}
	to, isName := a.Lhs[0].(*ast.Ident)
	call, isCall := a.Rhs[0].(*ast.CallExpr)
	if !isName || !isCall || to.Name != "ctx" {
		return false
	}
	fun, is := call.Fun.(*ast.SelectorExpr)
	return is && fun.Sel.Name == "IfNil"
}

// handsOn reports whether a body is one call that takes ctx as its first argument.
func handsOn(b *ast.BlockStmt) bool {
	r, is := b.List[0].(*ast.ReturnStmt)
	if !is || len(r.Results) != 1 {
		return false
	}
	call, is := r.Results[0].(*ast.CallExpr)
	if !is || len(call.Args) == 0 {
		return false
	}
	ctx, is := call.Args[0].(*ast.Ident)
	return is && ctx.Name == "ctx"
}

// must fails the test on an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestNilContext: functions of every package make do with a nil context, and so do sources of every kind.
func TestNilContext(t *testing.T) {
	var none context.Context
	x := []float64{1, 2, 3, 5, 8, 1, 4, 2}
	src := must(dataset.FromDense(4, 2, 1, x, []float64{1, 2, 3, 5}))(t)
	bare := must(dataset.FromDense(4, 2, 0, x, nil))(t)

	// Sources.
	scaled, _, err := dataset.Standardize(none, src)
	kinds := map[string]dataset.Source{
		"dense": src, "scaled": must(scaled, err)(t), "part": must(dataset.Rows(src, 1, 3))(t), "every": must(dataset.Every(src, 2))(t),
		"several": must(
			dataset.Concat(src, src),
		)(
			t,
		), "side by side": must(dataset.Zip(bare, bare))(t), "transposed": must(dataset.Transpose(none, bare, 0))(t),
		"features": must(dataset.Polynomial{Degree: 2}.Apply(src, nil))(t), "without targets": dataset.WithoutTargets(src),
		"kept":     must(dataset.Cached(src, dataset.CacheOptions{Dir: t.TempDir()}))(t),
		"weighted": must(dataset.Weigh(bare, must(dataset.FromDense(4, 1, 0, []float64{1, 1, 1, 1}, nil))(t)))(t),
	}
	for name, kind := range kinds {
		for range 2 { // the second pass is of what was kept
			for _, err := range kind.Blocks(new(dataset.Waits).Context(none)) {
				must(0, err)(t)
			}
			rows := 0
			for b, err := range dataset.From(none, kind, 1) {
				must(0, err)(t)
				rows += b.N
			}
			for b, err := range kind.Blocks(none) {
				must(0, err)(t)
				rows += b.N
			}
			if rows == 0 {
				t.Errorf("%s: no rows", name)
			}
		}
	}
	must(dataset.NewPipe(none, "text", strings.NewReader("1\n")).Take())(t)

	// Fits.
	sum := must(ridge.Summarize(none, src, ridge.SummaryConfig{Size: 2}, nil))(t)
	fit := must(ridge.Solve(none, src, sum, 1, ridge.SolveOptions{}))(t)
	fits := []*ridge.Solution{fit}
	must(ridge.LeaveOneOut(none, src, sum, fits, ridge.LeaveOneOutOptions{}))(t)
	must(choose.CrossValidate(none, src, ridge.SummaryConfig{Size: 2}, choose.CrossValidation{Folds: 2}))(t)
	must(
		choose.Bands(
			none,
			sum,
			choose.BandOptions{Bands: []choose.Band{{Columns: []int{0}}}, Candidates: []float64{1}},
		),
	)(
		t,
	)
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal, ridge.Dual} {
		must(ridge.SolveExact(none, src, []float64{1}, ridge.ExactOptions{Method: factor}))(t)
	}
	for _, method := range []ridge.Method{ridge.Auto, ridge.OneShot, ridge.CG, ridge.Galerkin, ridge.Exact} {
		must(
			fdridge.Fit(
				none,
				src,
				fdridge.Options{
					NoIntercept: true,
					Method:      method,
					Candidates:  []float64{1, 2},
					Tol:         1e-3,
					GammaTol:    10,
				},
			),
		)(
			t,
		)
	}
	must(fdridge.FitSummary(none, src, sum, fdridge.Options{NoIntercept: true, Gammas: []float64{1}}))(t)
	must(0, must(ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Targets: 1, Size: 2}))(t).Continue(none, src, nil))(t)
	must(model.Evaluate(none, src, fits))(t)
	must(paper.NewLinearModel(none, src, []float64{1, 1}, 1, nil))(t)
	m := must(model.New(model.Preparation{Inputs: 2}, fits, model.Details{}))(t)
	for _, err := range m.Predict(none, bare) {
		must(0, err)(t)
	}
	must(m.PredictMatrix(mat.NewDense(1, 2, []float64{1, 2})))(t)
	sketch := must(randsketch.New(randsketch.Config{Rows: 2, Dim: 2, Targets: 1}))(t)
	must(0, sketch.AppendSource(none, src))(t)

	// Ranks, and live sketches.
	for _, rank := range dist.Loopback(1) {
		must(0, dist.Agree(none, rank, "a number", "1"))(t)
		must(dist.Table(none, rank, []float64{1}))(t)
		must(0, rank.Barrier(none))(t)
		must(0, new(prepare.Tally).Pool(none, rank.Allreduce))(t)
		must(dist.Merge(none, rank, sum))(t)
	}
	file := must(live.Open(filepath.Join(t.TempDir(), "live.fds")))(t)
	run := live.Run{
		Sketch: must(
			window.NewStream(window.Settings{Summary: ridge.SummaryConfig{Dim: 2, Targets: 1, Size: 2}}),
		)(
			t,
		), File: file, Every: time.Hour,
	}
	must(0, run.Do(none, src))(t)
	must(0, file.Close())(t)
}
