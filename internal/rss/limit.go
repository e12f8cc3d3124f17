package rss

import (
	"fmt"
	"os"
	"runtime/debug"
)

// A Limit is the largest amount of memory that the kernel allows a group of processes to use. Such a group can be a
// container or a Slurm job.
type Limit struct {
	Bytes int64  `json:"bytes"` // 0: there is no limit
	From  string `json:"from"`  // the file that states the limit
}

func (l Limit) String() string {
	return fmt.Sprintf("limit of %.2f GiB in %s", float64(l.Bytes)/(1<<30), l.From)
}

// KeepLimit makes the garbage collector run more often if the process uses nine tenths of its memory limit. It has
// no effect if there is no limit, or if the user has set GOMEMLIMIT.
func KeepLimit() {
	if l := Limited(); l.Bytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(l.Bytes / 10 * 9)
	}
}
