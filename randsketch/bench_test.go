package randsketch_test

import (
	"testing"

	"github.com/fdridge/fdridge/randsketch"
)

// BenchmarkAppend appends 1024 rows at a time to sketches with m = 256. The rows have 1024 dense features, or 300
// sparse features with 4 % nonzeros.
func BenchmarkAppend(b *testing.B) {
	const n, m = 1024, 256
	dense, sparse := draw(n, 1024, 1, 1), draw(n, 300, 1, 0.04)
	for _, kind := range kinds {
		b.Run(kind.String()+"/dense", func(b *testing.B) {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: m, Dim: dense.d, Targets: 1}))(b)
			for b.Loop() {
				check(b, s.AppendRows(n, dense.x, dense.ldx, dense.y))
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
		})
		b.Run(kind.String()+"/sparse", func(b *testing.B) {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: m, Dim: sparse.d, Targets: 1}))(b)
			for b.Loop() {
				check(b, s.AppendSparse(&sparse.csr, sparse.y))
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
		})
	}
	b.Run("nystrom/dense", func(b *testing.B) {
		a := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: m, Dim: dense.d}))(b)
		for b.Loop() {
			check(b, a.AppendRows(n, dense.x, dense.ldx))
		}
		b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("nystrom/sparse", func(b *testing.B) {
		a := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: m, Dim: sparse.d}))(b)
		for b.Loop() {
			check(b, a.AppendSparse(&sparse.csr))
		}
		b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
	})
}
