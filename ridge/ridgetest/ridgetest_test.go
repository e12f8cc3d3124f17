package ridgetest_test

import (
	"context"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// tol is the tolerance of iterations.
const tol = 1e-9

// TestSolvers runs the suite on every solver, on every backend of the build.
func TestSolvers(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for name, s := range map[string]ridgetest.Solver{
			"cholesky":     {Solve: exact(be, ridge.Cholesky)},
			"qr":           {Solve: exact(be, ridge.QR)},
			"one-shot":     {Solve: oneShot(be), Tol: tol},
			"AᵀA":          {Solve: kept(be, ridge.CG), Tol: tol},
			"AᵀA galerkin": {Solve: kept(be, ridge.Galerkin), Tol: tol},
			"cg":           {Solve: iterate(be, ridge.SolveOptions{}), Tol: tol},
			"galerkin":     {Solve: iterate(be, ridge.SolveOptions{Method: ridge.Galerkin}), Tol: tol},
			"newton":       {Solve: iterate(be, ridge.SolveOptions{Method: ridge.Newton}), Tol: tol},
			"newton of fd": {Solve: iterate(be, ridge.SolveOptions{Method: ridge.Newton, PlainFD: true}), Tol: tol},
			"nystrom":      {Solve: nystrom(be), Tol: tol},
			"ihs":          {Solve: ihs(be), Tol: tol, Unweighted: true},
		} {
			t.Run(name, func(t *testing.T) { ridgetest.Run(t, s) })
		}
	})
}

type solve = func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error)

func exact(be engine.Backend, factor ridge.Method) solve {
	return func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
		return ridge.SolveExact(
			context.Background(),
			src,
			gammas,
			ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be},
		)
	}
}

// summarize makes a sketch of size m of the rows.
func summarize(be engine.Backend, src dataset.Source, m int, intercept bool) (*ridge.Summary, error) {
	return ridge.Summarize(
		context.Background(),
		src,
		ridge.SummaryConfig{Size: m, Intercept: intercept, Backend: be, Store: fd.StoreRows},
		nil,
	)
}

// kept refines the solutions of a summary that keeps AᵀA itself.
func kept(be engine.Backend, m ridge.Method) solve {
	return func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
		sum, err := ridge.Summarize(
			context.Background(),
			src,
			ridge.SummaryConfig{Size: 1, Intercept: intercept, Backend: be, Store: fd.StoreScatter},
			nil,
		)
		if err != nil {
			return nil, err
		}
		return ridge.SolvePath(context.Background(), src, sum, gammas, ridge.SolveOptions{Method: m, Tol: tol})
	}
}

// oneShot is the one-shot path where it is lossless: a sketch as large as d.
func oneShot(be engine.Backend) solve {
	return func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
		_, d, _ := src.Dims()
		sum, err := summarize(be, src, d, intercept)
		if err != nil {
			return nil, err
		}
		return sum.Path(gammas)
	}
}

// iterate refines what a sketch of half the features finds. Newton with plain FD
// gets the least sketch that proves that it converges.
func iterate(be engine.Backend, opts ridge.SolveOptions) solve {
	opts.Tol, opts.MaxPasses = tol, 3000
	return func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
		_, d, _ := src.Dims()
		for m := max(d/2, 1); ; m++ {
			sum, err := summarize(be, src, m, intercept)
			if err != nil {
				return nil, err
			}
			if ok, err := contracts(sum, gammas); err != nil {
				return nil, err
			} else if ok || m == d || !opts.PlainFD {
				return ridge.SolvePath(context.Background(), src, sum, gammas, opts)
			}
		}
	}
}

func contracts(sum *ridge.Summary, gammas []float64) (bool, error) {
	for _, gamma := range gammas {
		f, err := sum.FitFD(gamma)
		if err != nil {
			return false, err
		}
		if !(f.Contraction <= 0.9) {
			return false, nil
		}
	}
	return true, nil
}

func nystrom(be engine.Backend) solve {
	return func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
		_, d, _ := src.Dims()
		a, err := randsketch.NewNystrom(randsketch.NystromConfig{Rank: max(d/2, 1), Dim: d, Seed: 1, Backend: be})
		if err != nil {
			return nil, err
		}
		if err := a.AppendSource(context.Background(), src); err != nil {
			return nil, err
		}
		h, err := a.Spectrum()
		if err != nil {
			return nil, err
		}
		return iterate(be, ridge.SolveOptions{Hessian: h})(src, gammas, intercept)
	}
}

// ihs solves by the Iterative Hessian Sketch. The sketch has so many rows that the iteration contracts. With an
// intercept it sketches centred rows.
func ihs(be engine.Backend) solve {
	return func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
		_, d, _ := src.Dims()
		sketched := src
		if intercept {
			var err error
			sketched, err = centre(src)
			if err != nil {
				return nil, err
			}
		}
		h, err := randsketch.NewFresh(sketched, randsketch.Config{Rows: 40*d + 40, Dim: d, Seed: 1, Backend: be})
		if err != nil {
			return nil, err
		}
		return iterate(be, ridge.SolveOptions{Method: ridge.Newton, Hessian: h})(src, gammas, intercept)
	}
}

func centre(src dataset.Source) (dataset.Source, error) {
	_, scaling, err := dataset.Standardize(context.Background(), src)
	if err != nil {
		return nil, err
	}
	for j := range scaling.Scale {
		scaling.Scale[j] = 1
	}
	return scaling.Apply(src)
}
