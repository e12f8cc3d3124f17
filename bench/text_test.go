package bench

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fdridge/fdridge/bench/internal/python"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/svmlight"
)

// textColumns is the number of columns of the text files, and textBytes their size.
const textColumns, textBytes = 20, 64 << 20

// textRows writes rows until there are textBytes. Numbers have 8 decimals, or 16 to 17 digits, the fewest that give
// back the same float64. With index the format is svmlight.
func textRows(b *testing.B, path string, digits int, index bool) (size int64) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 0, textBytes+1<<10)
	for len(text) < textBytes {
		if index {
			text = strconv.AppendInt(text, int64(r.IntN(2)), 10)
		}
		for j := range textColumns {
			switch {
			case index:
				text = append(strconv.AppendInt(append(text, ' '), int64(50*j+1+r.IntN(50)), 10), ':')
			case j > 0:
				text = append(text, ',')
			}
			text = strconv.AppendFloat(text, r.NormFloat64(), 'f', digits, 64)
		}
		text = append(text, '\n')
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return int64(len(text))
}

// compressed writes a file through a compressor and returns the new file's name.
func compressed(b *testing.B, path, suffix string, with func(w io.Writer) (io.WriteCloser, error)) string {
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(path + suffix)
	if err != nil {
		b.Fatal(err)
	}
	w, err := with(f)
	if err == nil {
		_, err = w.Write(text)
	}
	for _, failed := range []error{err, w.Close(), f.Close()} {
		if failed != nil {
			b.Fatal(failed)
		}
	}
	return f.Name()
}

// onCores runs a benchmark on one core and on two.
func onCores(b *testing.B, name string, size int64, pass func(b *testing.B)) {
	for _, cores := range []int{1, 2} {
		b.Run(fmt.Sprintf("%s/cores=%d", name, cores), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				pass(b)
			}
		})
	}
}

// readAll makes a pass over a source and ignores the blocks.
func readAll(b *testing.B, s dataset.Source) {
	for _, err := range s.Blocks(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTextRead measures text in bytes per second, from the file to blocks of rows: plain, in gzip and in zstd.
// For gzip and zstd it also measures the decompressor alone.
func BenchmarkTextRead(b *testing.B) {
	dir := b.TempDir()
	for _, digits := range []int{8, -1} {
		name := map[int]string{8: "8 digits", -1: "17 digits"}[digits]
		table, sparse := filepath.Join(dir, fmt.Sprintf("%d.csv", digits)), filepath.Join(dir, fmt.Sprintf("%d.svm", digits))
		size := textRows(b, table, digits, false)
		packed := map[string]string{
			"gzip": compressed(
				b,
				table,
				".gz",
				func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
			),
			"zstd": compressed(
				b,
				table,
				".zst",
				func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
			),
		}
		for how, path := range map[string]string{"plain": table, "gzip": packed["gzip"], "zstd": packed["zstd"]} {
			s, err := csv.Open(path, csv.Options{Targets: []string{"last"}, Header: csv.Absent})
			if err != nil {
				b.Fatal(err)
			}
			onCores(b, "csv/"+name+"/"+how, size, func(b *testing.B) { readAll(b, s) })
		}
		b.Run("decompressor/"+name+"/gzip", func(b *testing.B) { unpack(b, packed["gzip"], size) })
		b.Run("decompressor/"+name+"/zstd", func(b *testing.B) { unpack(b, packed["zstd"], size) })

		size = textRows(b, sparse, digits, true)
		s, err := svmlight.Open(sparse, svmlight.Options{Features: 50 * textColumns, Targets: 1})
		if err != nil {
			b.Fatal(err)
		}
		onCores(b, "svmlight/"+name+"/plain", size, func(b *testing.B) { readAll(b, s) })
	}
}

// unpack decompresses a file as the readers do.
func unpack(b *testing.B, path string, size int64) {
	b.SetBytes(size)
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		var text io.Reader
		if filepath.Ext(path) == ".gz" {
			text, err = gzip.NewReader(f)
		} else {
			var z *zstd.Decoder
			z, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
			if err == nil {
				defer z.Close()
				text = z
			}
		}
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{text}, make([]byte, 1<<17))
		}
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// duckdb adds up the columns of each csv file that it is asked for, and then answers.
const duckdb = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const db = await DuckDBInstance.create(':memory:', { threads: process.argv[1] });
  const connection = await db.connect();
  console.log('ready');
  for await (const path of require('readline').createInterface({ input: process.stdin })) {
    const columns = Array.from({ length: COLUMNS }, (_, j) => "'c" + j + "': 'DOUBLE'").join(',');
    await connection.run("SELECT sum(COLUMNS(*)) FROM read_csv('" + path + "', header=false, auto_detect=false, delim=',', columns={" + columns + "})");
    console.log('done');
  }
})();`

// loadtxt and loadSvmlight read each file that they are asked for, and then answer.
const loadtxt = `
import sys, numpy
print("ready", flush=True)
for path in sys.stdin:
    numpy.loadtxt(path.strip(), delimiter=",")
    print("done", flush=True)
`

const loadSvmlight = `
import sys
from sklearn.datasets import load_svmlight_file
print("ready", flush=True)
for path in sys.stdin:
    load_svmlight_file(path.strip(), n_features=1000)
    print("done", flush=True)
`

// BenchmarkTextRivals reads the same files by DuckDB, numpy and scikit-learn, each in a running process, and by
// fdridge. DuckDB is a module of node.js; set NODE_PATH to its folder.
func BenchmarkTextRivals(b *testing.B) {
	dir := b.TempDir()
	for _, digits := range []int{8, -1} {
		name := map[int]string{8: "8 digits", -1: "17 digits"}[digits]
		table, sparse := filepath.Join(dir, "data.csv"), filepath.Join(dir, "data.svm")
		size := textRows(b, table, digits, false)
		for _, cores := range []int{1, 2} {
			ours(b, fmt.Sprintf("csv/%s/cores=%d/fdridge", name, cores), size, cores, func() (*dataset.Stream, error) {
				return csv.Open(table, csv.Options{Targets: []string{"last"}, Header: csv.Absent})
			})
			rival(b, fmt.Sprintf("csv/%s/cores=%d/duckdb", name, cores), table, size, func() (*python.Process, error) {
				return python.Command(
					"node",
					"-e",
					fmt.Sprintf("const COLUMNS = %d;", textColumns)+duckdb,
					strconv.Itoa(cores),
				)
			})
		}
		rival(
			b,
			"csv/"+name+"/cores=1/numpy.loadtxt",
			table,
			size,
			func() (*python.Process, error) { return python.Start(loadtxt, "numpy", 1) },
		)

		size = textRows(b, sparse, digits, true)
		ours(b, "svmlight/"+name+"/cores=1/fdridge", size, 1, func() (*dataset.Stream, error) {
			return svmlight.Open(sparse, svmlight.Options{Features: 50 * textColumns, Targets: 1})
		})
		rival(
			b,
			"svmlight/"+name+"/cores=1/scikit-learn",
			sparse,
			size,
			func() (*python.Process, error) { return python.Start(loadSvmlight, "sklearn", 1) },
		)
	}
}

// ours reads a file by a reader of fdridge.
func ours(b *testing.B, name string, size int64, cores int, open func() (*dataset.Stream, error)) {
	b.Run(name, func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		s, err := open()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(size)
		for b.Loop() {
			readAll(b, s)
		}
	})
}

// rival lets another program read a file.
func rival(b *testing.B, name, path string, size int64, start func() (*python.Process, error)) {
	b.Run(name, func(b *testing.B) {
		p, err := start()
		if err == nil {
			_, err = p.Answer()
		}
		if err != nil {
			b.Skip(err)
		}
		b.SetBytes(size)
		for b.Loop() {
			if _, err := p.Ask(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}
