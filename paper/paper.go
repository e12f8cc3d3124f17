// Package paper reproduces the experiments of C. Dickens, "Ridge Regression with Frequent Directions" (2020), and
// adds two. Each experiment draws a figure with a table of its numbers. The package also judges the claims of the
// paper by these numbers. The command "fdridge paper" runs it.
package paper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/fdridge/fdridge/engine"
)

// Config selects what to run. If a field is zero, each figure has its own setting: the setting of the paper, or a
// small one if Quick is true. A nonzero field replaces the setting in all figures.
type Config struct {
	Out     string // folder for RESULTS.md and figures/; created if missing
	Figures []int  // figures to draw; nil means all of Figures()
	Quick   bool   // small sizes, as a test
	Seed    uint64 // determines all random numbers
	Command string // command to state in RESULTS.md
	Backend engine.Backend
	// Progress, if not nil, is called with the current step.
	Progress func(Progress)

	Rows   int64     // n; -1: all rows of the real data
	Size   int       // m
	Gammas []float64 // γ, ascending

	// Settings of figures 1 and 2.
	Dim    int       // d
	Ratios []float64 // r of figures 1 and 2, R = ⌊r·d + ½⌋
	Noise  float64   // standard deviation
	Trials int       // of the random methods

	// Settings of figures 3 to 7.
	Data       string // folder of the real data; see docs/paper.md
	Features   string // as in fdridge fit --features
	Iterations int
}

// Progress is one step of a run.
type Progress struct {
	Figure int
	What   string  // "w8a, gamma 10, IHS:Gaussian"
	Done   float64 // fraction of the figure's work, 0 to 1
}

// An experiment draws one or more figures, if the run selects them.
type experiment struct {
	figures []int
	run     func(*run, context.Context) error
}

var experiments = []experiment{
	{[]int{1, 2}, (*run).statistics},
	{[]int{3, 4, 5}, (*run).convergence},
	{[]int{6}, (*run).passes},
	{[]int{7}, (*run).covariance},
}

// Figures lists the available figures.
func Figures() []int {
	var out []int
	for _, e := range experiments {
		out = append(out, e.figures...)
	}
	return out
}

// A run is the state of one call of Run: its settings, and its results so far.
type run struct {
	Config
	results
	env     environment
	figure  int // current figure, for tell
	saved   []*figure
	written []string
	made    []string // created folders, the deepest first
}

// results holds the results of the experiments, for judging the claims. Results that were not computed are nil.
type results struct {
	risks     [2]*risks       // of figures 1 and 2
	converged [3]*convergence // of figures 3 to 5
}

// Run runs the selected experiments and writes figures/figureN.png, .svg, .csv and .json, and RESULTS.md, into
// cfg.Out. It returns the names of the written files, even if it returns an error. If no file was written, it
// removes the folders that it created. Files are written atomically. RESULTS.md is rewritten after each
// experiment and covers only this run.
func Run(ctx context.Context, cfg Config) ([]string, error) {
	r := &run{Config: cfg}
	defer func() {
		if len(r.written) == 0 {
			for _, folder := range r.made {
				_ = os.Remove(folder) // it stays if another program has put a file there
			}
		}
	}()
	if err := r.start(); err != nil {
		return nil, err
	}
	for _, e := range experiments {
		if !slices.ContainsFunc(e.figures, r.wants) {
			continue
		}
		if err := e.run(r, ctx); err != nil {
			return r.written, err
		}
		err := r.write("RESULTS.md", func(w io.Writer) error {
			_, err := io.WriteString(w, r.markdown())
			return err
		})
		if err != nil {
			return r.written, err
		}
	}
	return r.written, nil
}

// start checks the settings, records the environment and creates the folders.
func (r *run) start() error {
	if err := r.check(); err != nil {
		return err
	}
	var err error
	r.Backend, err = engine.OrDefault(r.Backend)
	if err != nil {
		return err
	}
	r.env, err = newEnvironment(r.Backend, r.Seed)
	if err != nil {
		return err
	}
	figures := filepath.Join(r.Out, "figures")
	for at := figures; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		r.made = append(r.made, at)
	}
	return os.MkdirAll(figures, 0o777)
}

func (r *run) check() error {
	for _, f := range r.Figures {
		if !slices.Contains(Figures(), f) {
			return &SettingError{fmt.Sprintf("figure %d is none of %v", f, Figures())}
		}
	}
	for i, g := range r.Gammas {
		if !(g > 0) ||
			math.IsInf(g, 0) ||
			i > 0 && g <= r.Gammas[i-1] {
			return &SettingError{fmt.Sprintf("γ = %v must be positive, finite and in ascending order", r.Gammas)}
		}
	}
	if r.Rows < -1 || min(r.Size, r.Dim, r.Trials, r.Iterations) < 0 {
		return &SettingError{
			fmt.Sprintf("rows %d, size %d, dim %d, trials %d, iterations %d: none may be negative (rows but for -1)",
				r.Rows, r.Size, r.Dim, r.Trials, r.Iterations),
		}
	}
	if len(r.Ratios) > 2 {
		return &SettingError{fmt.Sprintf("%d ratios, for figures 1 and 2", len(r.Ratios))}
	}
	return nil
}

// A SettingError reports an invalid Config.
type SettingError struct{ Reason string }

func (e *SettingError) Error() string { return e.Reason }

// Is reports whether target is [engine.ErrInput].
func (e *SettingError) Is(target error) bool {
	return target == engine.ErrInput
}

// wants reports whether a figure is selected.
func (r *run) wants(figure int) bool {
	return r.Figures == nil || slices.Contains(r.Figures, figure)
}

// tell reports progress on figure r.figure: the current step, and the completed fraction of the work.
func (r *run) tell(what string, done float64) {
	if r.Progress != nil {
		r.Progress(Progress{Figure: r.figure, What: what, Done: done})
	}
}

// setting returns given if it is not zero. Otherwise it returns quick in a quick run, and paper in other runs.
func setting[T comparable](r *run, given, paper, quick T) T {
	var zero T
	switch {
	case given != zero:
		return given
	case r.Quick:
		return quick
	}
	return paper
}
