package adversary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// TestFindings: what was once false no longer is.
func TestFindings(t *testing.T) { hold(t, findings) }

// TestElsewhere is TestFindings for data from elsewhere.
func TestElsewhere(t *testing.T) { hold(t, elsewhere) }

// TestOften is TestFindings for data that need many rows, if FDRIDGE_THOROUGH is set.
func TestOften(t *testing.T) {
	if os.Getenv("FDRIDGE_THOROUGH") == "" {
		t.Skip("a million rows")
	}
	hold(t, often)
}

// TestWide is TestFindings for many features.
func TestWide(t *testing.T) {
	for _, f := range wideOnes {
		holds(t, finding{f.certificate, f.what, Genome(f.genome)}, EvaluateLarge(f.genome))
	}
}

func hold(t *testing.T, found []finding) {
	for _, f := range found {
		holds(t, f, Evaluate(f.genome))
	}
}

func holds(t *testing.T, f finding, r *Report) {
	for _, name := range r.Names() {
		if !(r.Ratios[name] <= 1) {
			t.Errorf("%s (%s): %s: error/bound = %g", f.certificate, f.what, name, r.Ratios[name])
		}
	}
	t.Logf("%-40s %.3g (%s)", f.certificate, r.Ratios[f.certificate], f.what)
}

// TestProperty: no certificate is exceeded on random genomes, which rapid makes
// smaller.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Ordinary(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3)))
		for range rapid.IntRange(0, 12).Draw(t, "mutations") {
			g = g.Mutate(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "mutation"), 4)))
		}
		r := Evaluate(g)
		for _, name := range r.Names() {
			if !(r.Ratios[name] <= 1) {
				t.Errorf("%s: error/bound = %g for\n%v", name, r.Ratios[name], g)
			}
		}
	})
}

// TestUseful: certificates are not far from the errors on ordinary data. The median of error/bound must be above 1e-3
// for bounds that sketches prove, and above 1e-6 for bounds on round-off. The test logs the distribution of the ratios.
func TestUseful(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	ratios := map[string][]float64{}
	for range 40 {
		for name, v := range Evaluate(Ordinary(rng)).Ratios {
			ratios[name] = append(ratios[name], v)
		}
	}
	names := make([]string, 0, len(ratios))
	for name := range ratios {
		names = append(names, name)
	}
	slices.Sort(names)
	t.Logf("%-45s %5s %9s %9s %9s", "", "cases", "median", "90 %", "largest")
	for _, name := range names {
		v := ratios[name]
		slices.Sort(v)
		median := v[len(v)/2]
		t.Logf("%-45s %5d %9.2g %9.2g %9.2g", name, len(v), median, v[len(v)*9/10], v[len(v)-1])
		least := 0.0
		switch {
		case strings.HasPrefix(name, "one-shot") && strings.HasSuffix(name, "weights"), name == "prediction":
			least = 1e-3
		case strings.HasSuffix(name, ": weights") && !strings.HasPrefix(name, "path"):
			least = 1e-6
		}
		if !(median >= least) {
			t.Errorf("%s: the median of error/bound is %g", name, median)
		}
	}
}

// TestBracket is about the judge: what a ratio is, and that none is where a bound is
// not a number.
func TestBracket(t *testing.T) {
	inf := math.Inf(1)
	one := refbig.Float(1)
	for _, v := range []struct {
		lo, hi, truth, want float64
	}{
		{1, 3, 2, 0}, {1, 3, 3, 1}, {1, 3, 1, 1}, {1, 3, 2.5, 0.5}, {1, 3, 4, 2}, {1, 3, 0, 2},
		{0, 4, 1, 0.25}, {0, 4, 8, 2}, {0, 0, 0, 0}, {0, 0, 1, inf}, {2, inf, 4, 0.5}, {2, inf, 1, 2},
		{0, inf, 7, 0}, {2, 2, 2, 0}, {2, 2, 3, inf},
	} {
		got := bracket(ridge.Interval{Lo: v.lo, Hi: v.hi}, refbig.Float(v.truth), one, 0, inf)
		if !(got == v.want) {
			t.Errorf("%g in [%g, %g]: %g, want %g", v.truth, v.lo, v.hi, got, v.want)
		}
	}
	for _, v := range []ridge.Interval{{Lo: math.NaN(), Hi: 1}, {Lo: 0, Hi: math.NaN()}, {Lo: 2, Hi: 1}} {
		r := &Report{Ratios: map[string]float64{}}
		r.within("x", v, one, one, 0, inf)
		if !math.IsInf(r.Ratios["x"], 1) {
			t.Errorf("%v is taken for a bracket", v)
		}
	}
	for _, v := range []struct{ err, bound, want float64 }{
		{1, 2, 0.5}, {2, 1, 2}, {0, 0, 0}, {1, 0, inf}, {1, inf, 0}, {-1, 0, 0},
	} {
		if got := overBound(big.NewFloat(v.err), v.bound); !(got == v.want) {
			t.Errorf("%g of a bound of %g: %g, want %g", v.err, v.bound, got, v.want)
		}
	}
	if !math.IsNaN(overBound(one, math.NaN())) {
		t.Error("NaN bounds something")
	}
}
