package batch_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// rows are n rows of 20 features and a target.
func rows(n int) dataset.Source {
	const d = 20
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		for j := range d {
			x[i*d+j] = rng.NormFloat64() / float64(1+j)
			y[i] += x[i*d+j]
		}
		y[i] += rng.NormFloat64()
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	return src
}

// A fit is interrupted in its fourth pass. The same call goes on from the checkpoint, and finds
// what a fit finds that was not interrupted, bit for bit.
func Example() {
	dir, err := os.MkdirTemp("", "batch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	src := rows(20000)
	opts := fdridge.Options{Gammas: []float64{1}, Method: ridge.CG, Size: 4, Tol: 1e-12}
	job := batch.Options{
		Checkpoint: filepath.Join(dir, "run.ckpt"),
		Every:      time.Nanosecond, // as often as a tenth of the time allows
		// Settings: batch.FileSettings(batch.Files([]string{"rows.npy"})), if the rows are in a file
		Notify: func(e batch.Event) {
			if e.Kind == batch.Resumed {
				fmt.Println("going on from pass", e.At.Pass)
			}
		},
	}

	ctx, interrupt := context.WithCancel(context.Background())
	interrupted := opts
	interrupted.Progress = func(_ fdridge.Stage, p ridge.Progress) {
		if p.Pass == 4 {
			interrupt() // as Ctrl-C does, see signal.NotifyContext
		}
	}
	_, err = batch.Fit(ctx, src, interrupted, job)
	stop, ok := errors.AsType[*batch.InterruptedError](err)
	fmt.Println("interrupted:", ok, errors.Is(err, context.Canceled), "pass", stop.At.Pass)

	resumed, err := batch.Fit(context.Background(), src, opts, job)
	if err != nil {
		log.Fatal(err)
	}
	whole, err := fdridge.Fit(context.Background(), src, opts)
	if err != nil {
		log.Fatal(err)
	}
	a, b := resumed.Best().Targets[0], whole.Best().Targets[0]
	fmt.Println("the same bits:", slices.Equal(a.Coef, b.Coef) && a.RelativeErrorBound == b.RelativeErrorBound)
	_, err = os.Stat(job.Checkpoint)
	fmt.Println("checkpoint removed:", errors.Is(err, os.ErrNotExist))
	// Output:
	// interrupted: true true pass 4
	// going on from pass 4
	// the same bits: true
	// checkpoint removed: true
}

// Three ranks share the rows, and each has a checkpoint. Under mpirun each would be a process with
// a transport of package dist/mpi. The checkpoints go when all ranks have written their results.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "batch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all := rows(3000)
	rank := func(t dist.Transport) error {
		options := batch.Options{
			Checkpoint: filepath.Join(dir, "run.ckpt"),
			Transport:  t,
			Settings:   []batch.Setting{{Name: "gamma", Value: "1"}},
		}
		return batch.Run(context.Background(), options, func(j *batch.Job) error {
			share := dataset.Share{Rank: t.Rank(), Size: t.Size()}
			rows, err := dataset.Part(all, share)
			if err != nil {
				return err
			}
			scaling, err := j.Scaling(func() (*dataset.Scaling, error) {
				_, s, err := dataset.StandardizeShare(context.Background(), rows, share, t.Allreduce)
				return s, err
			})
			if err != nil {
				return err
			}
			scaled, err := scaling.Apply(rows)
			if err != nil {
				return err
			}
			found, err := j.Fit(
				context.Background(),
				scaled,
				fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Method: ridge.CG, Size: 4},
			)
			if err != nil {
				return err
			}
			work, err := j.Work(context.Background())
			if err == nil && t.Rank() == 0 {
				fmt.Println("rows of each rank:", work[0].Rows, work[1].Rows, work[2].Rows)
				fmt.Println("rows of the fit:", found.Best().Rows, "certified:", found.Err() == nil)
			}
			return err
		})
	}
	var ranks sync.WaitGroup
	for _, t := range dist.Loopback(3) {
		ranks.Go(func() {
			if err := rank(t); err != nil {
				log.Print(err)
			}
		})
	}
	ranks.Wait()
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	fmt.Println("files left:", len(left))
	// Output:
	// rows of each rank: 1000 1000 1000
	// rows of the fit: 3000 certified: true
	// files left: 0
}
