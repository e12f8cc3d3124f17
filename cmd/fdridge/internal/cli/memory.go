package cli

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/rss"
)

// CheckMemory returns an error if a task that takes bytes of memory exceeds the available memory. The parameters
// format and args give the beginning of the message, and hint gives its end.
func CheckMemory(bytes float64, hint, format string, args ...any) error {
	there := float64(rss.Available())
	if there == 0 || bytes <= there {
		return nil
	}
	return BadInput(
		"%s takes about %.1f GiB, %.1f GiB are available%s; %s",
		fmt.Sprintf(format, args...),
		bytes/(1<<30),
		there/(1<<30),
		MemoryLimit(),
		hint,
	)
}

// MemoryLimit returns a text in parentheses that states the memory limit of the process. It returns "" if the
// process has no limit.
func MemoryLimit() string {
	if l := rss.Limited(); l.Bytes > 0 {
		return " (" + l.String() + ")"
	}
	return ""
}

const ManyFeatures = "are there so many features?"
