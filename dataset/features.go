package dataset

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Features describes how new features of a row are computed from its features. [Fourier] and [Polynomial] implement
// it.
type Features interface {
	// Apply returns a source whose rows have the new features. It computes with the backend be, or with
	// engine.Default() if be is nil.
	Apply(src Source, be engine.Backend) (Source, error)
	// String returns the text that ParseFeatures reads.
	String() string
}

// CountFeatures returns the number of features that f computes from d features. The error is the same as from the
// method Apply. CountFeatures reads no rows and allocates no large memory.
func CountFeatures(f Features, d int) (int, error) {
	switch f := f.(type) {
	case Fourier:
		return f.Components, f.check(d)
	case Polynomial:
		return f.columns(d)
	}
	return 0, newSourceError("features of an unknown kind")
}

// String returns rff:D,gamma=G,seed=S.
func (f Fourier) String() string {
	return fmt.Sprintf("rff:%d,gamma=%v,seed=%d", f.Components, f.Gamma, f.Seed)
}

// String returns poly:K.
func (p Polynomial) String() string { return fmt.Sprintf("poly:%d", p.Degree) }

// ParseFeatures parses the text that describes features. "rff:D,gamma=G,seed=S" means D random features of
// [Fourier], with Gamma G and Seed S. The defaults are gamma 1 and seed 0. "poly:K" means the [Polynomial] features
// of degree K.
func ParseFeatures(text string) (Features, error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "rff":
		return parseFourier(rest)
	case "poly":
		degree, err := strconv.Atoi(rest)
		if err != nil || degree < 1 {
			return nil, errtext.BadInput(
				"dataset: features %q: the degree is %q; it must be a positive integer",
				errtext.Excerpt(text),
				errtext.Excerpt(rest),
			)
		}
		return Polynomial{Degree: degree}, nil
	}
	return nil, errtext.BadInput("dataset: features %q must be rff:D,gamma=G,seed=S or poly:K", errtext.Excerpt(text))
}

// parseFourier parses D,gamma=G,seed=S.
func parseFourier(text string) (Features, error) {
	components, rest, more := strings.Cut(text, ",")
	d, err := strconv.Atoi(components)
	if err != nil || d < 1 || d > 1<<24 {
		return nil, errtext.BadInput(
			"dataset: the number of Fourier features is %q; it must be 1 to %d",
			errtext.Excerpt(components),
			1<<24,
		)
	}
	f := Fourier{Components: d, Gamma: 1}
	seen := map[string]bool{}
	for more {
		var part string
		part, rest, more = strings.Cut(rest, ",")
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return nil, errtext.BadInput(
				"dataset: features rff:%s give %s twice", errtext.Excerpt(text), errtext.Excerpt(key),
			)
		}
		seen[key] = true
		switch key {
		case "gamma":
			f.Gamma, err = strconv.ParseFloat(value, 64)
			if err != nil || !(f.Gamma > 0) || math.IsInf(f.Gamma, 0) {
				return nil, errtext.BadInput(
					"dataset: features rff:%s: gamma is %q; it must be a positive number",
					errtext.Excerpt(text),
					errtext.Excerpt(value),
				)
			}
		case "seed":
			f.Seed, err = strconv.ParseUint(value, 10, 64)
			if err != nil {
				return nil, errtext.BadInput(
					"dataset: features rff:%s: seed is %q; it must be an integer >= 0",
					errtext.Excerpt(text),
					errtext.Excerpt(value),
				)
			}
		default:
			return nil, errtext.BadInput(
				"dataset: features rff:%s: unknown setting %q; the settings are gamma=G and seed=S",
				errtext.Excerpt(text),
				errtext.Excerpt(part),
			)
		}
	}
	return f, nil
}
