package refbig

import (
	"flag"
	"os"
	"runtime/debug"
)

// Main runs the tests of a package that allocates much memory, for example for reference results with hundreds of
// bits. It makes the garbage collector run less often, unless GOGC is set, because collection would take a quarter
// of the time. Property tests draw 40 cases, or 100 if FDRIDGE_THOROUGH is set. The flag -rapid.checks overrides
// these numbers.
func Main(m interface{ Run() int }) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if checks := flag.Lookup("rapid.checks"); checks != nil && os.Getenv("FDRIDGE_THOROUGH") == "" {
		if err := checks.Value.Set("40"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
