package refbig

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package that compares with references of hundreds of bits. They make
// much garbage, which takes a quarter of the time to collect: it lies for longer, unless GOGC says
// otherwise.
func Main(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
