package enginetest_test

import (
	"testing"

	"github.com/fdridge/fdridge/engine/enginetest"
)

// TestBackends runs the suite on every backend of the build, in one process.
func TestBackends(t *testing.T) { enginetest.Each(t, enginetest.Run) }
