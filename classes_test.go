package fdridge_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
)

// A labelled problem has n rows of d features, and the class of each row.
type labelled struct {
	n, d, k int
	x, y    []float64
}

// newLabelled returns rows whose classes have different means.
func newLabelled(r *rand.Rand, n, d, k int) labelled {
	p := labelled{n: n, d: d, k: k, x: make([]float64, n*d), y: make([]float64, n)}
	means := make([]float64, k*d)
	for i := range means {
		means[i] = 1.5 * r.NormFloat64()
	}
	for i := range n {
		c := min(r.IntN(2*k), k-1) // the last class has half of the rows
		p.y[i] = float64(7 * c)
		for j := range d {
			p.x[i*d+j] = 3 + (means[c*d+j]+r.NormFloat64())*math.Exp(-float64(j)/8)
		}
	}
	return p
}

// fit fits p with Options.Classes.
func (p *labelled) fit(t *testing.T, balanced bool, opts fdridge.Options) (*classes.Classes, *fdridge.Result) {
	t.Helper()
	src, err := dataset.FromDense(p.n, p.d, 1, p.x, p.y)
	if err != nil {
		t.Fatal(err)
	}
	c, err := classes.Learn(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Balanced, opts.Classes = balanced, c
	found, err := fdridge.Fit(t.Context(), src, opts)
	if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
		t.Fatal(err)
	}
	return c, found
}

// exact returns the exact solution for all rows but row left; −1 leaves out none.
func (p *labelled) exact(t *testing.T, c *classes.Classes, gamma float64, intercept bool, left int) *refbig.Solution {
	t.Helper()
	var x, y [][]float64
	var w []float64
	for i := range p.n {
		if i == left {
			continue
		}
		class, row := c.Of(p.y[i]), make([]float64, c.Targets())
		for k := range row {
			row[k] = -1
			if c.Targets() == 1 && class == 1 || c.Targets() > 1 && class == k {
				row[k] = 1
			}
		}
		v := 1.0
		if c.Balanced {
			v = float64(p.n) / (float64(len(c.Labels)) * float64(c.Counts[class]))
		}
		x, y, w = append(x, p.x[i*p.d:(i+1)*p.d]), append(y, row), append(w, v)
	}
	s, err := refbig.New(x, y, w, intercept).Solve(gamma)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decide returns the decision of an exact solution.
func decide(s *refbig.Solution, x []float64) int {
	best, most := 0, (*big.Float)(nil)
	for k, coef := range s.Coef {
		v := new(big.Float).SetPrec(refbig.Prec).Set(s.Intercept[k])
		for j, c := range coef {
			v.Add(v, new(big.Float).SetPrec(refbig.Prec).Mul(c, refbig.Float(x[j])))
		}
		if len(s.Coef) == 1 {
			if v.Sign() > 0 {
				return 1
			}
			return 0
		}
		if most == nil || v.Cmp(most) > 0 {
			best, most = k, v
		}
	}
	return best
}

// TestClassesLeaveOneOut: the scores of rows that are left out bracket what exact fits without each row decide.
func TestClassesLeaveOneOut(t *testing.T) {
	for name, c := range map[string]struct {
		n, d, k  int
		balanced bool
		exact    bool // every decision is certain
		opts     fdridge.Options
	}{
		"two classes":     {n: 40, d: 5, k: 2, exact: true},
		"three, balanced": {n: 40, d: 5, k: 3, balanced: true, exact: true},
		"without a mean":  {n: 40, d: 5, k: 3, exact: true, opts: fdridge.Options{NoIntercept: true}},
		"wide":            {n: 16, d: 22, k: 3, exact: true},
		"wide, balanced":  {n: 16, d: 22, k: 2, balanced: true, exact: true},
		"cg":              {n: 40, d: 12, k: 3, balanced: true, exact: true, opts: fdridge.Options{Method: ridge.CG}},
		"lossy":           {n: 40, d: 16, k: 3, opts: fdridge.Options{Method: ridge.CG, Size: 4, GammaTol: math.Inf(1), Candidates: []float64{40}}},
	} {
		if c.opts.Candidates == nil {
			c.opts.Candidates = []float64{0.1, 3}
		}
		c.opts.Select = choose.LOO
		p := newLabelled(rand.New(rand.NewPCG(3, uint64(c.d))), c.n, c.d, c.k)
		of, found := p.fit(t, c.balanced, c.opts)
		s, gamma := found.Classes.LeftOut, found.Choice.Gamma()
		right := make([]int64, c.k)
		for i := range p.n {
			truth := of.Of(p.y[i])
			if decide(p.exact(t, of, gamma, !c.opts.NoIntercept, i), p.x[i*p.d:(i+1)*p.d]) == truth {
				right[truth]++
			}
		}
		for k, v := range right {
			if s.Right[k] > v || v > s.Possible[k] || c.exact && s.Right[k] != s.Possible[k] {
				t.Errorf("%s: class %d: %d right, bracket %d to %d", name, k, v, s.Right[k], s.Possible[k])
			}
			if c.exact && s.Confusion[k][k] != v {
				t.Errorf("%s: class %d: %d right, counted %d", name, k, v, s.Confusion[k][k])
			}
		}
		if s.Rows != int64(p.n) || found.Classes.Training[0].Rows != s.Rows {
			t.Errorf("%s: %d rows left out, %d of training", name, s.Rows, found.Classes.Training[0].Rows)
		}
	}
}

// TestRepeatedCandidates: a repeated candidate counts once. Each row is left out once, and the choice can be certain.
func TestRepeatedCandidates(t *testing.T) {
	p := newLabelled(rand.New(rand.NewPCG(4, 4)), 8, 2, 2)
	for _, method := range []ridge.Method{ridge.Auto, ridge.CG} {
		for _, by := range []choose.Criterion{choose.LOO, choose.Accuracy} {
			_, found := p.fit(t, false, fdridge.Options{Candidates: []float64{1, 1, 10}, Select: by, Method: method})
			if n := found.Classes.LeftOut.Rows; n != 8 || len(found.Choice.Path) != 2 {
				t.Errorf("%v, %v: %d of 8 rows were left out, %d candidates", method, by, n, len(found.Choice.Path))
			}
		}
	}
}

// TestClassesChoice: γ chosen by accuracy is the γ that exact fits without each row choose: the most accurate one,
// and the largest of several.
func TestClassesChoice(t *testing.T) {
	certain, differs := 0, 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := newLabelled(r, 12+r.IntN(8), []int{3, 6, 10, 20}[seed%4], 2+r.IntN(2)) // also more features than rows
		candidates := []float64{1e-3, 300, 0.3, 30, 2000}
		opts := fdridge.Options{Candidates: candidates, NoIntercept: seed%3 == 0}
		if seed%2 == 0 {
			opts.Method = ridge.CG
		}
		if seed == 4 {
			opts.Size, opts.GammaTol = 2, math.Inf(1) // wide brackets
		}
		rates := map[choose.Criterion][]*big.Rat{}
		var of *classes.Classes
		for _, by := range []choose.Criterion{choose.Accuracy, choose.BalancedAccuracy} {
			opts.Select = by
			var found *fdridge.Result
			of, found = p.fit(t, seed%2 == 1, opts)
			c := found.Choice
			if rates[by] == nil {
				for _, f := range c.Path {
					right, counts := make([]int64, p.k), make([]int64, p.k)
					for i := range p.n {
						truth := of.Of(p.y[i])
						counts[truth]++
						if decide(p.exact(t, of, f.Gamma, !opts.NoIntercept, i), p.x[i*p.d:(i+1)*p.d]) == truth {
							right[truth]++
						}
					}
					all, balanced := int64(0), new(big.Rat)
					for k, v := range right {
						all += v
						balanced.Add(balanced, big.NewRat(v, counts[k]*int64(p.k)))
					}
					rates[choose.Accuracy] = append(rates[choose.Accuracy], big.NewRat(all, int64(p.n)))
					rates[choose.BalancedAccuracy] = append(rates[choose.BalancedAccuracy], balanced)
				}
			}
			best := 0
			for i, v := range rates[by] {
				if order := v.Cmp(rates[by][best]); order > 0 || order == 0 && c.Path[i].Gamma > c.Path[best].Gamma {
					best = i
				}
				exact, _ := v.Float64()
				if s := c.Scores[i]; len(s) != 1 || !(s[0].Lo <= 1-exact && 1-exact <= s[0].Hi) {
					t.Errorf(
						"seed %d, %v, gamma %v: the exact error rate is %v, brackets %v",
						seed,
						by,
						c.Path[i].Gamma,
						1-exact,
						s,
					)
				}
			}
			if c.By != by || len(c.Path) != len(candidates) || found.Classes.LeftOut == nil {
				t.Fatalf("seed %d, %v: by %v, %d candidates", seed, by, c.By, len(c.Path))
			}
			if c.Certain {
				certain++
				if rates[by][c.Index].Cmp(rates[by][best]) != 0 {
					t.Errorf(
						"seed %d, %v: gamma %v is called the best, but %v is",
						seed,
						by,
						c.Gamma(),
						c.Path[best].Gamma,
					)
				}
			}
			if seed != 4 && (c.Index != best || !c.Certain) {
				t.Errorf(
					"seed %d, %v: gamma %v, certain %v, want %v",
					seed,
					by,
					c.Gamma(),
					c.Certain,
					c.Path[best].Gamma,
				)
			}
			opts.Select = choose.LOO
			if _, other := p.fit(t, seed%2 == 1, opts); other.Choice.Gamma() != c.Gamma() {
				differs++
			}
		}
	}
	if certain < 14 || differs == 0 {
		t.Errorf("%d choices are certain, %d differ from the choice by leave-one-out errors", certain, differs)
	}
}

// TestClassesProved: no decision that is called proved differs from the decision of the exact solution. Half of the
// rows are moved close to the boundary of two classes.
func TestClassesProved(t *testing.T) {
	decisions, proved := 0, 0
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 5))
		k, d := 2+r.IntN(3), 2+r.IntN(7)
		p := newLabelled(r, 40, d, k)
		opts := fdridge.Options{Gammas: []float64{math.Exp(4 * r.NormFloat64())}, NoIntercept: r.IntN(4) == 0}
		if r.IntN(2) == 0 {
			opts.Method, opts.Size = ridge.OneShot, 1+r.IntN(d)
		}
		c, found := p.fit(t, r.IntN(2) == 0, opts)
		f := found.Solutions[0]
		exact := p.exact(t, c, f.Gamma, !opts.NoIntercept, -1)
		by, err := f.Predictor()
		if err != nil {
			t.Fatal(err)
		}
		y, within, x := make([]float64, c.Targets()), make([]ridge.Interval, c.Targets()), make([]float64, d)
		for range 400 {
			for j := range x {
				x[j] = 3 + 2*r.NormFloat64()
			}
			if r.IntN(2) == 0 { // move x along the difference of two coefficient vectors
				w, off := slices.Clone(f.Targets[0].Coef), f.Targets[0].Intercept
				if c.Targets() > 1 {
					floats.Sub(w, f.Targets[1].Coef)
					off -= f.Targets[1].Intercept
				}
				size := floats.Dot(w, w)
				floats.AddScaled(x, (r.NormFloat64()*math.Pow(10, -16*r.Float64())-off-floats.Dot(w, x))/size, w)
			}
			if err := errors.Join(f.PredictRow(y, x), by.Predict(within, dataset.Block{N: 1, X: x})); err != nil {
				t.Fatal(err)
			}
			class := classes.Decide(y)
			decisions++
			if classes.Proves(within, class) {
				proved++
				if decide(exact, x) != class {
					t.Fatalf("seed %d: %v is decided as %d by %v, but the exact solution differs", seed, x, class, y)
				}
			}
			for k := range c.Labels {
				if !classes.Allows(within, k) && decide(exact, x) == k {
					t.Fatalf("seed %d: class %d is excluded by %v, but the exact solution chooses it", seed, k, within)
				}
			}
		}
	}
	t.Logf("%d of %d decisions are proved", proved, decisions)
	if decisions < 10000 || proved < decisions/2 {
		t.Errorf("only %d of %d decisions are proved", proved, decisions)
	}
}

// TestClassesRefused: options that exclude classes.
func TestClassesRefused(t *testing.T) {
	src, err := dataset.FromDense(4, 1, 1, []float64{1, 2, 3, 4}, []float64{1, 1, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	c, err := classes.Learn(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	each := fdridge.Options{Classes: c, PerTarget: true, Select: choose.Accuracy}
	if _, err := fdridge.Fit(t.Context(), src, each); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("a γ for each class by accuracy: %v", err)
	}
	for _, by := range []choose.Criterion{choose.Accuracy, choose.BalancedAccuracy} {
		_, err := fdridge.Fit(t.Context(), src, fdridge.Options{Select: by})
		wrong, ok := errors.AsType[*fdridge.OptionError](err)
		if !ok || !slices.Equal(wrong.Fields, []string{"Select", "Classes"}) {
			t.Errorf("%v without classes: %v", by, err)
		}
	}
}
