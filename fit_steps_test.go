package fdridge_test

import (
	"context"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/reason"
)

// storing is fdridge.Options.Summarize with a storage of the sketch.
func storing(
	store fd.Storage,
) func(context.Context, dataset.Source, ridge.SummaryConfig, func(int64)) (*ridge.Summary, error) {
	return func(
		ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, progress func(int64),
	) (*ridge.Summary, error) {
		cfg.Store = store
		return ridge.Summarize(ctx, src, cfg, progress)
	}
}

// givenUp returns the steps of a fit whose outcome was not used.
func givenUp(r *fdridge.Result) (out []fdridge.Step) {
	for _, s := range r.Trace {
		if s.Err != nil {
			out = append(out, s)
		}
	}
	return out
}

// spentOn reports whether reasons have a rule.
func spentOn(reasons []reason.Reason, rule reason.Rule) bool {
	for _, r := range reasons {
		if r.Rule == rule {
			return true
		}
	}
	return false
}
