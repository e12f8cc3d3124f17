package adversary

import (
	"math/rand/v2"
	"slices"
)

// A Find is the worst that is known of one certificate.
type Find struct {
	Ratio  float64
	Genome Genome
}

// A Search keeps the worst genome for every certificate and looks for worse ones
// near it: a hill climb for each, which share what they come across.
type Search struct {
	Worst map[string]Find
	Cases int // evaluated

	rng *rand.Rand
}

// NewSearch begins with the seeds given.
func NewSearch(seed uint64, seeds ...Genome) *Search {
	s := &Search{Worst: map[string]Find{}, rng: rand.New(rand.NewPCG(seed, 2))}
	for _, g := range seeds {
		s.try(g)
	}
	return s
}

// Step tries one more genome: mostly a mutant of the worst for some certificate, now
// and then a random one.
func (s *Search) Step() {
	if len(s.Worst) == 0 || s.rng.IntN(5) == 0 {
		s.try(Random(s.rng))
		return
	}
	names := s.Names()
	s.try(s.Worst[names[s.rng.IntN(len(names))]].Genome.Mutate(s.rng))
}

func (s *Search) try(g Genome) {
	s.Cases++
	for name, ratio := range Evaluate(g).Ratios {
		if old, ok := s.Worst[name]; !ok || ratio > old.Ratio {
			s.Worst[name] = Find{ratio, g}
		}
	}
}

// Names of the certificates met so far, sorted.
func (s *Search) Names() []string {
	names := make([]string, 0, len(s.Worst))
	for name := range s.Worst {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
