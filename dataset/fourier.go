package dataset

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Fourier describes D random Fourier features of a row x (A. Rahimi, B. Recht, NIPS 2007),
//
//	z(x) = √(2/D)·cos(Wx + u),  W_ij ~ N(0, 2γ),  u_i uniform on [0, 2π).
//
// Here D is the field Components and γ is the field Gamma. For two rows x and y, the inner product z(x)ᵀz(y)
// approximates the kernel exp(−γ‖x − y‖²).
//
// The random matrix W and vector u depend only on Seed, Gamma and the sizes of W. But on another processor
// architecture, math.Log may round differently. Then about one in 2000 elements of W differs in its last bit.
// docs/model.md describes the computation for other languages. Fourier can be saved with a model as JSON.
type Fourier struct {
	Components int     `json:"components"` // D
	Gamma      float64 `json:"gamma"`
	Seed       uint64  `json:"seed"`
}

// maxWeights limits the size of W to 512 GiB.
const maxWeights = 1 << 36

// Apply returns a source whose rows have the Fourier features of the rows of src, as dense rows. It computes with
// the backend be, or with engine.Default() if be is nil. Every bit of the features is independent of block size,
// threads, kernel, backend, and whether rows are sparse. See [engine.CosineMap] for the rounding.
func (f Fourier) Apply(src Source, be engine.Backend) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	err := f.check(d)
	if err != nil {
		return nil, err
	}
	be, err = engine.OrDefault(be)
	if err != nil {
		return nil, err
	}
	rows, err := denseRows(f.Components)
	if err != nil {
		return nil, err
	}
	m := f.draw(d)
	features := func(b Block, out *Buffer) (finite bool, err error) {
		out.Sparse = false
		z := engine.View(b.N, f.Components, out.extend(b.N*f.Components))
		if b.Sparse != nil {
			return be.SparseCosines(m, b.Sparse.RowPtr, b.Sparse.ColIdx, b.Sparse.Val, z), nil
		}
		return be.Cosines(m, engine.View(b.N, d, b.X), z), nil
	}
	return &transformed{
		src:   src,
		name:  "Fourier features",
		d:     f.Components,
		rows:  rows,
		start: func() applier { return features },
	}, nil
}

// check returns an error if f cannot compute features from rows of d columns.
func (f Fourier) check(d int) error {
	switch {
	case f.Components < 1:
		return errtext.BadInput("dataset: the number of Fourier features is %d; it must be positive", f.Components)
	case !(f.Gamma > 0) || math.IsInf(2*f.Gamma, 0):
		return errtext.BadInput("dataset: gamma of the Fourier features is %v; it must be positive and finite", f.Gamma)
	}
	hi, lo := bits.Mul64(uint64(d), uint64(f.Components))
	if hi != 0 || lo > maxWeights || d > math.MaxInt32 {
		return errtext.BadInput("dataset: %d×%d weights of Fourier features are too many", d, f.Components)
	}
	return nil
}

// draw draws the random numbers for rows of d columns: first the vector u, then the matrix W column by column.
func (f Fourier) draw(d int) *engine.CosineMap {
	rng := rand.New(rand.NewPCG(f.Seed, 0x466f7572696572)) // "Fourier"
	u := make([]float64, f.Components)
	for i := range u {
		u[i] = 2 * math.Pi * rng.Float64()
	}
	m := engine.NewCosineMap(d, u, math.Sqrt(2/float64(f.Components)))
	w := make([]float64, f.Components)
	sd := math.Sqrt(2 * f.Gamma)
	for j := range d {
		for i := range w {
			w[i] = sd * ziggurat.normal(rng)
		}
		m.SetWeights(j, w)
	}
	return m
}
