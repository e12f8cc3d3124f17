package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages, one for each command, from what --help says.
func manCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "man --out DIR",
		Short: "Write the manual pages into a folder",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return badInput("--out: there is no folder %q", dir)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // no date, so that they are reproducible
			return doc.GenManTree(root, &doc.GenManHeader{Title: "FDRIDGE", Section: "1", Source: "fdridge"}, dir)
		},
	}
	c.Flags().StringVar(&dir, "out", "", "the folder")
	return c
}
