package adversary

import (
	"context"
	"errors"
	"math"

	"github.com/fdridge/fdridge/dataset"
)

// prepare does to the rows what the genome says. What comes out is read once and
// taken for exact: the reference knows nothing of where it is from.
func (p *problem) prepare() error {
	g := p.g
	if g.Preparation == Raw {
		return nil
	}
	base := *p
	var src dataset.Source = &base
	var err error
	if g.Preparation == Standardised || g.Preparation == StandardisedMonomials || g.Preparation == StandardisedWaves {
		src, _, err = dataset.Standardize(context.Background(), src)
		if err != nil {
			return err
		}
	}
	var f dataset.Features
	switch g.Preparation {
	case Monomials, StandardisedMonomials:
		f = dataset.Polynomial{Degree: 2}
	case Waves, StandardisedWaves:
		f = dataset.Fourier{Components: g.Components, Gamma: waveGamma(g), Seed: g.Seed}
	}
	if f != nil {
		src, err = f.Apply(src, nil)
		if err != nil {
			return err
		}
	}
	made := *p
	_, made.g.Cols, _ = src.Dims()
	made.x, made.y, made.w, made.stream, made.weights = nil, nil, nil, nil, nil
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			return err
		}
		made.take(b)
	}
	made.source = src
	*p = made
	return nil
}

// waveGamma makes waves about as long as the rows are.
func waveGamma(g Genome) float64 {
	if g.Preparation == StandardisedWaves {
		return 0.5
	}
	return math.Pow(10, math.Max(-300, math.Min(300, -2*g.Top)))
}

// take appends the rows of b.
func (p *problem) take(b dataset.Block) {
	d, t := p.g.Cols, p.g.Targets
	p.g.Sparse = b.Sparse != nil
	for i := range b.N {
		row := make([]float64, d)
		if b.Sparse != nil {
			idx, val := b.Sparse.Row(i)
			for k, j := range idx {
				row[j] = val[k]
			}
		} else {
			copy(row, b.X[i*d:(i+1)*d])
		}
		p.stream = append(p.stream, len(p.x))
		p.x, p.y = append(p.x, row), append(p.y, append([]float64(nil), b.Y[i*t:(i+1)*t]...))
		p.w = append(p.w, 1)
		if b.W != nil {
			p.weights = append(p.weights, b.W[i])
		}
	}
	p.again = p.stream
}

// badInput reports the errors that a preparation documents for bad data.
func badInput(err error) bool {
	_, ok := errors.AsType[*dataset.InputError](err)
	return ok || errors.Is(err, dataset.ErrShape)
}
