package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Exit codes.
const (
	done   = 0
	failed = 1 // computation failed, diverged or was interrupted; with --strict also a missed tolerance
	usage  = 2 // bad usage or bad input
	// short means that the best result was written, but the fit missed its tolerance, or the score of the chosen
	// penalty has no useful bound.
	short = 3
)

// exitCodes is the table of exit codes in the help of fit and solve.
const exitCodes = `

Exit codes:
  0  done; if the method has a tolerance (all but one-shot), the error bound is within --tol
  1  failed: the computation failed, diverged or was interrupted, or --strict and --tol not reached
  2  bad usage or bad input
  3  --tol was not reached, or nothing useful was proved of the fit or of the choice of gamma:
     the best result was written with its bounds`

// message returns the text of an error as one line, without names of Go packages. A very long text is cut.
func message(err error) string {
	text := errtext.Error(err)
	if e, ok := errors.AsType[*batch.CheckpointError](err); ok {
		text = "--checkpoint: " + errtext.Error(e.Err)
	} else if e, ok := errors.AsType[*batch.InterruptedError](err); ok {
		text = fmt.Sprintf("interrupted; the same command resumes from checkpoint %s, %v", e.Checkpoint, e.At)
		if e.Unsaved != nil {
			text += fmt.Sprintf("; a later checkpoint could not be written: %s", errtext.Error(e.Unsaved))
		}
	} else if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return errtext.Text(errtext.Message(strings.ReplaceAll(text, "\n", "; ")))
}

// noArguments returns an error if args, the words of the command line that do not belong to flags, is not empty.
func noArguments(cmd *cobra.Command, args []string) error {
	hasData := cmd.Flags().Lookup("data") != nil
	switch {
	case len(args) > 0 && hasData && isFile(args[0]): // a shell expands part-*.csv to several words
		return cli.BadInput(
			"unexpected argument %q; use --data for files of rows; several files are one list (A,B), or a folder of parts",
			errtext.Excerpt(args[0]),
		)
	case len(args) > 0 && hasData:
		return cli.BadInput("unexpected argument %q; use --data for files of rows", errtext.Excerpt(args[0]))
	case len(args) > 0:
		return cli.BadInput("unexpected argument %q", errtext.Excerpt(args[0]))
	}
	return nil
}

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	if errors.Is(err, engine.ErrInput) {
		return usage
	}
	return errorCode(err)
}

// errorCode returns the exit code for an error that the input did not cause. It is 3 for a *shortError if the
// result was written, otherwise 1.
func errorCode(err error) int {
	if e, ok := errors.AsType[*shortError](err); ok && e.isWritten {
		return short
	}
	return failed
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
