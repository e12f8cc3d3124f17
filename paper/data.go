package paper

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// A realRows holds the prepared rows of a real data set.
type realRows struct {
	dataset.Source
	from string // how the rows were made, for the record
}

// open prepares a real data set. It reads the first Rows rows (default 10,000, as in the published curves),
// standardises columns and target, and maps the columns to Features. The published experiments draw their rows at
// random.
//
// The columns of w8a are centred although they are sparse, because the features are dense anyway, and the published
// experiments centred them. The centred target replaces an intercept: without it, a year near 2000 would dominate the
// fit. Scaling the target does not change a relative error.
//
// Features of up to one gibibyte are computed once and kept in memory. Larger features are computed again in each
// pass.
func (r *run) open(ctx context.Context, name string) (*realRows, error) {
	s := realSets[name]
	found, err := r.locate(s)
	if err != nil {
		return nil, err
	}
	features, described, err := r.features()
	if err != nil {
		return nil, err
	}
	x, y, err := s.read(ctx, found, setting(r, r.Rows, 10000, 1000))
	if err != nil {
		return nil, err
	}
	x, _, err = dataset.Standardize(ctx, x)
	if err != nil {
		return nil, err
	}
	y, _, err = dataset.Standardize(ctx, y)
	if err != nil {
		return nil, err
	}
	x, err = features.Apply(x, r.Backend)
	if err != nil {
		return nil, &SettingError{err.Error()}
	}
	src, err := dataset.Zip(x, y)
	if err != nil {
		return nil, err
	}
	n, d, _ := src.Dims()
	from := fmt.Sprintf(
		"%d rows of %s; %d columns and target standardised, then %s",
		n,
		joined(found),
		s.features,
		described,
	)
	const gibibyte = 1 << 30
	if bytes := 8 * n * int64(d); bytes <= gibibyte {
		from += fmt.Sprintf(", %d MiB in memory", bytes>>20)
		src, err = inMemory(ctx, src)
		if err != nil {
			return nil, err
		}
	}
	return &realRows{src, from}, nil
}

// inMemory reads src into memory in one pass. src must know its number of rows.
func inMemory(ctx context.Context, src dataset.Source) (dataset.Source, error) {
	n, d, t := src.Dims()
	x := make([]float64, 0, n*int64(d))
	y := make([]float64, 0, n*int64(t))
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		x, y = append(x, b.X...), append(y, b.Y...)
	}
	return dataset.FromDense(int(n), d, t, x, y)
}

// features parses Config.Features: "none", or a text for dataset.ParseFeatures. It also returns a description of the
// features. The default seed is the seed of the run.
func (r *run) features() (dataset.Features, string, error) {
	text := r.Features
	switch {
	case text == "none":
		// The monomials of degree 1 are the columns.
		return dataset.Polynomial{Degree: 1}, "no features", nil
	case text == "":
		text = fmt.Sprintf("rff:%d", setting(r, 0, 1024, 256))
	}
	f, err := dataset.ParseFeatures(text)
	if err != nil {
		return nil, "", &SettingError{err.Error()}
	}
	if rff, ok := f.(dataset.Fourier); ok && !strings.Contains(text, "seed=") {
		rff.Seed = r.Seed
		f = rff
	}
	return f, f.String(), nil
}

// read returns the columns and the target of the first rows, in memory; rows = −1 means all rows. If there are
// several files, rows that equal an earlier row are dropped.
func (s *realData) read(
	ctx context.Context,
	files []located,
	rows int64,
) (x, y dataset.Source, err error) {
	var xs, ys []float64
	seen := map[string]bool{}
read:
	for _, f := range files {
		opened, err := file.Open([]string{f.path}, file.Options{
			Format:   s.format,
			Target:   s.target,
			Targets:  1,
			Features: s.features,
		})
		if err != nil {
			return nil, nil, err
		}
		_, d, _ := opened.Dims()
		if d != s.features {
			return nil, nil, &dataset.InputError{
				File: f.path,
				Msg:  fmt.Sprintf("has %d features, but %s has %d", d, s.name, s.features),
			}
		}
		// The monomials of degree 1 are the rows as dense numbers.
		dense, err := dataset.Polynomial{Degree: 1}.Apply(opened, nil)
		if err != nil {
			return nil, nil, err
		}
		for b, err := range dense.Blocks(ctx) {
			if err != nil {
				return nil, nil, err
			}
			for i := 0; i < b.N && int64(len(ys)) != rows; i++ {
				row := b.X[i*d : (i+1)*d]
				if len(files) > 1 {
					var key []byte
					for _, v := range append(row[:d:d], b.Y[i]) {
						key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
					}
					if seen[string(key)] {
						continue
					}
					seen[string(key)] = true
				}
				xs = append(xs, row...)
				ys = append(ys, b.Y[i])
			}
			if int64(len(ys)) == rows {
				break read
			}
		}
	}
	x, err = dataset.FromDense(len(ys), s.features, 0, xs, nil)
	if err != nil {
		return nil, nil, err
	}
	y, err = dataset.FromDense(len(ys), 1, 0, ys, nil)
	return x, y, err
}
