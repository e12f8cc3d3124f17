package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// completeFlags enables shell completion of flag values for all subcommands of root. A value is completed from a
// list, or as the name of a file or folder.
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
