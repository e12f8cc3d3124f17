package arrow

import (
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/fdridge/fdridge/dataset/internal/columns"
)

// putCodes is put for a categorical column: the codes of its texts, or of its numbers, and NaN for an
// empty text. What is null is seen to by gaps, or was refused.
func (r *reader) putCodes(p *part, x []float64, n int) bool {
	a := r.batch.Column(p.fields[0])
	values, at := r.tile[:n], p.js[0]
	text := textOf(a)
	if text == nil {
		fill(values, a, r.at)
	}
	finite := true
	for i := range n {
		code, ok, why := math.NaN(), true, columns.TooManyLevels
		switch {
		case a.IsNull(r.at + i):
		case text == nil:
			if code = values[i]; code-code == 0 {
				code, ok = p.lexicon.Number(code)
			}
		default:
			if s := strings.TrimSpace(text(r.at + i)); s != "" {
				if code, ok = p.lexicon.CodeOf(s); !ok {
					why = columns.NoCode(s)
				}
			}
		}
		if !ok {
			r.full, r.why = at, why
			return false
		}
		x[i*r.Features+r.To[at]] = code
		finite = finite && code-code == 0
	}
	return finite
}

// textOf returns what gives the texts of an array, by place, nil for one of numbers.
func textOf(a arrow.Array) func(i int) string {
	switch a := a.(type) {
	case *array.String:
		return a.Value
	case *array.LargeString:
		return a.Value
	case *array.StringView:
		return a.Value
	case *array.Dictionary:
		of := textOf(a.Dictionary())
		return func(i int) string { return of(a.GetValueIndex(i)) }
	}
	return nil
}

// gaps puts NaN where a number is null, in the next n rows, and reports whether there was none.
func (r *reader) gaps(x, y []float64, n int) (none bool) {
	none = true
	put := func(row, j int) {
		none = false
		if to := r.To[j]; to < r.Features {
			x[row*r.Features+to] = math.NaN()
		} else {
			y[row*r.Targets+to-r.Features] = math.NaN()
		}
	}
	for i := range r.parts {
		p := &r.parts[i]
		for k, f := range p.fields {
			a := r.batch.Column(f)
			if p.width == 0 {
				for row := firstNull(a, r.at, n) - r.at; row >= 0 && row < n; row++ {
					if a.IsNull(r.at + row) {
						put(row, p.js[k])
					}
				}
				continue
			}
			if values := valuesOf(a); values.NullN() != 0 {
				for row := range n {
					for item, j := range p.js {
						if r.To[j] >= 0 && values.IsNull((r.at+row)*p.width+item) {
							put(row, j)
						}
					}
				}
			}
		}
	}
	return none
}
