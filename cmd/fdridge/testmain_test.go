package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

func TestMain(m *testing.M) { refbig.Main(tests{m}) }

// tests are the tests of the package, which share an unpacked file.
type tests struct{ *testing.M }

func (t tests) Run() int {
	defer os.RemoveAll(filepath.Dir(housing))
	return t.M.Run()
}
