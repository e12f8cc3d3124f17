package paper

import (
	"context"
	"math"
	"path/filepath"
	"testing"
)

// smallRun is a run of the iterative experiments on the w8a of the repository.
func smallRun(t *testing.T, figures ...int) *run {
	t.Helper()
	r := &run{Config: Config{Out: t.TempDir(), Figures: figures, Quick: true, Rows: 3000, Seed: 5}}
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestConvergence holds figures 3 to 5 to what is proved of their methods.
func TestConvergence(t *testing.T) {
	r := smallRun(t, 3)
	if err := r.convergence(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := r.converged[0]
	if c == nil || r.converged[1] != nil || r.converged[2] != nil {
		t.Fatalf("figure 3 alone was asked for: %v", r.converged)
	}
	if c.rows != 3000 || c.dim != 256 || c.size != 64 {
		t.Errorf("n = %d, d = %d, m = %d", c.rows, c.dim, c.size)
	}
	methods := append([]string{"CG:RFD", "Classical:Gaussian", "Classical:SJLT"}, iterated...)
	for _, gamma := range c.gammas {
		for _, m := range methods {
			k := c.find(m, gamma)
			if k == nil || len(k.errors) < 2 || len(k.errors) != len(k.bounds) || len(k.errors) > 11 {
				t.Fatalf("%s at γ = %g: %v", m, gamma, k)
			}
			for i, e := range k.errors {
				if !(e <= k.bounds[i]+c.floor) {
					t.Errorf("%s at γ = %g, t = %d: error %g, certified %g", m, gamma, i, e, k.bounds[i])
				}
			}
		}
		for _, m := range []string{"FD", "RFD"} {
			if seen, rate := c.find(m, gamma).contraction(c.floor), c.rate(m, gamma); !(seen <= rate) {
				t.Errorf("%s at γ = %g contracts by %g, certified %g", m, gamma, seen, rate)
			}
		}
		// CG starts from the same x and minimises over a space that holds Newton's.
		if cg, newton := c.final("CG:RFD", gamma), c.final("RFD", gamma); !(cg <= 2*newton+10*c.floor) {
			t.Errorf("γ = %g: CG ends at %g, Newton at %g", gamma, cg, newton)
		}
	}
	if len(c.curves) != len(methods)*len(c.gammas) {
		t.Errorf("%d curves", len(c.curves))
	}
	for _, suffix := range []string{".png", ".svg", ".csv", ".json"} {
		found, err := filepath.Glob(filepath.Join(r.Out, "figures", "figure*"+suffix))
		if err != nil || len(found) != 1 {
			t.Errorf("%s files: %v, %v", suffix, found, err)
		}
	}
}

// TestPassesFollowTheory: the numbers of passes in figure 6 agree with theory. Larger γ need no more passes, and CG
// needs at most as many as its condition number allows.
func TestPassesFollowTheory(t *testing.T) {
	r := smallRun(t)
	efforts, _, err := r.effortsOn(context.Background(), "w8a", func(string, float64) {})
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]effort{}
	for _, e := range efforts {
		if !(e.seconds > 0) || e.passes < 0 || e.passes > mostPasses {
			t.Errorf("%+v", e)
		}
		if e.method == "CG:RFD" && e.passes == 0 {
			t.Errorf("%+v: CG did not arrive", e)
		}
		if before, ok := last[e.method]; ok && before.passes > 0 && e.passes > before.passes {
			t.Errorf("more passes for more γ: %+v, %+v", before, e)
		}
		last[e.method] = e
		if e.passes > 0 && e.ratio >= 1 {
			// κ ≤ 1 + η/γ bounds the passes of CG in the norm of H; /10 for the
			// change of norm.
			root := math.Sqrt(1 + 1/e.ratio)
			most := math.Log(accuracy/10/2)/math.Log((root-1)/(root+1)) + 2
			if e.method == "CG:FD" && !(float64(e.passes) <= most) {
				t.Errorf("%+v: at most %g passes are needed", e, most)
			}
		}
	}
	if len(last) != 6 {
		t.Errorf("%d methods", len(last))
	}
}
