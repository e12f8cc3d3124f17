package main

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// parentVariable names an environment variable that holds the process id of the parent process. If the variable is
// set, the program stops when the parent process ends.
const parentVariable = "FDRIDGE_PARENT"

// watchParent calls end when the parent process has ended. Without it, the program would go on. A parent that is
// killed sends no signal. A closed output pipe is noticed only when the program writes to it.
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
