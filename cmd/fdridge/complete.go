package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// completeFlags makes the shell complete the values of flags, for all subcommands of root. The shell completes a
// value from a list of values, or as the name of a file or folder.
func completeFlags(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Args(c, nil) == nil { // a command without arguments
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			place, _ := listFlag(c.Name(), f.Name)
			directive := cobra.ShellCompDirectiveNoFileComp
			switch {
			case strings.HasPrefix(place.value, "FILE"), f.Name == "target", f.Name == "weights":
				directive = cobra.ShellCompDirectiveDefault
			case place.value == "DIR":
				directive = cobra.ShellCompDirectiveFilterDirs
			}
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(f.Annotations[cli.ValuesKey], directive)) // f exists
		})
	}
}
