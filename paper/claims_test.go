package paper

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	gammas := []float64{0x1p-4, 0x1p-3, 0x1p-2, 1}
	for _, c := range []struct {
		ok   [][]bool
		want verdict
		why  string
	}{
		{[][]bool{{true, true, true, true}, {true, true, true, true}}, holds, ""},
		{[][]bool{{false, true, true, true}, {false, true, true, true}}, partly, "a, b true for γ ≥ 2⁻³"},
		{[][]bool{{true, true, false, true}, {false, true, true, false}}, partly, "a true for γ ≤ 2⁻³ and γ = 1; b true for 2⁻³ ≤ γ ≤ 2⁻²"},
		{[][]bool{{true, true, true, true}, {false, false, false, false}}, partly, "a true at every γ; b true at no γ"},
		{[][]bool{{true, true, false, false}, {true, false, false, false}}, fails, "a true for γ ≤ 2⁻³; b true for γ = 2⁻⁴"},
		{[][]bool{{}, {}}, unknown, "no γ of the range the claim is about was run"},
	} {
		f := tally{[]string{"a", "b"}, gammas[:len(c.ok[0])], c.ok}.finding("")
		if f.verdict != c.want || f.why != c.why {
			t.Errorf("%v: %v, %q; want %v, %q", c.ok, f.verdict, f.why, c.want, c.why)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct{ a, b, want verdict }{
		{holds, holds, holds}, {fails, fails, fails}, {partly, partly, partly}, {unknown, unknown, unknown},
		{holds, fails, partly}, {fails, partly, partly}, {holds, partly, partly}, {holds, unknown, unknown}, {unknown, fails, unknown},
	} {
		if got := c.a.and(c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// made is a result in which each method has the relative errors given, of values
// above the optimal ones, which are 1.
func made(gammas []float64, errors map[string]func(m metric, gamma float64) float64) *risks {
	x := &risks{
		gammas:   gammas,
		absolute: map[string][metrics][]float64{},
		relative: map[string][metrics][]float64{},
		seconds:  map[string]float64{},
	}
	for method, e := range errors {
		var absolute, relative [metrics][]float64
		for m := range metrics {
			for _, gamma := range gammas {
				absolute[m] = append(absolute[m], 1+e(m, gamma))
				relative[m] = append(relative[m], e(m, gamma))
			}
		}
		x.absolute[method], x.relative[method] = absolute, relative
	}
	x.absolute[exact] = made1(len(gammas))
	return x
}

func made1(n int) (ones [metrics][]float64) {
	for m := range metrics {
		for range n {
			ones[m] = append(ones[m], 1)
		}
	}
	return ones
}

// TestVerdicts: numbers as the paper says them make its claims hold, and numbers to
// the contrary don't.
func TestVerdicts(t *testing.T) {
	constant := func(e float64) func(metric, float64) float64 {
		return func(metric, float64) float64 { return e }
	}
	byMetric := func(b, v, e float64) func(metric, float64) float64 {
		return func(m metric, _ float64) float64 { return [metrics]float64{b, v, e}[m] }
	}
	gammas := []float64{0x1p-8, 0x1p-5, 0x1p-4, 1, 16}
	low := made(gammas, map[string]func(metric, float64) float64{
		fdrr: constant(2e-6), rfdrr: constant(1e-6),
		classicalGaussian: constant(0.1), classicalSJLT: byMetric(0.11, 9, 9),
		hessianGaussian: constant(3), hessianSJLT: constant(3.1),
	})
	robust := func(_ metric, gamma float64) float64 { return 0.1 / (1 + gamma*gamma) }
	turning := func(small, large float64) func(metric, float64) float64 {
		return func(_ metric, gamma float64) float64 {
			if gamma <= turn {
				return small
			}
			return large
		}
	}
	high := made(gammas, map[string]func(metric, float64) float64{
		fdrr: func(m metric, gamma float64) float64 {
			return robust(m, gamma) * turning(50, 2)(m, gamma)
		},
		rfdrr: robust, classicalGaussian: turning(0.29, 2), classicalSJLT: constant(90),
		hessianGaussian: constant(50), hessianSJLT: constant(51),
	})
	low.seconds[classicalGaussian], low.seconds[fdrr] = 2, 1
	high.seconds[classicalGaussian], high.seconds[fdrr] = 2, 1
	as := &results{risks: [2]*risks{low, high}}
	contrary := &results{risks: [2]*risks{
		made(gammas, map[string]func(metric, float64) float64{
			fdrr: constant(1), rfdrr: constant(2), classicalGaussian: constant(0.9), classicalSJLT: byMetric(0.9, 0.8, 0.9),
			hessianGaussian: constant(0.2), hessianSJLT: constant(0.6),
		}),
		made(gammas, map[string]func(metric, float64) float64{
			fdrr: constant(0.5), rfdrr: constant(5), classicalGaussian: constant(90), classicalSJLT: constant(60),
			hessianGaussian: constant(0.1), hessianSJLT: constant(0.1),
		}),
	}}
	for _, s := range []section{findingsR1, findingsR2, statisticsSummary} {
		for _, c := range s.claims {
			want := holds
			if strings.HasPrefix(c.text, "With SJLT") {
				want = partly // that SJLT is competitive for bias is a claim too
			}
			if f := c.judge(as); f.verdict != want {
				t.Errorf("%s: as the paper has it: %v, %s; %s", c.text, f.verdict, f.numbers, f.why)
			}
			f := c.judge(contrary)
			if f.verdict != fails && f.verdict != partly || f.why == "" {
				t.Errorf("%s: to the contrary: %v, %s; %s", c.text, f.verdict, f.numbers, f.why)
			}
		}
	}
	few := &results{risks: [2]*risks{low, made(gammas[2:3], map[string]func(metric, float64) float64{
		fdrr: constant(1), rfdrr: constant(1), classicalGaussian: constant(1), classicalSJLT: constant(1), hessianGaussian: constant(1), hessianSJLT: constant(1),
	})}}
	for _, judge := range []func(*results) finding{on(2, alikeAbove), on(2, noImprovement), higherThanR1} {
		if f := judge(few); f.verdict != unknown || f.why == "" {
			t.Errorf("with too few γ: %v, %q", f.verdict, f.why)
		}
	}
}

// TestResults: RESULTS.md has a row for each claim of what was run, shows the
// figures, and says what was not run.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(context.Background(), Config{Out: dir, Quick: true, Figures: []int{1}, Seed: 1, Command: "a command"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{"a command", "quick run", "(figures/figure1.png)", "Figure 2 was not run", "| backend |", "| seed | 1 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, c := range findingsR1.claims {
		if n := strings.Count(text, "| "+c.text+" |"); n != 1 {
			t.Errorf("%d rows of %q", n, c.text)
		}
	}
	for _, c := range findingsR2.claims[1:3] {
		if strings.Contains(text, c.text) {
			t.Errorf("judged without figure 2: %q", c.text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.Count(strings.ReplaceAll(line, "\\|", ""), "|"); cells != 0 && cells != 3 && cells != 5 {
			t.Errorf("a row of %d bars: %s", cells, line)
		}
	}
}
