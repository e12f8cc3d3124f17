// Command stream is a service that learns from a stream of rows and answers requests for predictions at the same time.
// Newer rows count more: the weight of a row halves after every 500 later rows. The answers are intervals that
// contain the prediction of the exact solution for the rows so far.
//
//	go run ./examples/stream
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// features is the number of features of a row.
const features = 3

// A service learns rows and predicts. All methods can be called from several goroutines.
type service struct {
	mu   sync.Mutex // one goroutine at a time reads or writes
	rows *window.Fading
}

func newService() (*service, error) {
	rows, err := window.NewFading(window.FadingConfig{
		Summary:      ridge.SummaryConfig{Dim: features, Size: features, Intercept: true},
		HalfLifeRows: 500,
	})
	if err != nil {
		return nil, err
	}
	return &service{rows: rows}, nil
}

// learn adds a row.
func (s *service) learn(x []float64, y float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows.Append(dataset.Block{N: 1, X: x, Y: []float64{y}})
}

// predict returns an interval for the prediction of a row, at the given γ.
func (s *service) predict(gamma float64, x []float64) (ridge.Interval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, _, err := s.rows.Summary()
	if err != nil {
		return ridge.Interval{}, err
	}
	intervals, err := sum.PredictInterval(gamma, x)
	if err != nil {
		return ridge.Interval{}, err
	}
	return intervals[0], nil
}

func main() {
	log.SetFlags(0)
	err := serve(os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
}

// serve sends 4,000 rows to a service. After 2,000 rows the first coefficient changes from 1 to −1.
func serve(w io.Writer) error {
	s, err := newService()
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	asked := []float64{1, 0, 0}
	for i := range 4000 {
		slope := 1.0
		if i >= 2000 {
			slope = -1
		}
		x := []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
		y := slope*x[0] + 2*x[1] + 0.1*random.NormFloat64()
		err = s.learn(x, y)
		if err != nil {
			return err
		}

		if (i+1)%1000 == 0 {
			within, err := s.predict(1, asked)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "after %d rows: prediction in [%.2f, %.2f]\n", i+1, within.Lo, within.Hi)
		}
	}
	return nil
}
