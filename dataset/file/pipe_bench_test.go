package file_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// BenchmarkPiped reads 32 MiB of csv from a file, and through a pipe of the system, by turns.
func BenchmarkPiped(b *testing.B) {
	line := "1.25673,-3.51122,1000.25,0.00134,7.98123,8.125,-9.11111,10.5\n"
	text := strings.Repeat(line, 32<<20/len(line))
	path := b.TempDir() + "/data.csv"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, way := range []string{"file", "pipe", "file", "pipe"} {
		b.Run(way, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				opts := file.Options{}
				if way == "pipe" {
					from, to, err := os.Pipe()
					if err != nil {
						b.Fatal(err)
					}
					go func() {
						if _, err := to.WriteString(text); err != nil {
							b.Error(err)
						}
						if err := to.Close(); err != nil {
							b.Error(err)
						}
					}()
					opts.Pipe = dataset.NewPipe(b.Context(), "the pipe", from)
				}
				src, err := file.Open([]string{path}, opts)
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range src.Blocks(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
