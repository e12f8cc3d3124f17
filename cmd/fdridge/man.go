package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// manCommand returns the command man. This command writes a manual page for each command of fdridge.
func manCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "man --out DIR",
		Short: "Write the manual pages into a folder",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return cli.BadInput("--out: no such folder %q", dir)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // pages without a date are reproducible
			return doc.GenManTree(
				root,
				&doc.GenManHeader{Title: "FDRIDGE", Section: "1", Source: "fdridge"},
				dir,
			)
		},
	}
	c.Flags().StringVar(&dir, "out", "", "write the pages into this folder")
	return c
}
