package arrow

import (
	"bytes"
	"math"

	"github.com/fdridge/fdridge/dataset/prepare"
)

// putCodes writes a column of categories: for each of the next n rows, the code of its category. The code is NaN
// for an empty text or a null. Codes of features are written to x, codes of targets to y. putCodes reports whether
// all codes are finite.
func (r *reader) putCodes(p *part, x, y []float64, n int) bool {
	a := r.batch.columns[p.fields[0]]
	values := r.tile[:n]
	at := p.js[0]
	isText := a.of.isText()
	unit := a.of.perSecond
	if !isText && unit == 0 {
		fill(values, a, r.at)
	}
	finite := true
	for i := range n {
		code := math.NaN()
		ok := true
		why := prepare.TooManyLevels
		switch {
		case a.isNull(r.at + i):
		case unit != 0:
			code = p.lexicon.Date(a.integer(a.of, r.at+i), unit)
		case !isText:
			if v := values[i]; v-v == 0 {
				code, ok = p.lexicon.Number(v)
			} else if v == v { // a NaN is a missing value, whatever its bits
				code = v
			}
		default:
			if s := bytes.TrimSpace(a.text(r.at + i)); len(s) > 0 {
				code, ok = p.lexicon.Code(s)
				if !ok {
					why = p.lexicon.Refusal(string(s))
				}
			}
		}
		if !ok {
			r.failed, r.why = at, why
			return false
		}
		if to := r.To[at]; to < r.Features {
			x[i*r.Features+to] = code
		} else {
			y[i*r.Targets+to-r.Features] = code
		}
		finite = finite && code-code == 0
	}
	return finite
}

// fillNulls writes NaN for each null in the next n rows, to the features x or the targets y. It returns true if
// there was no null.
func (r *reader) fillNulls(x, y []float64, n int) (none bool) {
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
		if p.left {
			continue
		}
		for k, f := range p.fields {
			a := r.batch.columns[f]
			if p.width == 0 {
				for row := firstNull(a, r.at, n) - r.at; row >= 0 && row < n; row++ {
					if a.isNull(r.at + row) {
						put(row, p.js[k])
					}
				}
				continue
			}
			if values := valuesOf(a); values.valid != nil || a.valid != nil {
				for row := range n {
					for item, j := range p.js {
						if r.To[j] >= 0 &&
							(a.isNull(r.at+row) || values.isNull((r.at+row)*p.width+item)) {
							put(row, j)
						}
					}
				}
			}
		}
	}
	return none
}
