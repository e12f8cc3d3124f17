package rawfile

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/fdridge/fdridge/dataset"
)

// A status is memory into which the system writes the status of a file. It is reused for each file, because
// os.File.Stat would allocate new memory at each call.
type status struct{ syscall.Stat_t }

func (s *status) of(f *os.File) (dataset.Stamp, error) {
	for {
		err := syscall.Fstat(int(f.Fd()), &s.Stat_t)
		switch {
		case err == nil:
			return dataset.Stamp{Size: s.Size, ModTime: time.Unix(s.Mtim.Unix())}, nil
		case !errors.Is(err, syscall.EINTR):
			return dataset.Stamp{}, os.NewSyscallError("fstat", err)
		}
	}
}
