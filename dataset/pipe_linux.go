package dataset

import (
	"os"
	"syscall"
)

// enlargePipe enlarges the buffer of a system pipe, so that reader and writer wait less for each other.
func enlargePipe(f *os.File) {
	const setPipeSize, size = 1031, 1 << 20 // F_SETPIPE_SZ, and the size that Linux allows every user
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, size)
	})
}
