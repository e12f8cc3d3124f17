package csv_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
)

// BenchmarkRead: bytes of text a second, delivered to a consumer that does
// nothing, of numbers with few digits, of measurements, and of all the digits of a
// float64.
func BenchmarkRead(b *testing.B) {
	for name, number := range map[string]func(r *rand.Rand) (v float64, digits int){
		"short":  func(r *rand.Rand) (float64, int) { return float64(r.IntN(1000)) / 4, -1 },
		"fixed6": func(r *rand.Rand) (float64, int) { return 100 * r.NormFloat64(), 6 },
		"full":   func(r *rand.Rand) (float64, int) { return r.NormFloat64(), -1 },
	} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var text []byte
			for len(text) < 16<<20 {
				for j := range 20 {
					if j > 0 {
						text = append(text, ',')
					}
					v, digits := number(r)
					text = strconv.AppendFloat(text, v, 'f', digits, 64)
				}
				text = append(text, '\n')
			}
			path := filepath.Join(b.TempDir(), "data.csv")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				b.Fatal(err)
			}
			s, err := csv.Open(path, csv.Options{Targets: []string{"last"}})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				pass(b, s)
			}
		})
	}
}

func pass(b *testing.B, s dataset.Source) {
	for _, err := range s.Blocks(context.Background()) {
		if err != nil {
			b.Fatal(err)
		}
	}
}
