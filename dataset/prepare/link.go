package prepare

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"

	"github.com/fdridge/fdridge/dataset"
)

// A Link connects processes that each read a share of the rows. dist.Transport is a Link. Broadcast sends b from
// the process numbered root to all processes, and returns these bytes on each process.
type Link interface {
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
}

// Exchange sends the value own to all processes, and calls use with the value of each process, in the order of the
// processes. encoding/gob must be able to write own. Every process must call Exchange. It returns the first error
// of use, of link or of encoding/gob.
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

// UnnamedRows is the file name in errors about rows if the name of their file is not known.
const UnnamedRows = "rows"

// NameRows returns err, an error about a row, with name as its file name. If err already names a file, or is not
// about a row, NameRows returns it unchanged.
func NameRows(name string, err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || e.File != UnnamedRows {
		return err
	}
	named := *e
	named.File = name
	return &named
}
