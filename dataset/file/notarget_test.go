package file_test

import (
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
)

// TestNoTarget: the error of a missing target says what a target can be, and names no flag of the command.
func TestNoTarget(t *testing.T) {
	data, own := named(t, "x.csv", "1,2\n3,4\n"), named(t, "y.csv", "7\n8\n")
	for want, o := range map[string]file.Options{
		"the target must be the name of a column": {Targets: 1},
		"give its name as the target":             {Target: []string{own}, Targets: 1, OnlyNamed: true},
	} {
		_, err := open(data, o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "--") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
