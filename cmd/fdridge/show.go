package main

import (
	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
)

// showCommand returns the command show. This command prints a saved model.
func showCommand() *cobra.Command {
	var (
		gamma  cli.Single
		top    int
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "show MODEL",
		Short: "Print a saved model: coefficients, certificate and preparation",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.BadInput("show needs one model, %d are named", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if top < 0 {
				return cli.BadInput("--top: %d, must be at least 0", top)
			}
			m, err := readModel("", args[0])
			if err != nil {
				return err
			}
			if gamma.Given {
				m, err = chooseFit(m, gamma)
				if err != nil {
					return err
				}
			}
			s := &report.Saved{Name: args[0], Model: m, Top: top}
			if asJSON {
				return s.WriteJSON(cmd.OutOrStdout())
			}
			return s.WriteText(cmd.OutOrStdout())
		},
	}
	f := c.Flags()
	f.Var(&gamma, "gamma", "show only the fit at gamma G")
	f.IntVar(&top, "top", 20, "show only the N largest coefficients of each fit; 0: all")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return c
}
