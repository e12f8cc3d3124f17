package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// nameOptions makes an error about [fdridge.Options] readable for users: it replaces names of fields by names of
// flags.
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
