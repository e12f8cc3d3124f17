package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// nameOptions replaces the names of fields of fdridge.Options in an error by the names of flags.
func nameOptions(err error) error {
	e, ok := errors.AsType[*fdridge.OptionError](err)
	if !ok {
		return err
	}
	var flags []string
	for _, field := range e.Fields {
		if flag := optionFlags[field]; flag != "" && !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	return cli.BadInput("%s: %s", strings.Join(flags, ", "), e.Rule)
}
