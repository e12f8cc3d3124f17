package arrow_test

import (
	"context"
	"testing"
)

var ctx = context.Background()

// must returns a value that is there without an error.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
