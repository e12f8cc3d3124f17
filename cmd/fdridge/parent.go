package main

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// parentVariable names an environment variable that holds the process id of the parent. If it is set, the command
// stops when the parent process ends.
const parentVariable = "FDRIDGE_PARENT"

// watchParent calls end when the parent process has ended. A child process does not notice otherwise: a killed parent
// sends no signal, and a closed output pipe is noticed only when the child writes to it.
func watchParent(ctx context.Context, end func()) error {
	text := os.Getenv(parentVariable)
	if text == "" {
		return nil
	}
	pid, err := strconv.Atoi(text)
	if err != nil {
		return cli.BadInput("%s: %q is not a process id", parentVariable, text)
	}
	go func() {
		if runtime.GOOS == "windows" { // ids of parent processes do not change on Windows
			if p, err := os.FindProcess(pid); err == nil {
				_, _ = p.Wait() // an error means that there is no process to wait for
			}
			end()
			return
		}
		for os.Getppid() == pid {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
		end()
	}()
	return nil
}
