package dataset

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
)

// Fourier describes random Fourier features (A. Rahimi, B. Recht, NIPS 2007) as
// in the paper's experiments,
//
//	z(x) = √(2/D)·cos(Wx + u),  W_ij ~ N(0, 2γ),  u_i uniform on [0, 2π),
//
// whose inner products approximate the kernel exp(−γ‖x − y‖²). W and u follow
// from the seed and the number of inputs alone. Plain data, to be kept with a
// model.
type Fourier struct {
	Components int     `json:"components"` // D
	Gamma      float64 `json:"gamma"`
	Seed       uint64  `json:"seed"`
}

// Apply returns the D features of src. The arithmetic is that of be, or of
// engine.Default() where it is nil.
func (f Fourier) Apply(src Source, be engine.Backend) (Source, error) {
	_, d, _ := src.Dims()
	switch {
	case f.Components < 1:
		return nil, fmt.Errorf("dataset: %d Fourier features, must be positive", f.Components)
	case !(f.Gamma > 0) || math.IsInf(f.Gamma, 0):
		return nil, fmt.Errorf("dataset: Fourier features with gamma = %v, must be positive", f.Gamma)
	}
	if hi, lo := bits.Mul64(uint64(d), uint64(f.Components)); hi != 0 || lo > 1<<40 {
		return nil, fmt.Errorf("dataset: %d×%d weights of Fourier features are too many", d, f.Components)
	}
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, err
		}
	}
	w, u := f.draw(d)
	return &transformed{src: src, d: f.Components, apply: func(b Block, out *Buffer) {
		out.Sparse = false
		f.features(be, w, u, b, out)
	}}, nil
}

// draw makes W, stored input-major (d×D: the weights of one input are a row), and
// u.
func (f Fourier) draw(d int) (w, u []float64) {
	rng := rand.New(rand.NewPCG(f.Seed, 0x466f7572696572)) // "Fourier"
	u = make([]float64, f.Components)
	for i := range u {
		u[i] = 2 * math.Pi * rng.Float64()
	}
	w = make([]float64, d*f.Components)
	sd := math.Sqrt(2 * f.Gamma)
	for i := range w {
		w[i] = sd * rng.NormFloat64()
	}
	return w, u
}

// features appends z(x) for each row of b. The rows are shared out among the
// processors; each is computed in the same way whoever does it.
func (f Fourier) features(be engine.Backend, w, u []float64, b Block, out *Buffer) {
	dim := f.Components
	for range b.N {
		out.X = append(out.X, u...)
	}
	if b.Sparse == nil {
		d := len(w) / dim
		be.Gemm(false, false, b.N, dim, d, 1, b.X, d, w, dim, 1, out.X, dim)
	}
	parts := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() {
			for i := b.N * k / parts; i < b.N*(k+1)/parts; i++ {
				f.row(w, b, i, out.X[i*dim:(i+1)*dim])
			}
		})
	}
	wg.Wait()
}

// row finishes z(x) for row i of b: z holds u for sparse rows, Wx + u for dense.
func (f Fourier) row(w []float64, b Block, i int, z []float64) {
	if b.Sparse != nil {
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			floats.AddScaled(z, val[k], w[int(j)*len(z):(int(j)+1)*len(z)])
		}
	}
	scale := math.Sqrt(2 / float64(len(z)))
	for c, v := range z {
		z[c] = scale * math.Cos(v)
	}
}
