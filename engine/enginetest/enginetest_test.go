package enginetest_test

import (
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
)

// TestBackends runs the suite on every backend of the build, in one process.
func TestBackends(t *testing.T) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range engine.Names() {
		be, err := engine.New(name, tuning)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { enginetest.Run(t, be) })
	}
}
