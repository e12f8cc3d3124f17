//go:build !unix || solaris || aix

package safefile

import (
	"errors"
	"os"
)

// acquire returns an error, because locking needs flock.
func acquire(name string) (*os.File, error) {
	return nil, errors.New("checkpoints need flock, which this system does not have")
}

// Locked returns nil, because this system does not support locks.
func Locked(string) error { return nil }
