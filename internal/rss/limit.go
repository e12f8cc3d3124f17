package rss

import (
	"fmt"
	"os"
	"runtime/debug"
)

// A Limit is the largest amount of memory that the kernel allows a group of processes to use, for example a container
// or a Slurm job.
type Limit struct {
	Bytes int64  `json:"bytes"` // 0: there is no limit
	From  string `json:"from"`  // the file that states the limit
}

func (l Limit) String() string {
	return fmt.Sprintf("limit of %.2f GiB in %s", float64(l.Bytes)/(1<<30), l.From)
}

// KeepLimit makes the garbage collector run more often when the process uses nine tenths of its
// limit. It does nothing if there is no limit or the user has set GOMEMLIMIT.
func KeepLimit() {
	if l := Limited(); l.Bytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(l.Bytes / 10 * 9)
	}
}
