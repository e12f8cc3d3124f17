package dataset

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
)

// Fourier describes random Fourier features (A. Rahimi, B. Recht, NIPS 2007) as
// in the paper's experiments,
//
//	z(x) = √(2/D)·cos(Wx + u),  W_ij ~ N(0, 2γ),  u_i uniform on [0, 2π),
//
// whose inner products approximate the kernel exp(−γ‖x − y‖²). W and u follow
// from the seed and the number of inputs alone, but for the last bit of one in two thousand of W's
// elements, which math.Log may round in another way on another architecture; docs/model.md says
// how, for programs in other languages. Plain data, to be kept with a model.
type Fourier struct {
	Components int     `json:"components"` // D
	Gamma      float64 `json:"gamma"`
	Seed       uint64  `json:"seed"`
}

// maxWeights bounds W, at 512 GiB.
const maxWeights = 1 << 36

// Apply returns the D features of src, dense, as be computes them, or engine.Default() where
// it is nil. The bits of a row's features follow from the row, W and u alone: they are the same
// for any blocks, threads, kernel and backend, of a dense row and of a sparse one. See
// [engine.CosineMap], which also says how they are rounded.
func (f Fourier) Apply(src Source, be engine.Backend) (Source, error) {
	if err := noSource(src); err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	switch {
	case f.Components < 1:
		return nil, badinput.Errorf("dataset: %d Fourier features, must be positive", f.Components)
	case !(f.Gamma > 0) || math.IsInf(2*f.Gamma, 0):
		return nil, badinput.Errorf("dataset: Fourier features with gamma = %v, must be positive and finite", f.Gamma)
	}
	if hi, lo := bits.Mul64(uint64(d), uint64(f.Components)); hi != 0 || lo > maxWeights || d > math.MaxInt32 {
		return nil, badinput.Errorf("dataset: %d×%d weights of Fourier features are too many", d, f.Components)
	}
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, err
		}
	}
	rows, err := denseRows(f.Components)
	if err != nil {
		return nil, err
	}
	m := f.draw(d)
	features := func(b Block, out *Buffer) (finite bool) {
		out.Sparse = false
		z := engine.View(b.N, f.Components, out.extend(b.N*f.Components))
		if b.Sparse != nil {
			return be.SparseCosines(m, b.Sparse.RowPtr, b.Sparse.ColIdx, b.Sparse.Val, z)
		}
		return be.Cosines(m, engine.View(b.N, d, b.X), z)
	}
	return &transformed{src: src, name: "Fourier features", d: f.Components, rows: rows, start: func() (applier, func()) {
		return faultless(features), func() {}
	}}, nil
}

// draw makes u, and then W, the weights of one input after the other.
func (f Fourier) draw(d int) *engine.CosineMap {
	rng := rand.New(rand.NewPCG(f.Seed, 0x466f7572696572)) // "Fourier"
	u := make([]float64, f.Components)
	for i := range u {
		u[i] = 2 * math.Pi * rng.Float64()
	}
	m := engine.NewCosineMap(d, u, math.Sqrt(2/float64(f.Components)))
	w, sd := make([]float64, f.Components), math.Sqrt(2*f.Gamma)
	for j := range d {
		for i := range w {
			w[i] = sd * ziggurat.normal(rng)
		}
		m.SetWeights(j, w)
	}
	return m
}
