package main

import (
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/table"
)

// checkpointFlags holds two flags. --checkpoint names the file for the state of a fit. --checkpoint-every is the
// minimum time between two writes of this file.
type checkpointFlags struct {
	name  string
	every time.Duration
}

func (o *checkpointFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.name, "checkpoint", "", "save the state in FILE; the same command resumes from there")
	f.DurationVar(&o.every, "checkpoint-every", 30*time.Second, "minimum time between checkpoints")
}

func (o *checkpointFlags) check() error {
	if !(o.every > 0) {
		return cli.BadInput("--checkpoint-every: %v, must be positive", o.every)
	}
	for _, f := range o.outputs() { // --checkpoint and the names derived from it
		if err := cli.CheckOutput(f.Flag, f.Path); err != nil {
			return err
		}
	}
	return nil
}

// outputs returns the files that the checkpoint writes.
func (o *checkpointFlags) outputs() []cli.Output {
	var out []cli.Output
	if o.name != "" {
		for _, name := range safefile.CheckpointNames(o.name) {
			out = append(out, cli.Output{Flag: "checkpoint", Path: name})
		}
	}
	return out
}

// settings returns everything that must be the same when a run resumes from a checkpoint. These are the rows, the
// flags for options of the library, the input files and the backend. The map holds the size and the modification
// time of each input file.
func (o *fitOptions) settings(be engine.Backend) ([]batch.Setting, map[string]dataset.Stamp, error) {
	out := input.Settings(o.Spec())
	for _, field := range slices.Sorted(maps.Keys(optionFlags)) {
		name := optionFlags[field]
		isKnown := slices.ContainsFunc(out, func(s batch.Setting) bool {
			return s.Name == name
		})
		if !isKnown && !slices.Contains(freeOptions, field) {
			value := o.runs.cmd.Flags().Lookup(name[len("--"):]).Value.String()
			out = append(out, batch.Setting{Name: name, Value: value})
		}
	}
	files := batch.Files(o.Files())
	backend, err := batch.BackendSetting(be)
	if err != nil {
		return nil, nil, cli.BadInput("%w", err) // an environment variable has a wrong value
	}
	return append(append(out, batch.FileSettings(files)...), backend), table.Stamps(files), nil
}
