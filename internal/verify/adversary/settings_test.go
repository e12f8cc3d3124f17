package adversary

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/engine/purego"
)

// inner is set where a search runs under the settings of another one.
const inner = "FDRIDGE_TEST_ADVERSARY_INNER"

// settings are the ends of all that [engine.Tuning.Override] reads, several at a time that have nothing to do with each
// other.
func settings() [][]string {
	out := [][]string{
		{"FDRIDGE_SHRINK_ROWS=1", "FDRIDGE_GRADIENT_ROWS=16777216", "FDRIDGE_MC=1", "FDRIDGE_KC=1", "FDRIDGE_NC=1"},
		{
			"FDRIDGE_SHRINK_ROWS=5000",
			"FDRIDGE_GRADIENT_ROWS=1",
			"FDRIDGE_MC=1048576",
			"FDRIDGE_KC=1048576",
			"FDRIDGE_NC=16777216",
		},
		{"FDRIDGE_THREADS=1", "GOMAXPROCS=1"},
		{"FDRIDGE_THREADS=64", "GOMAXPROCS=7", "FDRIDGE_GRADIENT_ROWS=3", "FDRIDGE_SHRINK_ROWS=2"},
	}
	for i, name := range purego.KernelNames()[1:] { // TestSearch has the first
		out[i%len(out)] = append(out[i%len(out)], "FDRIDGE_KERNEL="+name)
	}
	return out
}

// TestSettings searches with a few problems, small and large, under each of the
// settings; with those that the environment asks for, where it does.
func TestSettings(t *testing.T) {
	if os.Getenv(inner) != "" {
		t.Skip("this is one of them")
	}
	if testing.Short() {
		t.Skip("some dozens of seconds")
	}
	for _, set := range settings() {
		t.Run(strings.Join(set, ","), func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^(TestSearch|TestLarge)$", "-test.v", "-test.timeout=0")
			c.Env = append(append(os.Environ(), set...), inner+"=1")
			out, err := c.CombinedOutput()
			for line := range strings.Lines(string(out)) {
				if err != nil || strings.Contains(line, "problems") {
					t.Log(strings.TrimSuffix(line, "\n"))
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}
