package main

import (
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/checkpoint"
)

// checkpointFlags say where the state of a fit is kept, and how often.
type checkpointFlags struct {
	name  string
	every time.Duration
}

func (o *checkpointFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.name, "checkpoint", "", "keep the state of the run here: after a crash, or Ctrl-C, the same command goes on from it, to the same bits; removed when the run ends with exit code 0")
	f.DurationVar(&o.every, "checkpoint-every", 30*time.Second, "how often, at most; what a checkpoint takes to write is left ten times in between")
}

func (o *checkpointFlags) check() error {
	if !(o.every > 0) {
		return badInput("--checkpoint-every: %v, must be positive", o.every)
	}
	for _, f := range o.outputs() { // a name of the user's, and those that are made of it
		if err := checkOutput(f.flag, f.path); err != nil {
			return err
		}
	}
	return nil
}

// outputs are the files that are written.
func (o *checkpointFlags) outputs() []output {
	var out []output
	if o.name != "" {
		for _, name := range checkpoint.Names(o.name) {
			out = append(out, output{"checkpoint", name})
		}
	}
	return out
}

// freeFlags may differ between a run and the one whose checkpoint it goes on from: where to
// put results, what to show, and how far to go.
var freeFlags = []string{"out", "coef", "report", "json", "save-sketch", "log-format", "threads", "checkpoint", "checkpoint-every", "tol", "max-passes", "strict", "cache", "cache-keep", "cache-gib", "help"}

// laterFlags came after checkpoints had been written without them: they count where they are
// given.
var laterFlags = []string{"select", "gamma-tol", "bands", "n-features", "part", "missing", "onehot", "holdout"}

// settings are what two runs must have in common, and the files as they are now.
func (o *fitOptions) settings(be engine.Backend) ([]batch.Setting, map[string]dataset.Stamp, error) {
	var out []batch.Setting
	o.runs.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(freeFlags, f.Name) && (f.Changed || !slices.Contains(laterFlags, f.Name)) {
			out = append(out, batch.Setting{Name: "--" + f.Name, Value: f.Value.String()})
		}
	})
	files := batch.Files(o.files())
	backend, err := batch.BackendSetting(be)
	if err != nil {
		return nil, nil, badInput("%w", err) // a wrong environment variable
	}
	return append(append(out, batch.FileSettings(files)...), backend), stampsOf(files), nil
}

// stampsOf returns the sizes and times of files, by name.
func stampsOf(files []batch.File) map[string]dataset.Stamp {
	out := map[string]dataset.Stamp{}
	for _, f := range files {
		out[f.Name] = f.Stamp
	}
	return out
}
