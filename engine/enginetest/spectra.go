package enginetest

import (
	"math"
)

// spectra are symmetric matrices that are difficult for eigensolvers.
var spectra = []struct {
	name string
	at   func(n int) func(i, j int) float64
}{
	{"random", func(n int) func(i, j int) float64 {
		return tabulate(n, normal(random(uint64(n))))
	}},
	{"zero", func(int) func(i, j int) float64 { return func(i, j int) float64 { return 0 } }},
	{"identity", func(int) func(i, j int) float64 { return diagonal(func(int) float64 { return 1 }) }},
	{
		"rank one",
		func(int) func(i, j int) float64 { return func(i, j int) float64 { return float64(i+1) * float64(j+1) } },
	},
	{"all equal", func(int) func(i, j int) float64 { return func(i, j int) float64 { return 1 } }},
	{"clustered", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return 1 + 1e-14*float64(i) })
	}},
	{"repeated", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return float64(i / 5) })
	}},
	{"graded", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return math.Pow(10, -30*float64(i)/float64(n)) })
	}},
	{"indefinite", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return float64(i) - float64(n)/2 })
	}},
	{"Wilkinson", func(n int) func(i, j int) float64 {
		return tridiagonal(
			func(i int) float64 { return math.Abs(float64(i) - float64(n-1)/2) },
			func(int) float64 { return 1 },
		)
	}},
	{"glued Wilkinson", func(int) func(i, j int) float64 {
		return tridiagonal(func(i int) float64 { return math.Abs(float64(i%21) - 10) }, func(i int) float64 {
			if i%21 == 20 {
				return 1e-8
			}
			return 1
		})
	}},
	{"1-2-1", func(int) func(i, j int) float64 {
		return tridiagonal(func(int) float64 { return 2 }, func(int) float64 { return -1 })
	}},
	{"arrowhead", func(int) func(i, j int) float64 {
		return func(i, j int) float64 {
			switch {
			case i == j:
				return float64(i)
			case i == 0 || j == 0:
				return 1
			}
			return 0
		}
	}},
	{"huge", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return 1e150 * float64(i+1) })
	}},
	{"tiny", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return 1e-150 * float64(i+1) })
	}},
}

// tabulate computes f(i, j) once for all i and j below n. It returns a function that looks up these values.
func tabulate(n int, f func(i, j int) float64) func(i, j int) float64 {
	x := make([]float64, n*n)
	for i := range n {
		for j := range n {
			x[i*n+j] = f(i, j)
		}
	}
	return func(i, j int) float64 { return x[i*n+j] }
}

func diagonal(d func(i int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if i == j {
			return d(i)
		}
		return 0
	}
}

func tridiagonal(d, e func(i int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		switch i - j {
		case 0:
			return d(i)
		case 1:
			return e(j)
		case -1:
			return e(i)
		}
		return 0
	}
}

// reflected returns the entries of the n×n matrix H·diag(d)·H, whose eigenvalues are d(0) to d(n−1). H is the
// reflection I − 2vvᵀ, and all elements of v are 1/√n.
func reflected(n int, d func(i int) float64) func(i, j int) float64 {
	total := 0.0
	for i := range n {
		total += d(i)
	}
	f := 2 / float64(n)
	return func(i, j int) float64 {
		v := f*f*total - f*(d(i)+d(j))
		if i == j {
			v += d(i)
		}
		return v
	}
}
