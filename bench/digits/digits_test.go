package main

import (
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// two are a problem of NIST's and a graded one.
func two(t *testing.T) (nist, graded *problem) {
	t.Helper()
	var err error
	nist, err = nistProblem("Longley")
	if err != nil {
		t.Fatal(err)
	}
	graded, err = gradedProblem(2) // the sparse one
	if err != nil {
		t.Fatal(err)
	}
	return nist, graded
}

// TestOurs: without Python, fdridge's solvers get as many digits of two problems as they
// certify, and what the tolerance asks for.
func TestOurs(t *testing.T) {
	longley, graded := two(t)
	for _, s := range ours() {
		for _, p := range []*problem{longley, graded} {
			if s.penalised && p.gamma == 0 {
				continue
			}
			a, err := s.solve(p)
			if err != nil {
				t.Fatal(err)
			}
			g, want := p.grade(a), 8.0
			if strings.HasSuffix(s.name, "tol=1e-15") {
				want = 15
			}
			if g.failed != "" || !(g.certified >= want) || !(g.weights >= g.certified) || !(g.least >= 6) {
				t.Errorf("%s: problem %s: %+v, want %g digits", s.name, p.name, g, want)
			}
		}
	}
}

// TestNIST: the exact solution for the numbers as rounded to float64 is near to what NIST
// certifies for the numbers in the file.
func TestNIST(t *testing.T) {
	for name, want := range map[string]float64{"Longley": 14, "NoInt1": 14, "Filip": 7} {
		p, err := nistProblem(name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := nistItself().solve(p)
		if err != nil {
			t.Fatal(err)
		}
		if g := p.grade(a); !(g.least >= want) || !math.IsNaN(g.certified) {
			t.Errorf("%s: %+v, want %g digits", name, g, want)
		}
	}
}

// TestRecipes: ten problems; A has the condition number that the recipe asks for, where
// nothing else is done to it.
func TestRecipes(t *testing.T) {
	if len(recipes) != 10 {
		t.Errorf("%d recipes", len(recipes))
	}
	for i, r := range recipes {
		p, err := gradedProblem(i)
		if err != nil {
			t.Fatal(err)
		}
		zeros := 0
		for _, row := range p.x {
			for _, v := range row {
				if v == 0 {
					zeros++
				}
			}
		}
		entries := r.n * r.d
		switch {
		case p.sparse:
			if zeros < entries*8/10 {
				t.Errorf("problem %s: %d of %d entries are zero", p.name, zeros, entries)
			}
		case zeros > 0:
			t.Errorf("problem %s: %d of %d entries are zero", p.name, zeros, entries)
		case r.n < r.d:
			if !math.IsInf(p.kappa, 1) {
				t.Errorf("problem %s: condition number %g of fewer rows than features", p.name, p.kappa)
			}
		case r.units == 0 && !(math.Abs(p.kappa/r.cond-1) <= 0.5):
			t.Errorf("problem %s: condition number %g, want %g", p.name, p.kappa, r.cond)
		}
	}
}

// TestShiftedColumnsKeepDigits: QR certifies at least 15 digits for problem 8 of docs/accuracy.md, and all of its
// weights are right. This holds for the data as they are, and after a million was subtracted from each feature. The
// subtraction is exact.
func TestShiftedColumnsKeepDigits(t *testing.T) {
	p, err := gradedProblem(7)
	if err != nil {
		t.Fatal(err)
	}
	a, err := fit(p, "qr", 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	if g := p.grade(a); !math.IsInf(g.weights, 1) || !(g.certified >= 15) {
		t.Errorf("%+v", g)
	}
	for _, row := range p.x {
		for j := range row {
			row[j] -= 1e6
		}
	}
	if err := p.solve(); err != nil {
		t.Fatal(err)
	}
	a, err = fit(p, "qr", 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	if g := p.grade(a); !math.IsInf(g.weights, 1) || !(g.certified >= 15) {
		t.Errorf("%+v", g)
	}
}

// TestGrade: digits of weights, of the worst coefficient, and of a bound.
func TestGrade(t *testing.T) {
	third := new(big.Float).Quo(refbig.Float(1), refbig.Float(3))
	p := &problem{intercept: true, coef: []*big.Float{refbig.Float(3), refbig.Float(4)}, offset: third}
	for _, c := range []struct {
		answer
		want grade
	}{
		{answer{coef: []float64{3, 4}, intercept: 1. / 3, bound: 1e-9}, grade{math.Inf(1), math.Inf(1), 9, 0, ""}},
		{answer{coef: []float64{3, 4}, intercept: 0.3, bound: math.Inf(1)}, grade{math.Inf(1), 1, 0, 0, ""}},
		{answer{coef: []float64{3, 4.005}, intercept: 1. / 3, bound: 1}, grade{3, 2.903, 0, 0, ""}},
		{answer{coef: []float64{-300, 4}, intercept: 1. / 3, bound: 1}, grade{0, 0, 0, 0, ""}},
		{answer{failed: "fails"}, grade{failed: "fails"}},
	} {
		got := p.grade(c.answer)
		for i, pair := range [][2]float64{
			{got.weights, c.want.weights}, {got.least, c.want.least}, {got.certified, c.want.certified},
		} {
			if pair[0] != pair[1] && !(math.Abs(pair[0]-pair[1]) <= 1e-3) {
				t.Errorf("%+v: figure %d is %g, want %g", c.answer, i, pair[0], pair[1])
			}
		}
		if got.failed != c.want.failed {
			t.Errorf("%+v: failed %q", c.answer, got.failed)
		}
	}
	if g := p.grade(answer{coef: []float64{3, 4}, bound: math.NaN()}); weights(g) != "all" {
		t.Errorf("a peer's cell is %q", weights(g))
	}
	if got := weights(grade{weights: 12.19, certified: 7.99}); got != "12.1 (7.9)" {
		t.Errorf("cell %q", got)
	}
}

// TestHolds: a certificate that does not hold is told, of each of the three bounds.
func TestHolds(t *testing.T) {
	p := &problem{coef: []*big.Float{refbig.Float(2)}, offset: refbig.Float(1)}
	target := func(absolute, relative, intercept float64) ridge.Target {
		return ridge.Target{Coef: []float64{2.5}, Intercept: 1.25, Certificate: ridge.Certificate{
			ErrorBound: absolute, RelativeErrorBound: relative, InterceptBound: intercept,
		}}
	}
	if err := p.holds(target(0.5, 0.25, 0.25)); err != nil {
		t.Error(err)
	}
	for _, f := range []ridge.Target{
		target(0.4, 0.25, 0.25), target(0.5, 0.2, 0.25), target(0.5, 0.25, 0.2), target(math.NaN(), 0.25, 0.25),
	} {
		if p.holds(f) == nil {
			t.Errorf("%+v is held to be true", f.Certificate)
		}
	}
}

// TestPeers: Python's solvers get the well-conditioned problem and the sparse one right, and
// NaN for what they cannot certify.
func TestPeers(t *testing.T) {
	solvers, versions, err := peers(t.TempDir())
	if err != nil {
		t.Skipf("without Python's solvers: %v", err)
	}
	if !strings.Contains(versions, "scikit-learn ") {
		t.Errorf("versions %q", versions)
	}
	longley, graded := two(t)
	for _, s := range solvers {
		want := 11.0
		if strings.HasSuffix(s.name, "lsqr") || strings.HasSuffix(s.name, "sparse_cg") {
			want = 0 // the default tolerance is 1e-4, of the residual
		}
		for _, p := range []*problem{longley, graded} {
			a, err := s.solve(p)
			if err != nil {
				t.Fatal(err)
			}
			if g := p.grade(a); g.failed != "" || !(g.weights >= want) || !math.IsNaN(g.certified) {
				t.Errorf("%s: problem %s: %+v, want %g digits", s.name, p.name, g, want)
			}
		}
	}
}

// TestTables: write writes Markdown, and insert replaces the text between the marks of a page.
func TestTables(t *testing.T) {
	longley, _ := two(t)
	peer := solver{name: "peer", solve: func(p *problem) (answer, error) {
		return answer{coef: make([]float64, len(p.coef)), bound: math.NaN()}, nil
	}}
	c, err := hold([]*problem{longley}, []solver{absent()[0], ours()[1], peer})
	if err != nil {
		t.Fatal(err)
	}
	if rows := c.table("Passes:", passes).rows; len(rows) != 4 || rows[3][0] != "fdridge qr" || rows[3][1] != "1" {
		t.Errorf("passes: %q", rows)
	}
	tables := []table{c.table("Digits:", weights), describe([]*problem{longley})}
	var b strings.Builder
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(
		page, []byte("Before\n<!-- digits -->\nold\n<!-- end of digits -->\nAfter\n"), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	if err := write(&b, "head", tables); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := insert(page, b.String()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "Before\n<!-- digits -->\n\nhead\n\nDigits:\n\n|  | Longley |\n| --- | --- |\n") ||
		!strings.HasSuffix(got, "\n\n<!-- end of digits -->\nAfter\n") ||
		strings.Contains(got, "old") {
		t.Errorf("page:\n%s", got)
	}
	if err := os.WriteFile(page, []byte("no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	if insert(page, "text") == nil {
		t.Error("text was put into a page without marks")
	}
}

// TestPower: numbers as people write them.
func TestPower(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 1.26: "1.3", 1e-14: "1e-14", 4.31e6: "4.3e6", math.Inf(1): "∞",
	} {
		if got := power(x); got != want {
			t.Errorf("%g: %q, want %q", x, got, want)
		}
	}
}
