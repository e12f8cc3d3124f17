package shrinks

import (
	"os"
	"sort"
	"strconv"
	"testing"
)

// thorough is the number of problems: FDRIDGE_THOROUGH, if that is a number above 1, else 100,000.
func thorough() int {
	if n, err := strconv.Atoi(os.Getenv("FDRIDGE_THOROUGH")); err == nil && n > 1 {
		return n
	}
	return 100_000
}

func first() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("FDRIDGE_SEED"), 10, 64)
	return n
}

// TestSmall checks random sketches of up to 40 columns.
func TestSmall(t *testing.T) {
	n := 100
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		n = thorough()
	}
	out := NewReport()
	for seed := range uint64(n) {
		Run(first()+seed, out)
	}
	tell(t, out)
}

func tell(t *testing.T, out *Report) {
	t.Helper()
	t.Logf("%d problems, %d bounds, %d refused, %d lost", out.Problems, out.Bounds, out.Refused, out.Lost)
	var names []string
	for name := range out.Worst {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Logf("%-32s %.4f (%s)", name, out.Worst[name], out.At[name])
	}
	for _, f := range out.False {
		t.Error(f)
	}
}
