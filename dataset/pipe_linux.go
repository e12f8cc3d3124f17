package dataset

import (
	"os"
	"syscall"
)

// widen has a pipe of the system hold more, as far as it lets us: whoever writes and whoever reads
// then wait for each other less often. What is no pipe stays as it is.
func widen(f *os.File) {
	const setPipeSize, size = 1031, 1 << 20 // F_SETPIPE_SZ, and what the system allows everybody
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, size) })
}
