package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/rss"
)

func doctorCommand(mpi joiner) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show the machine, the backend and the tuning, and measure their speed",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := engine.NewReport()
			if err != nil {
				return cli.BadInput("%w", err)
			}
			be, err := engine.Default()
			if err != nil {
				return err
			}
			m, err := measure(cmd.Context(), be, 2*measuring)
			if err != nil {
				return err
			}
			about := ""
			if mpi.about != nil {
				about = mpi.about()
			}
			if asJSON {
				return report.WriteJSON(cmd.OutOrStdout(), struct {
					build
					*engine.Report
					MPI      string             `json:"mpi,omitempty"` // version of the library
					Memory   memory             `json:"memory"`
					Measured engine.Measurement `json:"measured"`
				}{newBuild(), r, about, newMemory(), m})
			}
			return printDoctor(
				cmd.OutOrStdout(),
				r,
				cmp.Or(about, "not in this build (-tags mpi)"),
				m,
			)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return c
}

// memory holds the bytes of memory that the process can use. A number is 0 if it is unknown or unlimited.
type memory struct {
	Available int64     `json:"available_bytes"`
	Limit     rss.Limit `json:"limit"`
	GoLimit   int64     `json:"gomemlimit_bytes"`
}

func newMemory() memory {
	m := memory{rss.Available(), rss.Limited(), debug.SetMemoryLimit(-1)}
	if m.GoLimit == math.MaxInt64 {
		m.GoLimit = 0
	}
	return m
}

func (m memory) String() string {
	out := fmt.Sprintf("memory: %.1f GiB available%s", float64(m.Available)/(1<<30), cli.MemoryLimit())
	if m.GoLimit > 0 {
		out += fmt.Sprintf(", GOMEMLIMIT %.1f GiB", float64(m.GoLimit)/(1<<30))
	}
	return out
}

func printDoctor(w io.Writer, r *engine.Report, mpi string, m engine.Measurement) error {
	fmt.Fprintf(w, "fdridge version %s\n", newBuild())
	fmt.Fprintf(w, "%s, %d cores, %s, %s, GOMAXPROCS %d\n", r.CPU, r.Cores, r.Platform, r.Go, r.GoMaxProcs)
	fmt.Fprintf(w, "backend %s of %v\n", r.Backend, r.Backends)
	for _, k := range slices.Sorted(maps.Keys(r.Capabilities)) {
		fmt.Fprintf(w, "  %s: %s\n", k, r.Capabilities[k])
	}
	fmt.Fprintf(w, "MPI %s\n", mpi)
	fmt.Fprintln(w, newMemory())
	_, err := fmt.Fprintf(
		w,
		"\n%s\nmeasured: dgemm %.1f GFLOP/s, %.0f %% of the %s kernel's peak of %.1f; memory read %.1f GB/s, "+
			"written for the first time %.2g GB/s\n",
		r.Tuning,
		m.Gemm,
		100*m.Gemm/m.Peak,
		r.Tuning.ISA,
		m.Peak,
		m.Bandwidth,
		m.Fresh,
	)
	return err
}
