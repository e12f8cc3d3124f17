package prepare

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"

	"github.com/fdridge/fdridge/dataset"
)

// A Link connects processes that read shares of the rows, like a dist.Transport. Broadcast sends b from the process
// numbered root to all processes, and returns b on each process.
type Link interface {
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
}

// Exchange sends own to the other processes, and calls use with the value of each of the processes, in their order. own
// must be a value that encoding/gob can write. Every process must call Exchange. It returns the first error of use or
// link.
func Exchange[T any](
	ctx context.Context,
	processes int,
	link Link,
	own T,
	use func(process int, value T) error,
) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(own); err != nil {
		return err
	}
	for root := range processes {
		b, err := link.Broadcast(ctx, root, text.Bytes())
		if err != nil {
			return err
		}
		var value T
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&value); err != nil {
			return err
		}
		if err := use(root, value); err != nil {
			return err
		}
	}
	return nil
}

// UnnamedRows is the file name in errors about rows whose file is not known.
const UnnamedRows = "rows"

// NameRows inserts the name of the rows into an error about a row, unless the error already names a file.
func NameRows(name string, err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || e.File != UnnamedRows {
		return err
	}
	named := *e
	named.File = name
	return &named
}
