// Command fdridge fits ridge regression to files of any length in one pass, with
// a certified error, and predicts from the result. See the README, or
// fdridge help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/ridge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends the program where it stands
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	done   = 0
	failed = 1 // the computation failed, did not converge or was interrupted
	usage  = 2 // bad usage or bad input
)

// run executes one command line and returns its exit code; an error is one line
// on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(ctx, args, byMPI, stdout, stderr)
}

// execute is run with the ranks that a joiner joins.
func execute(ctx context.Context, args []string, ranks joiner, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "fdridge",
		Short:         "Ridge regression in one pass and O(md) memory, with a certified error",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(fitCommand(ranks), sketchCommand(), mergeCommand(), solveCommand(), planCommand(), predictCommand(), plotCommand(), paperCommand(), doctorCommand(ranks), manCommand())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &inputError{err} })
	err := root.ExecuteContext(ctx)
	if err == nil {
		return done
	}
	if _, told := errors.AsType[toldError](err); told {
		return failed
	}
	fmt.Fprintln(stderr, "fdridge: "+message(err))
	return exitCode(err)
}

// message is what an error says, on one line, which is no longer than a screen whatever
// it quotes.
func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return printable(excerpt.Message(strings.ReplaceAll(err.Error(), "\n", "; ")))
}

// An interruptedError says how to go on from where a run was interrupted.
type interruptedError struct{ msg string }

func (e *interruptedError) Error() string { return e.msg }

// version is that of the module, or the commit, that the program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// printable keeps what a file put into a message, the name of a column say, from
// being a command to the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// An inputError is the user's: a wrong flag, file or number.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

func badInput(format string, args ...any) error { return &inputError{fmt.Errorf(format, args...)} }

// about names the data in an error of theirs that doesn't. Shapes that ridge or fd find to
// disagree need not be theirs.
func about(data string, err error) error {
	var tooLarge *fd.RangeError
	shape := errors.Is(err, dataset.ErrShape) && strings.Contains(err.Error(), "dataset: "+dataset.ErrShape.Error())
	if shape || errors.Is(err, ridge.ErrEmpty) || errors.As(err, &tooLarge) {
		return fmt.Errorf("%s: %w", data, err)
	}
	return err
}

func exitCode(err error) int {
	var (
		input    *inputError
		file     *dataset.InputError
		changed  *dataset.ChangedError
		gamma    *ridge.GammaError
		size     *ridge.SizeError
		singular *ridge.SingularError
		finite   *fd.NonFiniteError
		tooLarge *fd.RangeError
	)
	switch {
	case errors.As(err, &input), errors.As(err, &file), errors.As(err, &changed), errors.As(err, &gamma), errors.As(err, &size),
		errors.As(err, &singular), errors.As(err, &finite), errors.As(err, &tooLarge),
		errors.Is(err, engine.ErrShape), errors.Is(err, ridge.ErrEmpty), errors.Is(err, fd.ErrSize),
		strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "required flag"):
		return usage
	}
	return failed
}
