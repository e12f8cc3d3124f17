package main

import (
	"errors"
	"fmt"

	"github.com/fdridge/fdridge/batch"
	"github.com/spf13/pflag"
)

// retired maps flags and values that were removed, and names that other programs use, to the
// replacement.
var retired = map[string]string{
	"--alpha":            "what scikit-learn calls alpha is --gamma",
	"--cache-features":   "it was removed, use --cache",
	"--method chebyshev": "was removed, use --method cg",
	"--robust":           "it was removed, every sketch is used with the shift of Robust Frequent Directions",
	"--shrink":           "it was removed, sketches shrink by eigenpairs (gram)",
	"--targets":          "it was removed, --target names them all",
}

// nameReplacement adds the replacement to the error of a flag that was removed.
func nameReplacement(err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if hint := retired["--"+unknown.GetSpecifiedName()]; hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// isRetired reports whether a setting of an older checkpoint is a removed flag with the value that
// every run has now.
func isRetired(s batch.Setting) bool {
	switch s.Name {
	case "--robust":
		return s.Value == "true"
	case "--shrink":
		return s.Value == "gram"
	case "--targets": // which follows from --target and the files
		return true
	}
	return false
}
