package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
)

func doctorCommand(mpi joiner) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show the machine, the backend, the MPI library, the tuning and where it comes from, and measure",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := engine.NewReport()
			if err != nil {
				return badInput("%w", err)
			}
			be, err := engine.Default()
			if err != nil {
				return err
			}
			m, err := engine.Measure(cmd.Context(), be, 2*measuring)
			if err != nil {
				return err
			}
			about := ""
			if mpi.about != nil {
				about = mpi.about()
			}
			if asJSON {
				return report.WriteJSON(cmd.OutOrStdout(), struct {
					*engine.Report
					MPI      string             `json:"mpi,omitempty"` // what the library says of itself
					Measured engine.Measurement `json:"measured"`
				}{r, about, m})
			}
			return printDoctor(cmd.OutOrStdout(), r, cmp.Or(about, "not in this build (-tags mpi)"), m)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func printDoctor(w io.Writer, r *engine.Report, mpi string, m engine.Measurement) error {
	fmt.Fprintf(w, "%s, %d cores, %s, %s, GOMAXPROCS %d\n", r.CPU, r.Cores, r.Platform, r.Go, r.GoMaxProcs)
	fmt.Fprintf(w, "backend %s of %v\n", r.Backend, r.Backends)
	for _, k := range slices.Sorted(maps.Keys(r.Capabilities)) {
		fmt.Fprintf(w, "  %s: %s\n", k, r.Capabilities[k])
	}
	fmt.Fprintf(w, "MPI %s\n", mpi)
	_, err := fmt.Fprintf(w, "\n%s\nmeasured: dgemm %.1f GFLOP/s, %.0f %% of the %s kernel's peak of %.1f; memory read %.1f GB/s, written for the first time %.2g GB/s\n",
		r.Tuning, m.Gemm, 100*m.Gemm/m.Peak, r.Tuning.ISA, m.Peak, m.Bandwidth, m.Fresh)
	return err
}
