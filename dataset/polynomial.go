package dataset

import (
	"strconv"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Polynomial makes new features: all products of at most Degree of the features x₁ … x_d, which may be equal. These
// monomials are
//
//	x_i, x_i·x_j (i ≤ j), x_i·x_j·x_k (i ≤ j ≤ k), …
//
// Their number is C(d+Degree, Degree) − 1, with the binomial coefficient C. Monomials of lower degree come first.
// Monomials of equal degree are in lexicographic order of their indices. For d = 2 and degree 2 the monomials are
//
//	x₁, x₂, x₁², x₁x₂, x₂².
//
// The order is the same as in scikit-learn's PolynomialFeatures(include_bias=False). Degree 1 leaves the features
// unchanged, as dense rows. Polynomial can be saved with a model as JSON.
type Polynomial struct {
	Degree int `json:"degree"`
}

// maxMonomials limits a row to 128 MiB.
const maxMonomials = 1 << 24

// Apply returns a source whose dense rows are the monomials of the rows of src. If a monomial overflows, the pass
// over the rows ends with an *[InputError]. Apply does not use the backend.
func (p Polynomial) Apply(src Source, _ engine.Backend) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	out, err := p.columns(d)
	if err != nil {
		return nil, err
	}
	rows, err := denseRows(out)
	if err != nil {
		return nil, err
	}
	return &transformed{
		src:   src,
		name:  "polynomial features",
		d:     out,
		rows:  rows,
		split: true,
		start: func() applier {
			m := &monomials{
				degree:  p.Degree,
				columns: out,
				x:       make([]float64, d),
				starts:  make([]int, d),
			}
			return m.features
		},
	}, nil
}

// columns returns C(d+Degree, Degree) − 1.
func (p Polynomial) columns(d int) (int, error) {
	if p.Degree < 1 {
		return 0, errtext.BadInput("dataset: the degree of the polynomial features is %d; it must be positive", p.Degree)
	}
	if d > maxMonomials { // products overflow below
		return 0, errtext.BadInput(
			"dataset: degree %d of %d columns makes more than %d polynomial features",
			p.Degree,
			d,
			maxMonomials,
		)
	}
	n := int64(1)
	for k := range int64(p.Degree) {
		n = n * (int64(d) + k + 1) / (k + 1)
		if n > maxMonomials {
			return 0, errtext.BadInput(
				"dataset: degree %d of %d columns makes more than %d polynomial features",
				p.Degree,
				d,
				maxMonomials,
			)
		}
	}
	return int(n - 1), nil
}

// Names returns the names of the monomials, given the names of the original columns. For the columns a and b and
// degree 2, the names are
//
//	a, b, a^2, a*b, b^2.
func (p Polynomial) Names(columns []string) []string {
	var out []string
	var extend func(prefix string, last, power, left int)
	// extend appends the names of all monomials that begin with prefix and then the column last to the given power.
	// Each monomial has left further factors, which are the same column or later columns.
	extend = func(prefix string, last, power, left int) {
		name := prefix + columns[last]
		if power > 1 {
			name += "^" + strconv.Itoa(power)
		}
		if left == 0 {
			out = append(out, name)
			return
		}
		extend(prefix, last, power+1, left-1)
		for j := last + 1; j < len(columns); j++ {
			extend(name+"*", j, 1, left-1)
		}
	}
	for degree := range p.Degree {
		for j := range columns {
			extend("", j, 1, degree)
		}
	}
	return out
}

// monomials is the workspace of one goroutine.
type monomials struct {
	degree, columns int
	x               []float64 // a sparse row as dense numbers
	starts          []int     // starts[j] is the index of the first monomial of the current degree that begins with x_j
}

// features appends the monomials of each row of b to out. A monomial may have overflowed, so finite is false, and
// the caller must check the monomials.
func (m *monomials) features(b Block, out *Buffer) (finite bool, err error) {
	out.Sparse = false
	z := out.extend(b.N * m.columns)
	for i := range b.N {
		row := z[i*m.columns : (i+1)*m.columns]
		if b.Sparse == nil {
			d := len(m.x)
			m.row(b.X[i*d:(i+1)*d], row)
			continue
		}
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			m.x[j] = val[k]
		}
		m.row(m.x, row)
		for _, j := range idx {
			m.x[j] = 0
		}
	}
	return false, nil
}

// row writes the monomials of the features x to z, first the monomials of degree 1, then of degree 2, and so on. It
// makes the monomials of degree k + 1 that begin with feature j in one loop. They are feature j times the monomials
// of degree k that have no feature before j.
func (m *monomials) row(x, z []float64) {
	for j := range x {
		m.starts[j] = j
	}
	end := copy(z, x)
	for range m.degree - 1 {
		next := end
		for j, v := range x {
			parts := z[m.starts[j]:end]
			m.starts[j] = next
			to := z[next:][:len(parts)]
			for i, w := range parts {
				to[i] = v * w
			}
			next += len(parts)
		}
		end = next
	}
}
