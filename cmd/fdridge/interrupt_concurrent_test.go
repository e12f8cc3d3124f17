//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/ridge"
)

// interruptible are command lines that take a while on a table; the outputs that they name
// are files of the folder they are run for.
func interruptible(dir, table string) map[string][]string {
	model, sketch := filepath.Join(dir, "model"), filepath.Join(dir, "sketch")
	in := []string{"--data", table, "--target", "last"}
	fit := func(args ...string) []string {
		return append(append([]string{"fit", "--out", model, "--standardize", "--size", "3"}, in...), args...)
	}
	return map[string][]string{
		"cg":       fit("--gamma", "1,10,100", "--method", "cg", "--save-sketch", sketch),
		"exact":    fit("--gamma", "1,10", "--method", "exact"),
		"one-shot": fit("--gamma", "1", "--method", "one-shot"),
		"cv":       fit("--gamma", "auto", "--cv", "3"),
		"Fourier":  fit("--gamma", "1", "--features", "rff:40,gamma=0.01"),
		"sketch":   append([]string{"sketch", "--out", sketch, "--size", "4"}, in...),
	}
}

const oldText = "what was there before"

// interruptedOrDone checks the outputs of a command that may have been interrupted. An interrupted command says that it
// was, keeps the old model, and leaves no other files. A command that ended before the interrupt has written its
// output.
func interruptedOrDone(t *testing.T, dir string, code int, errs string) (interrupted bool) {
	t.Helper()
	outputs := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		outputs[e.Name()] = string(text)
	}
	if len(outputs) != 2 {
		t.Errorf("there are %d files: %v", len(outputs), entries)
	}
	switch code {
	case done:
		if outputs["model"] == oldText && outputs["sketch"] == oldText {
			t.Error("done, and nothing written")
		}
		return false
	case failed:
		if outputs["model"] != oldText || !strings.Contains(errs, "fdridge: interrupted\n") {
			t.Errorf("interrupted, the model is %.40q: %s", outputs["model"], errs)
		}
		if text := outputs["sketch"]; text != oldText { // of a fit that was solving
			if _, err := ridge.ReadSummary(strings.NewReader(text), nil); err != nil {
				t.Errorf("interrupted, and the sketch is damaged: %v", err)
			}
		}
		return true
	}
	t.Errorf("exit %d: %s", code, errs)
	return false
}

// before puts old outputs into a folder of their own.
func before(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"model", "sketch"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(oldText), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestInterruptAnyTime cancels commands at random moments: none leaves a goroutine, an
// open file or half an output behind.
func TestInterruptAnyTime(t *testing.T) {
	houses := firstRows(t, packed, 10000)
	for name := range interruptible("", houses) {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			start := time.Now()
			must(t, interruptible(before(t), houses)[name]...)
			took, cut := time.Since(start), 0
			const runs = 4
			for range runs {
				dir := before(t)
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(rand.N(took), cancel)
				var out, errs bytes.Buffer
				code := run(ctx, interruptible(dir, houses)[name], &out, &errs)
				if interruptedOrDone(t, dir, code, errs.String()) {
					cut++
				}
				timer.Stop()
				cancel()
			}
			t.Logf("%d of %d were cut short", cut, runs)
		})
	}
}

// TestSignals sends SIGINT or SIGTERM to commands in processes of their own, at random
// moments.
func TestSignals(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	houses := firstRows(t, packed, 10000)
	var took time.Duration
	cut, clean := 0, map[syscall.Signal]bool{}
	i, most := 0, 60
	for ; i < 12 || len(clean) < 2 && i < most; i++ {
		dir := before(t)
		var errs bytes.Buffer
		c := exec.Command(exe, interruptible(dir, houses)["cg"]...)
		c.Env, c.Stderr = append(os.Environ(), "FDRIDGE_TEST_COMMAND=1"), &errs
		start := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		sent := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2]
		if i > 0 { // the first one is to tell how long it takes
			time.Sleep(rand.N(took))
			if err := c.Process.Signal(sent); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		var exit *exec.ExitError
		if err := c.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if i == 0 {
			took = time.Since(start)
		}
		code, text := c.ProcessState.ExitCode(), errs.String()
		if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == sent {
			// Before main listened, or after it had ended: the system said it.
			code, text = failed, "fdridge: interrupted\n"
			if model, err := os.ReadFile(filepath.Join(dir, "model")); err != nil || string(model) != oldText {
				code = done
			}
		} else if code == failed {
			clean[sent] = true
		}
		if interruptedOrDone(t, dir, code, text) {
			cut++
		}
	}
	if len(clean) < 2 {
		t.Errorf("of SIGINT and SIGTERM, the command heard only %v", clean)
	}
	t.Logf("%d of %d were cut short", cut, i-1)
}
