package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/bench/internal/python"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// A stream is a job: to sketch n rows of d features in m rows.
type stream struct{ n, d, m int }

var streams = []stream{{20000, 1024, 256}, {20000, 1024, 64}, {10000, 4096, 128}, {5000, 16384, 64}}

// sketches are the jobs of all streams. Python reads the rows from a file. With several threads, the first backend
// also runs with lanes: it sketches portions of the rows in parallel.
func sketches(names []string, engines []engine.Backend, py *python.Process, dir string) []entry {
	var all []entry
	for _, s := range streams {
		for _, kind := range []string{"Sketch", "IncrementalPCA"} {
			methods := []string{"incremental", "gram"}
			if kind == "IncrementalPCA" {
				methods = []string{"ipca"}
			}
			all = append(all, entry{fmt.Sprintf("%s/n=%d,d=%d,m=%d", kind, s.n, s.d, s.m), func() *job {
				j := &job{amount: float64(s.n) / 1000, unit: "krows/s"}
				a := bench.Rows(s.n, s.d)
				for i, be := range engines {
					j.rivals = append(j.rivals, timed(names[i], func() { s.sketch(be, a) }))
					if threads := runtime.GOMAXPROCS(0); threads > 1 && i == 0 && kind == "Sketch" {
						j.rivals = append(j.rivals, timed(names[i]+", lanes", func() { s.lanes(be, a, threads) }))
					}
				}
				if py == nil {
					return j
				}
				file := filepath.Join(dir, fmt.Sprintf("%dx%d", s.n, s.d))
				if err := write(file, a); err != nil {
					log.Fatal(err)
				}
				j.done = func() { os.Remove(file) }
				for _, m := range methods {
					j.rivals = append(j.rivals, pythonRival(py, "numpy "+m, m, file, s.d, s.m))
				}
				return j
			}})
		}
	}
	return all
}

func (s stream) sketch(be engine.Backend, a []float64) {
	sk, err := fd.New(fd.Config{Dim: s.d, Size: s.m, Backend: be, Store: fd.StoreRows})
	if err != nil {
		log.Fatal(err)
	}
	block := engine.Tuning{}.GradientRows(s.d)
	for i := 0; i < s.n; i += block {
		if err := sk.AppendRows(min(block, s.n-i), a[i*s.d:], s.d); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := sk.Spectrum(); err != nil {
		log.Fatal(err)
	}
}

// lanes makes the sketch in lanes, with a core for each.
func (s stream) lanes(be engine.Backend, a []float64, lanes int) {
	src, err := dataset.FromDense(s.n, s.d, 1, a, make([]float64, s.n))
	if err != nil {
		log.Fatal(err)
	}
	sum, err := ridge.Summarize(
		context.Background(),
		src,
		ridge.SummaryConfig{Size: s.m, Store: fd.StoreRows, Lanes: lanes, Backend: be},
		nil,
	)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := sum.Sketch().Spectrum(); err != nil {
		log.Fatal(err)
	}
}

func write(file string, a []float64) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := binary.Write(w, binary.NativeEndian, a); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
