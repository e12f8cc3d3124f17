// Command fdridge fits ridge regression to files of any length in one pass, with
// a certified error, and predicts from the result. See the README, or
// fdridge help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/internal/printable"
	"github.com/fdridge/fdridge/ridge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // then another one ends the program where it stands
		time.Sleep(sameSignal)
		stop()
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr)) // with signals still ours: what is done ends as done
}

// sameSignal is how long further signals are taken to be the first one, come twice: GNU timeout, and whatever else
// sends one to a process and then to its group, would else kill what has just begun to write its last.
const sameSignal = time.Second

// Exit codes.
const (
	done   = 0
	failed = 1 // the computation failed, diverged or was interrupted; with --strict, the tolerance was not reached
	usage  = 2 // bad usage or bad input
	short  = 3 // the tolerance was not reached: the best that could be had was written, with its certificate
)

// exitCodes is for the help of what fits.
const exitCodes = `

Exit codes: 0, what was asked for is done, and certified to --tol where the method has a
tolerance (all but one-shot); 3, --tol was not reached, or nothing is proved of the weights of
one-shot: the best that were found are written with what is certified of them; 1, nothing is: the computation failed, diverged or
was interrupted, or --strict was said and --tol not reached; 2, bad usage or input.`

// run executes one command line and returns its exit code; an error is one line
// on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(ctx, args, byMPI, os.Stdin, stdout, stderr)
}

// execute is run, with what joins the other ranks of fit --mpi.
func execute(ctx context.Context, args []string, mpi joiner, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "fdridge",
		Short:         "Ridge regression in one pass and O(md) memory, with a certified error",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(fitCommand(mpi), sketchCommand(), mergeCommand(), solveCommand(), planCommand(), predictCommand(), plotCommand(), paperCommand(), doctorCommand(mpi), manCommand())
	root.SetVersionTemplate("fdridge version {{.Version}}, " + builtBy() + "\n")
	addExamples(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return nameReplacement(err) })
	root.DisableSuggestions = true // didYouMean has them on one line
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	begun := false
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	err := root.ExecuteContext(ctx)
	if err == nil {
		return done
	}
	if _, told := errors.AsType[toldError](err); told {
		return toldCode(err)
	}
	fmt.Fprintln(stderr, "fdridge: "+message(err)+didYouMean(root, args))
	if _, unwritten := errors.AsType[*fs.PathError](err); !begun && !unwritten { // no such command, or no such flag
		return usage
	}
	return exitCode(err)
}

// didYouMean is what to add to an error that was made of a command that there is none of: those
// that are written alike.
func didYouMean(root *cobra.Command, args []string) string {
	if _, _, err := root.Find(args); err == nil || len(args) == 0 {
		return ""
	}
	root.SuggestionsMinimumDistance = 2
	alike := root.SuggestionsFor(args[0])
	if len(alike) == 0 {
		return "; see fdridge help"
	}
	return "; did you mean " + strings.Join(alike, " or ") + "?"
}

// message puts an error on one line, and cuts it to a screen where it quotes much.
func message(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*batch.CheckpointError](err); ok {
		text = "--checkpoint: " + e.Err.Error()
	} else if e, ok := errors.AsType[*batch.InterruptedError](err); ok {
		text = fmt.Sprintf("interrupted; the same command goes on from checkpoint %s, %v", e.Checkpoint, e.At)
		if e.Unsaved != nil {
			text += fmt.Sprintf("; a later one could not be written: %v", e.Unsaved)
		}
	} else if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return printable.Text(excerpt.Message(strings.ReplaceAll(text, "\n", "; ")))
}

// noArguments refuses words that belong to no flag.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && cmd.Flags().Lookup("data") != nil:
		return badInput("unexpected argument %q; files of rows are named by --data", excerpt.Of(args[0]))
	case len(args) > 0:
		return badInput("unexpected argument %q", excerpt.Of(args[0]))
	}
	return nil
}

// badInput is the error of a wrong flag, file or number.
func badInput(format string, args ...any) error { return badinput.Errorf(format, args...) }

// nameData names the data in an error that is about them and doesn't name them. Shapes that
// ridge or fd find to disagree need not be those of the data.
func nameData(data string, err error) error {
	if data == "" {
		return err
	}
	err = nameRows(data, err)
	_, source := errors.AsType[*dataset.SourceError](err)
	_, large := errors.AsType[*fd.RangeError](err)
	scaled, ok := errors.AsType[*dataset.InputError](err)
	unnamed := ok && scaled.File == "standardisation"
	if source || large || unnamed || errors.Is(err, ridge.ErrEmpty) {
		return fmt.Errorf("%s: %w", dataName(data), err)
	}
	return err
}

// nameRows names the data in an error about rows that were read from them.
func nameRows(data string, err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || e.File != dataset.UnnamedRows {
		return err
	}
	named := *e
	named.File = dataName(data)
	return &named
}

// exitCode is that of a command that ended in an error.
func exitCode(err error) int {
	if errors.Is(err, engine.ErrInput) {
		return usage
	}
	return toldCode(err)
}

// toldCode is that of an error that another rank tells: of all such errors only a tolerance that
// was not reached is one that all ranks have.
func toldCode(err error) int {
	if e, ok := errors.AsType[*shortError](err); ok && e.kept {
		return short
	}
	return failed
}
