package input

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// copyFromParent copies bytes at an address of the calling program. It returns the number of bytes, 0 if the system
// forbids it or if the parent process is another one.
func copyFromParent(p []byte, at int64) int {
	pid := os.Getppid()
	if len(p) == 0 || os.Getenv("FDRIDGE_PARENT") != strconv.Itoa(pid) {
		return 0
	}
	local := []unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(p)}}, 0)
	if err != nil {
		return 0
	}
	return n
}
