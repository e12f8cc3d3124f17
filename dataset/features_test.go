package dataset_test

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

func TestParseFeatures(t *testing.T) {
	for text, want := range map[string]dataset.Features{
		"rff:8":                     dataset.Fourier{Components: 8, Gamma: 1},
		"rff:8,gamma=0.25":          dataset.Fourier{Components: 8, Gamma: 0.25},
		"rff:16777216,seed=7":       dataset.Fourier{Components: 1 << 24, Gamma: 1, Seed: 7},
		"rff:1,seed=7,gamma=1e-300": dataset.Fourier{Components: 1, Gamma: 1e-300, Seed: 7},
		"poly:1":                    dataset.Polynomial{Degree: 1},
		"poly:12":                   dataset.Polynomial{Degree: 12},
	} {
		got, err := dataset.ParseFeatures(text)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
			continue
		}
		if again, err := dataset.ParseFeatures(got.String()); err != nil || again != got {
			t.Errorf("%s is written %s and read as %v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{
		"", "rff", "rff:", "rff:0", "rff:-1", "rff:1.5", "rff:16777217", "rff:8,", "rff:8,gamma", "rff:8,gamma=", "rff:8,gamma=0", "rff:8,gamma=-1",
		"rff:8,gamma=NaN", "rff:8,gamma=Inf", "rff:8,seed=-1", "rff:8,seed=1.5", "rff:8,seed=1,seed=1", "rff:8,width=3", "RFF:8",
		"poly", "poly:", "poly:0", "poly:-2", "poly:x", "poly:2,3", "spline:3",
	} {
		if f, err := dataset.ParseFeatures(text); err == nil {
			t.Errorf("%q was read as %v", text, f)
		}
	}
}
