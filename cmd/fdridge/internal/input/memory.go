package input

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// memoryVariable names an environment variable. By this variable the calling program passes an array that lies in
// its memory, without writing the array to a file. The .npy file of --data then contains only the header. The value
// of the variable is D:A:B, where
//   - D is the number of an inherited file descriptor of /proc/self/mem, opened by the calling program;
//   - A is the address of the array in the calling program;
//   - B is the size of the array in bytes.
const memoryVariable = "FDRIDGE_MEMORY"

// lentArray returns a reader of the array that the environment variable [memoryVariable] describes. It returns nil
// if the variable is not set. The file descriptor of the array stays open.
func lentArray() (*io.SectionReader, error) {
	text := os.Getenv(memoryVariable)
	if text == "" {
		return nil, nil
	}
	var descriptor uintptr
	var at, size int64
	n, err := fmt.Sscanf(text, "%d:%d:%d", &descriptor, &at, &size)
	if n < 3 || err != nil || at < 0 || size < 0 {
		return nil, cli.BadInput(
			"%s: %q is not a descriptor, an address and a number of bytes, such as 7:140000:800",
			memoryVariable,
			text,
		)
	}
	memories.Lock()
	defer memories.Unlock()
	if memories.of[descriptor] == nil {
		memories.of[descriptor] = &lentMemory{os.NewFile(descriptor, "memory of the calling program")}
	}
	return io.NewSectionReader(memories.of[descriptor], at, size), nil
}

// memories keeps each lentMemory by its file descriptor. Without this reference, the garbage collector would close
// the file. A process that serves several fits reads several arrays through one descriptor.
var memories = struct {
	sync.Mutex
	of map[uintptr]*lentMemory
}{of: map[uintptr]*lentMemory{}}

// A lentMemory reads the memory of the program that called fdridge.
type lentMemory struct{ *os.File }

// ReadAt implements [io.ReaderAt]. It asks the system to copy the bytes from the parent process, which takes a
// third of the time of reading the file. If the system cannot copy them, ReadAt reads the file.
func (l *lentMemory) ReadAt(p []byte, at int64) (int, error) {
	if n := copyFromParent(p, at); n == len(p) {
		return n, nil
	}
	return l.File.ReadAt(p, at)
}
