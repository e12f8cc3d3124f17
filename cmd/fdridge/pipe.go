package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/fdridge/fdridge/ridge"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/svmlight"
)

// stdinName is what messages call the data of --data -.
const stdinName = "standard input"

// isPipe tells that --data names standard input, or a FIFO.
func isPipe(name string) bool {
	if name == "-" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// checkPipe refuses a pipe where the command, or another flag, reads rows again.
func (o *rowFlags) checkPipe() error {
	files := o.dataFiles()
	i := slices.IndexFunc(files, isPipe)
	switch {
	case i < 0:
		return nil
	case o.unpiped != "":
		return badInput("--data: %s can be read once, and %s", dataName(files[i]), o.unpiped)
	case len(files) > 1:
		return badInput("--data: %s is read alone, not with other files; have what writes to it send all rows", dataName(files[i]))
	case o.transposed:
		return badInput("--transposed: it reads the rows again and again, and %s can be read once; write them to a file", dataName(files[i]))
	}
	return nil
}

// piped reports whether the rows come from a pipe.
func (o *rowFlags) piped() bool {
	files := o.dataFiles()
	return len(files) == 1 && isPipe(files[0])
}

// listen makes the pipe that --data names, if it names one: what errors call it, and its end, are
// those of the command. prompt says that rows are wanted as they come.
func (o *rowFlags) listen(cmd *cobra.Command, prompt bool) {
	if !o.piped() {
		return
	}
	if o.data.value == "-" {
		o.pipe = dataset.NewPipe(cmd.Context(), stdinName, cmd.InOrStdin())
	} else {
		o.pipe = dataset.OpenPipe(cmd.Context(), o.data.value)
	}
	o.pipe.Prompt = prompt
}

// dataName is what messages call the data.
func dataName(data string) string {
	if data == "-" {
		return stdinName
	}
	return data
}

// nameOnce says in the words of the command what reads rows again that can be read once, and the
// ways out, which ways names.
func nameOnce(err error, data, ways string) error {
	e, ok := errors.AsType[*dataset.OnceError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, svmlight.ErrWidth):
		return badInput("--data: %s is svmlight, whose rows do not say how many features there are, and it can be read once: say --n-features", dataName(data))
	case e.Err != nil:
		return badInput("--cache: %s can be read once, and its rows cannot be kept: %w", dataName(data), e.Err)
	}
	return badInput("%s takes another pass over the rows, and %s can be read once: %s", e.What, dataName(data), ways)
}

// waysOfFit are for fit, waysOfSketch for what has no method, waysOfLive for what has no end.
const (
	waysOfFit    = "say --method one-shot, which takes none, or --cache DIR, which keeps the rows"
	waysOfSketch = "say --cache DIR, which keeps the rows, or write them to a file"
	waysOfLive   = "leave it out, or sketch rows that have an end"
)

// checkPipe refuses what goes on from a row, or shares rows out, where they come once.
func (o *fitOptions) checkPipe() error {
	var why string
	switch data := dataName(o.data.value); {
	case !o.piped():
		return nil
	case o.mpi:
		why = "--mpi: ranks share the rows of files, and %s is read by one process alone; give each rank a sketch to make (sketch --data -), and merge them"
	case o.kept.name != "":
		why = "--checkpoint: a run goes on from it by reading the rows again from where it was, and %s can be read once; write them to a file"
	default:
		return o.rows.checkPipe(data, o.scales(), o.learns(), o.held.flag())
	}
	return badInput(why, dataName(o.data.value))
}

// checkPipe refuses, for rows that come once, --cache-keep and, without --cache, the flags in again,
// each of which needs another pass over the rows. An empty name is ignored.
func (o *cacheFlags) checkPipe(data string, again ...string) error {
	if o.keep {
		return badInput("--cache-keep: a later run could not tell whether %s has the same rows", data)
	}
	for _, flag := range again {
		if flag != "" && o.dir == "" {
			return badInput("--%s: it takes a pass over the rows of its own, and %s can be read once: say --cache DIR, which keeps the rows", flag, data)
		}
	}
	return nil
}

// strictly refuses --strict where the method that is chosen has no tolerance.
func (o *fitOptions) strictly(method ridge.Method) error {
	if o.strict && method == ridge.OneShot {
		return fmt.Errorf("%w, which is chosen for rows that can be read once", errNoTolerance)
	}
	return nil
}
