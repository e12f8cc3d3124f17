package input

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// copyFromParent fills p with the bytes at the address at of the calling program, and returns the number of copied
// bytes. It returns 0 if the system forbids the copy, or if the parent process is not the calling program.
func copyFromParent(p []byte, at int64) int {
	pid := os.Getppid()
	if len(p) == 0 || os.Getenv("FDRIDGE_PARENT") != strconv.Itoa(pid) {
		return 0
	}
	local := []unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	n, err := unix.ProcessVMReadv(
		pid,
		local,
		[]unix.RemoteIovec{{Base: uintptr(at), Len: len(p)}},
		0,
	)
	if err != nil {
		return 0
	}
	return n
}
