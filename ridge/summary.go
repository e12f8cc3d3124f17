package ridge

import (
	"sync"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// SummaryConfig says what to keep of the rows. Dim and Size are required; the
// zero value of every other field is the documented default.
type SummaryConfig struct {
	Dim       int  // d, the number of features
	Targets   int  // t, the number of targets; 0 means 1
	Size      int  // m, the rows of the sketch
	Intercept bool // fit an intercept for each target, unpenalised

	Shrink     fd.Driver      // how the sketch shrinks; default fd.Gram
	ShrinkRows int            // rows between two shrinks; 0: the dispatcher's choice
	Backend    engine.Backend // nil is engine.Default()
	Store      fd.Storage     // what the sketch keeps; default AᵀA where that is no larger than its buffer

	// Lanes is how many sketches are fed side by side, each by a core of its own, with rows dealt
	// to them by their numbers, and merged, in a fixed order, when the summary is read. For the
	// same Lanes and LaneRows results are the same bits however many cores there are. Memory is
	// that of as many summaries, and of half as many more while they are merged. They are fed side by
	// side within a call, so that one of fewer than Lanes·LaneRows rows keeps fewer busy. 0: [Summarize]
	// and fdridge.Fit have the dispatcher choose ([engine.Tuning.LanesFor]), NewSummary takes 1. At most
	// [MaxLanes].
	Lanes int
	// LaneRows is how many rows in a row go to the same lane: row i, counted from 0, goes to lane
	// ⌊i/LaneRows⌋ mod Lanes. 0: as many as let every lane have some of each block of a file,
	// a share of it. Not used where there is one lane.
	LaneRows int
	// LanesAfter is how many rows all go to the first lane, before the others begin. Where the
	// dispatcher chooses lanes for a source that does not know its rows these are as many as a
	// lane is worth its while for.
	LanesAfter int64
}

// MaxLanes is the most lanes of a summary.
const MaxLanes = accum.MaxLanes

// WithLanes is c with the lanes that the dispatcher chooses for n rows, -1 if unknown, where c
// says none: see [engine.Tuning.LanesFor]. The errors are those of [engine.DefaultTuning].
func (c SummaryConfig) WithLanes(n int64) (SummaryConfig, error) {
	with, err := accum.Config(c).WithLanes(n)
	return SummaryConfig(with), err
}

// A Summary is all that ridge regression needs to know of the rows seen so far,
// for every γ: the Frequent Directions sketch of A, c = AᵀY, ‖Y‖² and, with an
// intercept, the means; A and Y are then centred, exactly, row by row and across
// merges. It holds O((m+p+t)·d) numbers. Where d is no more than m+p the sketch is AᵀA itself,
// of which nothing is lost: see [fd.Storage].
//
// One goroutine may write at a time; any number may read while none writes.
type Summary struct {
	cfg SummaryConfig // of rows
	sum *accum.Accumulator

	// Meta is the caller's own, at most [MaxMeta] bytes, written and read along with
	// the summary and otherwise left alone, by Merge too.
	Meta []byte

	mu      sync.Mutex
	joined  *accum.Lane  // of all rows; nil when it has to be made of the lanes
	spec    *fd.Spectrum // of its sketch; nil when it has to be computed
	ofWhole bool         // spec is that of K itself, see whole
	penalty []float64    // of a view in penalised columns, of which spec is; nil: none
}

// NewSummary makes an empty summary. The errors are those of [fd.New].
func NewSummary(cfg SummaryConfig) (*Summary, error) {
	sum, err := accum.New(accum.Config(cfg))
	if err != nil {
		return nil, err
	}
	return SummaryOf(sum, nil), nil
}

// SummaryOf returns the summary of rows that were added up, which it owns from now on, with its Meta. It is
// for the packages below ridge.
func SummaryOf(sum *accum.Accumulator, meta []byte) *Summary {
	return &Summary{cfg: SummaryConfig(sum.Config()), sum: sum, Meta: meta}
}

// view returns s with another lane, and the spectrum of that one, for reading.
func (s *Summary) view(l *accum.Lane, spec *fd.Spectrum) *Summary {
	return &Summary{cfg: s.cfg, sum: accum.View(accum.Config(s.cfg), l), spec: spec, ofWhole: s.ofWhole, penalty: s.penalty}
}

// Rows is n, the number of rows seen.
func (s *Summary) Rows() int64 {
	if !s.made() {
		return 0
	}
	return s.sum.Rows()
}

// Weight is Σw, the sum of the weights of the rows seen: their number where they had none.
// [Summary.Decay] multiplies it.
func (s *Summary) Weight() float64 {
	if !s.made() {
		return 0
	}
	return s.sum.Weight()
}

// Config returns the configuration in force. What Store comes to is Sketch().Scatter().
func (s *Summary) Config() SummaryConfig { return s.cfg }

// Sketch returns the sketch of A, centred where an intercept is fitted. It is
// the summary's own: read it only. Where the lanes could not be merged its methods return why.
// The zero Summary has none. That of a penalised summary is of the columns as they are.
func (s *Summary) Sketch() *fd.Sketch {
	if !s.made() {
		return nil
	}
	all, _ := s.all() // the sketch knows the error
	return all.Sketch
}

// Joined says that there is one lane, so that none has to be merged when s is read, which takes the
// memory of half as many more: the others have not begun, or [Summary.Join] has merged them.
func (s *Summary) Joined() bool { return s != nil && (s.sum == nil || s.sum.Lanes() <= 1) }

// made says that s has dimensions, so is neither nil nor the zero value.
func (s *Summary) made() bool { return s != nil && s.sum != nil }

// all is what all rows come to. It is to be read only.
func (s *Summary) all() (*accum.Lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.allLocked()
}

func (s *Summary) allLocked() (*accum.Lane, error) {
	if s.joined != nil {
		return s.joined, nil
	}
	joined, err := s.sum.All()
	if err == nil {
		s.joined = joined
	}
	return joined, err
}

// spectrum returns the sketch's spectrum, computing it once between writes.
func (s *Summary) spectrum() (*fd.Spectrum, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made() {
		return nil, errUnmade
	}
	if s.spec == nil {
		all, err := s.allLocked()
		if err != nil {
			return nil, err
		}
		p, err := all.Sketch.Spectrum()
		if err != nil {
			return nil, err
		}
		s.spec = p
	}
	return s.spec, nil
}

// HoldsGram reports whether AᵀA itself is known but for round-off, from a pass or because the summary keeps it.
func (s *Summary) HoldsGram() bool {
	return s.made() && (s.ofWhole || s.Sketch().Scatter() && s.Sketch().Bound().Shrinkage == 0)
}
