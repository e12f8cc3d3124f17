package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// limit is how long one command line may take.
const limit = 5 * time.Minute

// An outcome is what a sequence of command lines printed and wrote: by the number of
// the command line and the stream, or by the name of the file.
type outcome map[string][]byte

// environment fixes what results and texts depend on beside the command line: threads,
// the folder of the paper's data, and how mpirun takes more ranks than cores.
var environment = []string{
	"GOMAXPROCS=1", "FDRIDGE_THREADS=1", "FDRIDGE_DATA=", "LC_ALL=C",
	"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1",
}

// play runs the command lines of an entry by a binary in dir, a new folder with a link
// in to the data.
func play(ctx context.Context, e *entry, binary, data, dir string) (outcome, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(data, filepath.Join(dir, "in")); err != nil {
		return nil, err
	}
	out, begun := make(outcome), time.Now()
	for i, c := range e.commands {
		if err := c.play(ctx, binary, dir, fmt.Sprintf("line %d", i+1), out); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := out.collect(dir); err != nil {
		return nil, err
	}
	for _, c := range e.commands {
		for _, name := range c.timed {
			if _, ok := out[name]; !ok {
				return nil, fmt.Errorf("%s, which should have times in it, was not written", name)
			}
			out[name] = maskTimes(out[name], begun, time.Now())
		}
	}
	return out, nil
}

// play runs one command line and notes what it printed.
func (c *command) play(ctx context.Context, binary, dir, name string, out outcome) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words := append([]string{binary}, knownTo(ctx, binary, c.args)...)
	if c.ranks > 0 {
		words = append([]string{"mpirun", "-n", strconv.Itoa(c.ranks)}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.stdin != "" {
		rows, err := os.Open(filepath.Join(dir, c.stdin))
		if err != nil {
			return err
		}
		defer rows.Close() // only read
		cmd.Stdin = rows
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.until != "" {
		return interrupted(cmd, filepath.Join(dir, c.until))
	}
	if err := cmd.Wait(); err != nil && !failed(err) {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out[name+", exit code"] = fmt.Appendln(nil, cmd.ProcessState.ExitCode())
	out[name+", stderr"] = place(stderr.Bytes(), dir)
	if c.stdout != "" {
		return os.WriteFile(filepath.Join(dir, c.stdout), stdout.Bytes(), 0o600)
	}
	out[name+", stdout"] = place(stdout.Bytes(), dir)
	return nil
}

// failed reports whether an error is no more than an exit code.
func failed(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// interrupted waits for a file, interrupts the command, and waits for its end. A
// command that was done before has not been tried, which is an error.
func interrupted(cmd *exec.Cmd, name string) error {
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	for {
		select {
		case err := <-end:
			return fmt.Errorf("it ended before it could be interrupted: %v", err)
		case <-time.After(time.Millisecond):
		}
		if _, err := os.Stat(name); err != nil {
			continue
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		if err := <-end; !failed(err) || cmd.ProcessState.ExitCode() != 1 {
			return fmt.Errorf("interrupted, it ended with %v", cmd.ProcessState)
		}
		return nil
	}
}

// place replaces the folder that a command ran in, which text might name.
func place(text []byte, dir string) []byte {
	return bytes.ReplaceAll(text, []byte(dir), []byte("DIR"))
}

// collect adds the files in dir, and the folders, by name.
func (o outcome) collect(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			o[name+"/"] = nil
			return nil
		}
		b, err := os.ReadFile(path)
		o[name] = place(b, dir)
		return err
	})
}

// asExpected holds the exit codes to those that the corpus says: an entry that fails
// for a reason of its own compares nothing.
func (e *entry) asExpected(o outcome) error {
	for i, c := range e.commands {
		name := fmt.Sprintf("line %d, exit code", i+1)
		got, ok := o[name]
		if want := strconv.Itoa(c.exit); ok && strings.TrimSpace(string(got)) != want {
			return fmt.Errorf("%s is %s, not %s: %.300s", name, bytes.TrimSpace(got), want, o[fmt.Sprintf("line %d, stderr", i+1)])
		}
	}
	return nil
}

// names are what an outcome has, sorted.
func (o outcome) names() []string {
	var names []string
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
