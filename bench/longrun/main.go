// Command longrun streams generated rows into summaries, for as long as it is told
// to, and holds what they promise against what is true:
//
//	go run ./bench/longrun -for 1h
//
// Rows are weighted, have two targets and a mean far from zero, and the directions
// and spectrum of their covariance drift. In each epoch a few fresh summaries are
// filled on goroutines of their own and merged into two that live for the whole run,
// of which one forgets (Decay) and one doesn't. Now and then a summary is written,
// read back, and replaced by what was read.
//
// Every few epochs, against the moments of the same rows kept in full:
//   - the bound of the sketch, on both sides,
//   - one-shot fits and their certificates, for several γ,
//   - a solution refined by passes over the last epoch's rows, and its certificate,
//   - memory: after a collection, the heap, the resident set and the number of
//     goroutines must stay what they were in the warm-up.
//
// It stops at the first failure, with exit code 1. Between epochs it sleeps, so as to
// be busy for -duty of the time. The rows follow from -seed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"
)

func main() {
	log.SetPrefix("longrun: ")
	cfg := standard
	length := flag.Duration("for", time.Minute, "how long to run")
	flag.Float64Var(&cfg.duty, "duty", cfg.duty, "part of the time to be busy")
	flag.Uint64Var(&cfg.seed, "seed", cfg.seed, "of the rows")
	flag.IntVar(&cfg.dim, "dim", cfg.dim, "features")
	flag.IntVar(&cfg.size, "size", cfg.size, "rows of a sketch")
	flag.IntVar(&cfg.every, "every", cfg.every, "epochs between checks")
	flag.IntVar(&cfg.warmUp, "warm-up", cfg.warmUp, "epochs before memory has to be flat")
	flag.Int64Var(&cfg.growth, "growth", cfg.growth, "bytes by which memory may grow afterwards")
	flag.Parse()
	if flag.NArg() > 0 || !(cfg.duty > 0 && cfg.duty <= 1) || cfg.dim < 1 || cfg.size < 1 || cfg.every < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := start(cfg)
	if err != nil {
		log.Fatal(err)
	}
	begin, told := time.Now(), time.Now()
	for time.Since(begin) < *length && ctx.Err() == nil {
		busy := time.Now()
		if err := r.step(ctx); err != nil {
			log.Fatalf("epoch %d, seed %d: %v", r.epoch, cfg.seed, err)
		}
		if time.Since(told) >= time.Minute {
			log.Print(r)
			told = time.Now()
		}
		select {
		case <-time.After(time.Duration(float64(time.Since(busy)) * (1/cfg.duty - 1))):
		case <-ctx.Done():
		}
	}
	if err := r.check(context.Background()); err != nil {
		log.Fatalf("epoch %d, seed %d: %v", r.epoch, cfg.seed, err)
	}
	log.Print(r)
	fmt.Printf("all held for %v\n", time.Since(begin).Round(time.Second))
}
