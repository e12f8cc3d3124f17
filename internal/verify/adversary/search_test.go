package adversary

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// A budget is how many problems a search makes, at least, for how long it goes on,
// and where it starts.
type budget struct {
	cases int
	limit time.Duration
	seed  uint64
}

// readBudget is the one of the environment, and so many cases from seed 1 where it
// asks for nothing.
func readBudget(t *testing.T, cases int) budget {
	t.Helper()
	b := budget{cases: cases, seed: 1}
	var err error
	if v := os.Getenv("FDRIDGE_ADVERSARY"); v != "" {
		b.limit, err = time.ParseDuration(v)
		if err != nil {
			t.Fatal(err)
		}
		b.seed = uint64(time.Now().UnixNano())
	}
	if v := os.Getenv("FDRIDGE_ADVERSARY_CASES"); v != "" {
		b.cases, err = strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		b.seed = uint64(time.Now().UnixNano())
	}
	if v := os.Getenv("FDRIDGE_ADVERSARY_SEED"); v != "" {
		b.seed, err = strconv.ParseUint(v, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// spend steps a search until the budget is spent and prints what came of it.
func (b budget) spend(t *testing.T, s *Search) {
	t.Helper()
	start := time.Now()
	for s.Cases < b.cases || time.Since(start) < b.limit {
		s.Step()
	}
	took := time.Since(start).Seconds()
	t.Logf(
		"%d problems, %d bounds compared, from seed %d in %.1f s (%.3g problems a second); the largest "+
			"error/bound of each certificate, and of problems drawn at random the median and the 95th percentile "+
			"of bound/error:",
		s.Cases,
		s.Compared,
		b.seed,
		took,
		float64(s.Cases)/took,
	)
	for _, name := range s.Names() {
		f := s.Worst[name]
		median, high := s.Looseness(name)
		t.Logf("%-45s %-12.6g %-9.3g %.3g", name, f.Ratio, median, high)
		if !(f.Ratio <= 1) {
			t.Errorf("%s: error/bound = %g, first false at case %d, for\n%v", name, f.Ratio, f.First, f.Genome)
			if g, ok := f.Genome.(Genome); ok && g.cycles() == 1 {
				t.Logf("smaller: %v", Smaller(g, func(g Genome) bool { return !(Evaluate(g).Ratios[name] <= 1) }))
			}
		}
	}
	for _, name := range s.RefinedNames() {
		median, high, n, certified := s.RefinedLooseness(name)
		t.Logf(
			"asked for 1e-14, κ(H) ≤ 4.5e12, η ≤ 8γ or by a factor: %-16s bound/error: median %-5.3g, 95th "+
				"percentile %-7.3g; %d of %d certified to 1e-14",
			name,
			median,
			high,
			certified,
			n,
		)
	}
	for _, what := range slices.Sorted(maps.Keys(s.Refused)) {
		t.Logf("refused: %-36s %d", what, s.Refused[what])
	}
}

// TestSearch climbs from the findings: no certificate is ever exceeded. A short search draws all its
// problems, as TestFindings and TestElsewhere have the findings.
func TestSearch(t *testing.T) {
	cases, thorough := 20, os.Getenv("FDRIDGE_THOROUGH") != ""
	seeds := genomes(slices.Concat(findings, elsewhere))
	switch {
	case os.Getenv(inner) != "" && thorough:
		cases = 20
	case os.Getenv(inner) != "":
		cases = 3
	case thorough:
		cases = 100
	}
	b := readBudget(t, cases)
	if b.cases <= len(seeds) && b.limit == 0 && os.Getenv(inner) == "" {
		seeds = nil
	}
	b.spend(t, NewSearch(b.seed, Random, Evaluate, seeds...))
}

// TestLong is TestSearch for up to 10⁷ rows of up to three columns.
func TestLong(t *testing.T) {
	if os.Getenv("FDRIDGE_ADVERSARY_LONG") == "" {
		t.Skip("FDRIDGE_ADVERSARY_LONG is not set: minutes of rows")
	}
	b := readBudget(t, 20)
	b.spend(t, NewSearch(b.seed, Long, Evaluate, genomes(often)...))
}

// TestLarge is a search with 70 to 600 features, of fewer of them where nothing else
// is asked for.
func TestLarge(t *testing.T) {
	b := readBudget(t, 0)
	draw := RandomLarge
	if b.cases == 0 && b.limit == 0 {
		b.cases = 3
		if os.Getenv(inner) != "" {
			b.cases = 1
		}
		draw = func(r *rand.Rand) Large {
			g := RandomLarge(r)
			g.Cols = 70 + r.IntN(50)
			return g.clip()
		}
	}
	b.spend(t, NewSearch(b.seed, draw, EvaluateLarge))
}

func genomes(found []finding) []Genome {
	var out []Genome
	for _, f := range found {
		out = append(out, f.genome)
	}
	return out
}
