package file_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// BenchmarkRealData: one pass over the real data of FDRIDGE_DATA, in bytes of text;
// with random Fourier features, in bytes of features.
func BenchmarkRealData(b *testing.B) {
	dir := os.Getenv("FDRIDGE_DATA")
	if dir == "" {
		b.Skip("set FDRIDGE_DATA to the folder of the public data sets")
	}
	for _, c := range []struct {
		name   string
		target []string
		text   int64
	}{
		{"w8a.svm.gz", nil, 3478238},
		{"covtype.data.gz", []string{"last"}, 12939748},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := file.Open([]string{filepath.Join(dir, c.name)}, file.Options{Target: c.target, Targets: 1})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(c.text)
			pass(b, s)
		})
	}
	b.Run("fourier", func(b *testing.B) {
		s, err := file.Open([]string{filepath.Join(dir, "w8a.svm.gz")}, file.Options{Targets: 1})
		if err != nil {
			b.Fatal(err)
		}
		const dim = 1024
		z, err := dataset.Fourier{Components: dim, Gamma: 0.05, Seed: 1}.Apply(s, nil)
		if err != nil {
			b.Fatal(err)
		}
		n, _, _ := s.Dims()
		b.SetBytes(8 * dim * n)
		pass(b, z)
	})
}

func pass(b *testing.B, s dataset.Source) {
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range s.Blocks(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
