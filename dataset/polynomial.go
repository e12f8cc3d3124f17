package dataset

import (
	"strconv"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
)

// Polynomial describes the monomials of the features x₁ … x_d up to a degree,
//
//	x_i, x_i·x_j (i ≤ j), x_i·x_j·x_k (i ≤ j ≤ k), …
//
// C(d+Degree, Degree) − 1 of them, lower degrees first and, within a degree, by the
// indices as words in a dictionary. For d = 2 and degree 2 that is
//
//	x₁, x₂, x₁², x₁x₂, x₂².
//
// It is the order of scikit-learn's PolynomialFeatures(include_bias=False). Degree
// 1 is x itself, written out dense. Plain data, to be kept with a model.
type Polynomial struct {
	Degree int `json:"degree"`
}

// maxMonomials bounds the columns that come out, at 128 MiB a row.
const maxMonomials = 1 << 24

// Apply returns the monomials of src, dense also where src is sparse. One that
// overflows is an *[InputError] in the pass. The backend is not needed: there is
// nothing but products of two numbers.
func (p Polynomial) Apply(src Source, _ engine.Backend) (Source, error) {
	if err := noSource(src); err != nil {
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
	return &transformed{src: src, name: "polynomial features", d: out, rows: rows, start: func() (applier, func()) {
		m := &monomials{degree: p.Degree, columns: out, x: make([]float64, d), first: make([]int, d)}
		return faultless(m.features), func() {}
	}}, nil
}

// columns is C(d+Degree, Degree) − 1.
func (p Polynomial) columns(d int) (int, error) {
	if p.Degree < 1 {
		return 0, badinput.Errorf("dataset: polynomial features of degree %d, must be positive", p.Degree)
	}
	n := int64(1)
	for k := range int64(p.Degree) {
		n = n * (int64(d) + k + 1) / (k + 1)
		if n > maxMonomials {
			return 0, badinput.Errorf("dataset: the polynomial features of degree %d of %d columns are more than %d", p.Degree, d, maxMonomials)
		}
	}
	return int(n - 1), nil
}

// Names returns what the monomials of columns by these names are called, in their
// order: for a and b and degree 2
//
//	a, b, a^2, a*b, b^2.
func (p Polynomial) Names(of []string) []string {
	var out []string
	var extend func(prefix string, last, power, left int)
	// extend appends all monomials that are prefix·x_last^power times left more.
	extend = func(prefix string, last, power, left int) {
		name := prefix + of[last]
		if power > 1 {
			name += "^" + strconv.Itoa(power)
		}
		if left == 0 {
			out = append(out, name)
			return
		}
		extend(prefix, last, power+1, left-1)
		for j := last + 1; j < len(of); j++ {
			extend(name+"*", j, 1, left-1)
		}
	}
	for degree := range p.Degree {
		for j := range of {
			extend("", j, 1, degree)
		}
	}
	return out
}

// monomials is the memory of one pass.
type monomials struct {
	degree, columns int
	x               []float64 // a sparse row written out
	first           []int     // of each j, where those of the last degree that begin with x_j are
}

// features appends the monomials of each row of b, of which one may overflow.
func (m *monomials) features(b Block, out *Buffer) (finite bool) {
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
	return false
}

// row writes the monomials of x to z. Those of the next degree that begin with x_j are x_j
// times those of this degree that begin with x_j or a later variable, which are the last of
// this degree.
func (m *monomials) row(x, z []float64) {
	for j := range x {
		m.first[j] = j
	}
	end := copy(z, x)
	for range m.degree - 1 {
		next := end
		for j, v := range x {
			of := z[m.first[j]:end]
			m.first[j] = next
			to := z[next:][:len(of)]
			for i, w := range of {
				to[i] = v * w
			}
			next += len(of)
		}
		end = next
	}
}
