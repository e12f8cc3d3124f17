package ridge_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie for longer: references of hundreds of bits make much of it, which
// takes a quarter of the time to collect.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
