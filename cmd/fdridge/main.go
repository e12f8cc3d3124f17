// Command fdridge fits ridge regression to files of any length, with a proved error bound, and predicts with the
// fitted models. The README and the command fdridge help describe its use.
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
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/internal/rss"
)

func main() {
	rss.KeepLimit()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // a second signal ends the program at once
		time.Sleep(sameSignal)
		stop()
	})
	ctx, end := context.WithCancel(ctx)
	if err := watchParent(ctx, func() {
		end()
		time.Sleep(sameSignal) // time to remove unfinished files
		os.Exit(failed)
	}); err != nil {
		fmt.Fprintln(os.Stderr, "fdridge: "+message(err))
		os.Exit(usage)
	}
	if socket := os.Getenv(serveVariable); socket != "" {
		if err := serve(ctx, socket, run); err != nil {
			fmt.Fprintln(os.Stderr, "fdridge: "+message(err))
			os.Exit(exitCode(err))
		}
		os.Exit(done)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr)) // signals stay caught, so a finished command keeps its exit code
}

// sameSignal is how long further signals are ignored after a first signal. Some programs, such as GNU timeout,
// signal first the process and then its process group. The second signal must not stop the process while it writes
// its state.
const sameSignal = time.Second

// run executes one command line and returns its exit code. An error is printed on stderr as one line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(ctx, args, byMPI, os.Stdin, stdout, stderr)
}

// newRoot returns the command fdridge with all its subcommands. For fit --mpi, mpi connects this process to the
// other processes.
func newRoot(mpi joiner) *cobra.Command {
	root := &cobra.Command{
		Use:           "fdridge",
		Short:         "Ridge regression in one pass and O(md) memory, with a proved error bound",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		fitCommand(mpi),
		sketchCommand(),
		mergeCommand(),
		solveCommand(),
		planCommand(),
		predictCommand(),
		diagnoseCommand(),
		showCommand(),
		plotCommand(),
		paperCommand(),
		doctorCommand(mpi),
		manCommand(),
	)
	root.SetVersionTemplate("fdridge version " + newBuild().String() + "\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		unknown, ok := errors.AsType[*pflag.NotExistError](err)
		if ok && unknown.GetSpecifiedName() == "alpha" {
			return fmt.Errorf("%w; use --gamma for the alpha of scikit-learn", err)
		}
		return err
	})
	root.DisableSuggestions = true // suggestCommands adds suggestions to the error line
	root.SetUsageFunc(writeUsage)
	addExamples(root)
	return root
}

// execute executes one command line and returns its exit code, like run. Tests can pass a replacement of the MPI
// library as mpi, and of the standard input as stdin.
func execute(
	ctx context.Context,
	args []string,
	mpi joiner,
	stdin io.Reader,
	stdout, stderr io.Writer,
) int {
	root := newRoot(mpi)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeFlags(root)
	}
	root.SetArgs(input.JoinStandardize(args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	begun := false
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		begun = true
		return cli.CheckSingle(c.Flags())
	}
	err := root.ExecuteContext(ctx)
	if err == nil {
		return done
	}
	if _, remote := errors.AsType[remoteError](err); remote {
		return errorCode(err)
	}
	fmt.Fprintln(stderr, "fdridge: "+message(err)+suggestCommands(root, args))
	_, unwritten := errors.AsType[*fs.PathError](err)
	if !begun && !unwritten { // the command line has an unknown command or flag
		return usage
	}
	return exitCode(err)
}

// suggestCommands returns a hint for an unknown command: similar commands or, if there are none, fdridge help. For
// a known command it returns "".
func suggestCommands(root *cobra.Command, args []string) string {
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
