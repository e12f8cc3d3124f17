package dataset

import (
	"os"
	"syscall"
)

// widen enlarges the buffer of a system pipe, so that writer and reader wait for each other less
// often. Other files are left unchanged.
func widen(f *os.File) {
	const setPipeSize, size = 1031, 1 << 20 // F_SETPIPE_SZ, and the size that Linux allows every user
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, size) })
}
