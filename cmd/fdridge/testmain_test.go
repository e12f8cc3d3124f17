package main

import (
	"fmt"
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
	code := t.M.Run()
	for _, message := range prefixed.messages {
		fmt.Fprintln(os.Stderr, "a message has the name of a Go package:", message)
		code = max(code, 1)
	}
	return code
}
