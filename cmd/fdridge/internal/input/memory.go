package input

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// memoryVariable names an environment variable by which the calling program passes an array without writing it to a
// file. The .npy file of --data then contains only the header. The value D:A:B has three numbers:
//   - D is an inherited file descriptor of /proc/self/mem, opened by the calling program.
//   - A is the address of the array in the calling program.
//   - B is the number of bytes.
const memoryVariable = "FDRIDGE_MEMORY"

// lentArray returns a reader of the array that [memoryVariable] describes, or nil if the variable is not set. Its
// file descriptor stays open.
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

// memories keeps each lentMemory by its descriptor, because the garbage collector would close its file. A process that
// serves several fits reads several arrays through one descriptor.
var memories = struct {
	sync.Mutex
	of map[uintptr]*lentMemory
}{of: map[uintptr]*lentMemory{}}

// A lentMemory reads the memory of the program that started fdridge.
type lentMemory struct{ *os.File }

// ReadAt implements [io.ReaderAt]. It reads the file if the system cannot copy from the parent process. Copying takes a
// third of the time of reading the file.
func (l *lentMemory) ReadAt(p []byte, at int64) (int, error) {
	if n := copyFromParent(p, at); n == len(p) {
		return n, nil
	}
	return l.File.ReadAt(p, at)
}
