package rss

import (
	"bytes"
	"os"
	"strconv"
)

// Available is how many bytes could be allocated without swapping (MemAvailable of
// the kernel), 0 where it cannot be known.
func Available() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("MemAvailable:")); ok {
			fields := bytes.Fields(rest)
			if len(fields) == 2 && string(fields[1]) == "kB" {
				if kib, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
					return kib << 10
				}
			}
		}
	}
	return 0
}
