package adversary

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// mutable is a genome: it mutates, and is printed as a literal.
type mutable[G any] interface {
	fmt.Stringer
	Mutate(r *rand.Rand) G
}

// A Find is the worst that is known of one certificate.
type Find struct {
	Ratio  float64
	Genome fmt.Stringer
	First  int // the case of the first ratio above 1, counted from 1
}

// A Search keeps the worst genome for every certificate and looks for worse ones
// near it: a hill climb for each, which share what they come across.
type Search struct {
	Worst    map[string]Find
	Drawn    map[string][]float64 // the ratios of the genomes that were drawn at random
	Refined  map[string][]Refined // of these genomes
	Refused  map[string]int
	Cases    int // evaluated
	Compared int // bounds

	step func()
}

// NewSearch begins with the seeds given.
func NewSearch[G mutable[G]](seed uint64, random func(*rand.Rand) G, evaluate func(G) *Report, seeds ...G) *Search {
	s := &Search{
		Worst:   map[string]Find{},
		Drawn:   map[string][]float64{},
		Refined: map[string][]Refined{},
		Refused: map[string]int{},
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	next := 0
	s.step = func() {
		var g G
		drawn := false
		switch names := s.Names(); {
		case next < len(seeds):
			g = seeds[next]
			next++
		case len(names) == 0 || rng.IntN(3) == 0:
			g, drawn = random(rng), true
		default:
			g = s.Worst[names[rng.IntN(len(names))]].Genome.(G).Mutate(rng)
		}
		r := evaluate(g)
		s.add(g, r)
		if !drawn {
			return
		}
		for name, ratio := range r.Ratios {
			s.Drawn[name] = append(s.Drawn[name], ratio)
		}
		for name, fits := range r.Refined {
			s.Refined[name] = append(s.Refined[name], fits...)
		}
	}
	return s
}

// Step tries one more genome: a seed, then mostly a mutant of the worst for some
// certificate, and now and then a random one.
func (s *Search) Step() { s.step() }

func (s *Search) add(g fmt.Stringer, r *Report) {
	s.Cases++
	s.Compared += r.Compared
	for what, n := range r.Refused {
		s.Refused[what] += n
	}
	for name, ratio := range r.Ratios {
		old, ok := s.Worst[name]
		if ok && !(ratio > old.Ratio) {
			continue
		}
		if first := !ok || old.Ratio <= 1; first && !(ratio <= 1) {
			old.First = s.Cases
		}
		s.Worst[name] = Find{ratio, g, old.First}
	}
}

// Looseness is bound/error of a certificate, over the genomes drawn: its median, and what all but
// one in twenty are below. Both are infinite where no bound was given.
func (s *Search) Looseness(name string) (median, high float64) {
	ratios := slices.Sorted(slices.Values(s.Drawn[name]))
	if len(ratios) == 0 {
		return math.NaN(), math.NaN()
	}
	return 1 / ratios[len(ratios)/2], 1 / ratios[len(ratios)/20]
}

// Names of the certificates met so far, sorted.
func (s *Search) Names() []string { return slices.Sorted(maps.Keys(s.Worst)) }
