package ridge

import (
	"sync"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// SummaryConfig is the configuration of a [Summary]. Dim and Size are required. If another field is zero, its
// default is used.
type SummaryConfig struct {
	Dim       int  // d, the number of features
	Targets   int  // t, the number of targets; 0 means 1
	Size      int  // m, the number of rows of the sketch
	Intercept bool // fit an unpenalised intercept for each target

	Shrink     fd.Driver      // the factorisation for a shrink; default fd.Gram
	ShrinkRows int            // rows between two shrinks; 0 selects the default of fd.Config
	Backend    engine.Backend // nil is engine.Default()
	// Store selects what the sketch stores: its rows, or AᵀA for the appended rows A. By default it stores AᵀA if
	// AᵀA is not larger than the buffer of rows.
	Store fd.Storage

	// Lanes is the number of sketches, called lanes, that are computed in parallel. The number of a row determines
	// its lane. Results therefore depend on Lanes and LaneRows, but not on the number of cores.
	//
	// Each lane needs as much memory as a summary. Merging the lanes needs half as much memory in addition. To keep
	// all cores busy, a call must append at least Lanes·LaneRows rows. If Lanes is 0, [Summarize] and fdridge.Fit
	// use [engine.Tuning.LanesFor], and NewSummary uses 1. The maximum is [MaxLanes].
	Lanes int
	// LaneRows is the number of consecutive rows that go to the same lane. Row i goes to lane ⌊i/LaneRows⌋ mod
	// Lanes, where the first row and the first lane have the number 0. If LaneRows is 0, a number is chosen with
	// which each block of a file has rows for every lane.
	LaneRows int
	// LanesAfter is the number of rows that go to the first lane before the other lanes are used.
	// [SummaryConfig.WithLanes] sets it if Lanes is 0.
	LanesAfter int64
}

// MaxLanes is the largest number of lanes of a summary.
const MaxLanes = accum.MaxLanes

// WithLanes returns c with Lanes and LanesAfter chosen by [engine.Tuning.LanesFor] for n rows. If n is unknown, it
// must be −1. If Lanes is not 0, WithLanes returns c unchanged. Errors come from [engine.DefaultTuning].
func (c SummaryConfig) WithLanes(n int64) (SummaryConfig, error) {
	with, err := accum.Config(c).WithLanes(n)
	return SummaryConfig(with), err
}

// A Summary holds everything that ridge regression needs to know about the appended rows, for every penalty γ. For
// features A and targets Y, it holds the Frequent Directions sketch of A, AᵀY, ‖Y‖², and the means if there is
// an intercept. With an intercept, A and Y are centred by the means of all rows, although the means change with
// each row and each merge.
//
// A Summary takes O((m+p+t)·d) numbers, for d features, t targets, a sketch of m rows and p rows between two
// shrinks of the sketch. If d ≤ m+p, the Summary keeps AᵀA itself and loses nothing, see [fd.Storage].
//
// Only one goroutine may write at a time. Any number may read while none writes.
type Summary struct {
	cfg SummaryConfig
	sum *accum.Accumulator

	// Meta holds at most [MaxMeta] bytes that the caller has attached. Meta is written and read with the summary.
	// No other method changes it. In particular, Merge does not.
	Meta []byte

	mu        sync.Mutex
	joined    *accum.Lane  // all lanes merged; nil until computed
	spec      *fd.Spectrum // spectrum of the sketch; nil until computed
	holdsGram bool         // spec is the spectrum of AᵀA itself, not of the sketch; see WithGram
	// penalty holds one penalty for each column if Penalize returned this Summary, and is otherwise nil. If penalty is
	// not nil, spec is the spectrum of columns that are scaled by these penalties.
	penalty   []float64
	projected *certify.Projection // set by WithErrors; nil if no columns were projected out
	rounding  []float64           // set by WithErrors; nil if the entries of the rows are exact
	known     *certify.Known      // cached result of Known for many targets; nil until computed
}

// NewSummary returns an empty summary. It returns an error if a field of cfg is invalid, see [fd.New].
func NewSummary(cfg SummaryConfig) (*Summary, error) {
	sum, err := accum.New(accum.Config(cfg))
	if err != nil {
		return nil, err
	}
	return summaryOf(sum, nil), nil
}

// Other packages of this module call the following functions through variables of package accum. So the functions
// need not be exported, because users of ridge do not need them.
func init() {
	accum.SummaryOf = func(sum *accum.Accumulator, meta []byte) any {
		return summaryOf(sum, meta)
	}
	accum.KnownOf = func(s any, method string, workers int, gammas ...float64) (*certify.Known, error) {
		sum, ok := s.(*Summary)
		if !ok {
			return nil, errZeroValue
		}
		return sum.quantities(method, workers, gammas...)
	}
}

// summaryOf returns a summary of the rows in sum, with the given Meta. The summary takes ownership of sum and meta.
func summaryOf(sum *accum.Accumulator, meta []byte) *Summary {
	return &Summary{cfg: SummaryConfig(sum.Config()), sum: sum, Meta: meta}
}

// view returns a read-only copy of s in which l and spec replace the sums and the spectrum of s.
func (s *Summary) view(l *accum.Lane, spec *fd.Spectrum) *Summary {
	return &Summary{
		cfg:       s.cfg,
		sum:       accum.View(accum.Config(s.cfg), l),
		spec:      spec,
		holdsGram: s.holdsGram,
		penalty:   s.penalty,
		projected: s.projected,
		rounding:  s.rounding,
	}
}

// WithErrors declares that the summarised rows have errors of at most e. All bounds are then for the exact rows,
// without these errors. WithErrors changes s and returns it. Encoding s does not write e. If e.Rounding has a wrong
// length, all methods that need bounds return [ErrShape].
func (s *Summary) WithErrors(e RowErrors) *Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounding = e.Rounding
	s.projected = e.projection()
	s.known = nil
	return s
}

// Rows returns n, the number of rows so far.
func (s *Summary) Rows() int64 {
	if !s.isValid() {
		return 0
	}
	return s.sum.Rows()
}

// Weight returns the sum of the weights of all appended rows. Without weights it is the number of rows. If
// [Summary.Decay] was called, Weight returns the sum of the reduced weights.
func (s *Summary) Weight() float64 {
	if !s.isValid() {
		return 0
	}
	return s.sum.Weight()
}

// Config returns the configuration in use. To find out whether the sketch stores AᵀA, call Sketch().Scatter().
func (s *Summary) Config() SummaryConfig { return s.cfg }

// Sketch returns the sketch of the rows A, centred if there is an intercept. It must not be modified. If merging
// the parallel sketches of s fails, all methods of the returned sketch return the error of the merge. If s is a
// result of [Summary.Penalize], its sketch is for the original columns.
func (s *Summary) Sketch() *fd.Sketch {
	if !s.isValid() {
		return nil
	}
	all, _ := s.all() // the sketch returns the error
	return all.Sketch
}

// Joined reports whether s consists of a single sketch. Otherwise the parallel sketches ([SummaryConfig.Lanes])
// have to be merged before s is read.
func (s *Summary) Joined() bool {
	return s != nil && (s.sum == nil || s.sum.Lanes() <= 1)
}

// isValid reports whether s is neither nil nor the zero value.
func (s *Summary) isValid() bool { return s != nil && s.sum != nil }

// all returns the sums over all rows. The first call after a write merges the parallel sketches. Later calls return
// the stored result.
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

// spectrum returns the eigenvalues and eigenvectors that s uses to compute solutions. It stores the result until
// the next write.
func (s *Summary) spectrum() (*fd.Spectrum, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isValid() {
		return nil, errZeroValue
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

// HoldsGram reports whether s has AᵀA itself for the rows A, with no error but round-off. This is true for a result
// of [Summary.WithGram], and if the sketch stores AᵀA, not rows.
func (s *Summary) HoldsGram() bool {
	return s.isValid() &&
		(s.holdsGram || s.Sketch().Scatter() && s.Sketch().Bound().Shrinkage == 0)
}
