//go:build unix

package arrow_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
)

// BenchmarkRead reads 64 MiB of float64 from columns and from a list, and 32 MiB of float32. Batches have 64 Ki rows,
// or 8 MiB if that is less. Each file is read directly and through a pipe from cat. GB/core-s uses processor time,
// which on a busy machine says more than MB/s.
func BenchmarkRead(b *testing.B) {
	for _, d := range []int{16, 128, 1024} {
		for _, kind := range []string{"columns", "list", "float32"} {
			path := large(b, kind, d)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			for _, way := range []string{"file", "pipe"} {
				b.Run(fmt.Sprintf("%s/%d/%s", kind, d, way), func(b *testing.B) {
					b.SetBytes(info.Size())
					begin, passes := processors(b), 0
					for b.Loop() {
						opts := arrow.Options{}
						passes++
						if way == "pipe" {
							opts.Pipe = through(b, path)
						}
						src, err := arrow.Open(path, opts)
						if err != nil {
							b.Fatal(err)
						}
						for _, err := range src.Blocks(ctx) {
							if err != nil {
								b.Fatal(err)
							}
						}
					}
					b.ReportMetric(float64(info.Size())*float64(passes)/1e9/(processors(b)-begin), "GB/core-s")
				})
			}
		}
	}
}

// processors is how many seconds of them this process has taken.
func processors(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// through returns a pipe of the system to which cat, a process of its own, writes the file.
func through(b *testing.B, path string) *dataset.Pipe {
	cat := exec.Command("cat", path)
	from, err := cat.StdoutPipe()
	if err == nil {
		err = cat.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cat.Wait() }) // it has ended with the data
	return dataset.NewPipe(ctx, "the pipe", from)
}

func large(b *testing.B, kind string, d int) string {
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	var fields []lib.Field
	switch kind {
	case "list":
		fields = append(
			fields,
			lib.Field{Name: "x", Type: lib.FixedSizeListOfNonNullable(int32(d), lib.PrimitiveTypes.Float64)},
		)
	case "columns":
		for j := range d {
			fields = append(fields, lib.Field{Name: fmt.Sprint("c", j), Type: lib.PrimitiveTypes.Float64})
		}
	case "float32":
		for j := range d {
			fields = append(fields, lib.Field{Name: fmt.Sprint("c", j), Type: lib.PrimitiveTypes.Float32})
		}
	}
	schema := lib.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	const size = 64 << 20
	n := min(1<<16, 1<<20/d)
	for range n {
		for j := range fields {
			switch f := builder.Field(j).(type) {
			case *array.Float64Builder:
				f.Append(rng.NormFloat64())
			case *array.Float32Builder:
				f.Append(rng.Float32())
			case *array.FixedSizeListBuilder:
				f.Append(true)
				for range d {
					f.ValueBuilder().(*array.Float64Builder).Append(rng.NormFloat64())
				}
			}
		}
	}
	batch := builder.NewRecordBatch()
	batches := make([]lib.RecordBatch, size/8/d/n)
	for i := range batches {
		batches[i] = batch
	}
	return written(b, schema, true, batches)
}
