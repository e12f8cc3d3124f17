//go:build !linux

package dataset

import "os"

// enlargePipe does nothing: only Linux can enlarge a pipe.
func enlargePipe(*os.File) {}
