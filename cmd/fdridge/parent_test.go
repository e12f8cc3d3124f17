//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestParent: a command that waits for rows ends when its parent is killed, although the pipe stays open, and leaves
// no file. Without the variable it goes on.
func TestParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, watched := range []bool{true, false} {
		dir := t.TempDir()
		fifo := filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		variable := ""
		if watched {
			variable = "FDRIDGE_PARENT=$$"
		}
		script := fmt.Sprintf(
			"FDRIDGE_TEST_COMMAND=1 %s %s sketch --data %s --target last --out %s/out & echo $!; sleep 60",
			variable,
			exe,
			fifo,
			dir,
		)
		shell := exec.Command("sh", "-c", script)
		shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the sleep ends with its group, below
		out, err := shell.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := shell.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
			t.Fatal(err)
		}
		rows, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits until the command has opened it
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rows.WriteString("1,2\n"); err != nil {
			t.Fatal(err)
		}
		if err := shell.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = shell.Wait() // it was killed
		ended := false
		patience := map[bool]time.Duration{true: time.Minute, false: time.Second}[watched]
		for deadline := time.Now().Add(patience); !ended && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			ended = syscall.Kill(pid, 0) != nil || defunct(pid)
		}
		if ended != watched {
			t.Errorf("watched %v: ended %v", watched, ended)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		if left, err := filepath.Glob(filepath.Join(dir, "*")); watched && (err != nil || len(left) != 1) {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// defunct reports whether a process has ended and nobody has waited for it.
func defunct(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// TestParentVariable: a text that is no process id is an error.
func TestParentVariable(t *testing.T) {
	t.Setenv(parentVariable, "me")
	if err := watchParent(t.Context(), func() {}); exitCode(err) != usage {
		t.Error(err)
	}
}
