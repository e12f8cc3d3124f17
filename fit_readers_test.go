package fdridge_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestReaders reads one summary from many goroutines, in every way there is.
func TestReaders(t *testing.T) {
	s := testkit.NewStored(3, 500, 30)
	ctx := context.Background()
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		cfg := ridge.SummaryConfig{Size: 8, Intercept: true, Backend: be}
		sum := testkit.Must(ridge.Summarize(ctx, s.Source(), cfg, nil))(t)
		message := testkit.Must(sum.MarshalBinary())(t)
		const gamma = 3
		read := func(t *testing.T, sum *ridge.Summary, from int) string {
			parts := make([]string, 9)
			for i := range parts { // each reader begins with something else
				i = (i + from) % len(parts)
				var out any
				switch i {
				case 0:
					out = testkit.Said(testkit.Must(sum.Fit(gamma))(t), testkit.Must(sum.FitFD(gamma))(t))
				case 1:
					out = testkit.Said(testkit.Must(sum.Path(choose.Grid(sum, 4)))(t)...)
				case 2:
					out = testkit.Must(sum.PredictInterval(gamma, s.X[:s.D]))(t)
				case 3:
					p := testkit.Must(sum.Predictor(gamma))(t)
					dst := make([]ridge.Interval, 10*testkit.StoredTargets)
					if err := p.Predict(dst, dataset.Block{N: 10, X: s.X[:10*s.D]}); err != nil {
						t.Error(err)
					}
					out = dst
				case 4:
					out = testkit.Must(sum.MarshalBinary())(t)
				case 5:
					other := testkit.Must(ridge.NewSummary(sum.Config()))(t)
					if err := other.Merge(sum); err != nil {
						t.Error(err)
					}
					out = testkit.Must(other.MarshalBinary())(t)
				case 6:
					out = fmt.Sprint(
						*testkit.Must(plan.New(sum, plan.Config{}))(t),
						testkit.Must(plan.PredictedPasses(sum, gamma, 1e-8, ridge.CG))(t),
					)
				case 7:
					out = fmt.Sprint(
						sum.Rows(),
						sum.BinarySize(),
						sum.Sketch().Bound(),
						*testkit.Must(sum.Sketch().Spectrum())(t),
					)
				case 8:
					out = testkit.Said(testkit.Must(ridge.Solve(ctx, s.Source(), sum, gamma, ridge.SolveOptions{}))(t))
				}
				parts[i] = fmt.Sprint(out)
			}
			return strings.Join(parts, "\n")
		}
		want := read(t, sum, 0)
		fresh := testkit.Must(ridge.ReadSummary(bytes.NewReader(message), be))(t) // nothing is worked out yet
		var wg sync.WaitGroup
		for g := range 18 {
			wg.Go(func() {
				t.Run("", func(t *testing.T) {
					if got := read(t, fresh, g); got != want {
						t.Errorf("a reader among others reads something else, %s", testkit.FirstDifference(got, want))
					}
				})
			})
		}
		wg.Wait()
	})
}
