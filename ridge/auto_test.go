package ridge_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestChooseMethod: d²·n + d³/3 for each γ, but no more than 3d³ for all, is weighed against the
// products and readings of cg and galerkin, and the memory of the latter for one γ. Where there are
// fewer rows than features it is n²·d + n³/3.
func TestChooseMethod(t *testing.T) {
	one := []float64{1}
	many := make([]float64, 100)
	for i := range many {
		many[i] = 1
	}
	for name, c := range map[string]struct {
		n      int64
		d, m   int
		gammas []float64
		want   string
	}{
		"narrow":                            {1e6, 100, 256, one, "exact"},
		"not so narrow":                     {1e6, 5000, 256, one, "exact"},
		"wide":                              {1e6, 9000, 256, one, "exact"},
		"wide and not long":                 {9100, 9000, 32, one, "galerkin"},
		"fewer rows than features":          {3000, 9000, 256, one, "exact"},
		"far fewer":                         {3000, 1e6, 256, one, "exact"},
		"far fewer, many γ":                 {3000, 1e6, 256, many, "exact"},
		"n² does not fit":                   {11586, 1e6, 100, one, "cg"},
		"d² does not fit":                   {1e6, 11586, 100, one, "galerkin"},
		"d² just fits":                      {1e6, 11585, 1000, one, "exact"},
		"nor do many vectors":               {1e6, 55000, 100, one, "cg"},
		"a large sketch":                    {1e6, 12000, 600, one, "cg"},
		"vectors of many γ":                 {1e6, 55000, 100, many, "galerkin"},
		"many γ":                            {1e5, 9000, 256, many, "exact"},
		"three γ":                           {20000, 9000, 256, many[:3], "exact"},
		"four γ":                            {20000, 9000, 256, many[:4], "exact"},
		"many γ, wide":                      {10000, 4096, 256, many[:50], "exact"},
		"many γ, wide and not long":         {9100, 9000, 64, many, "galerkin"},
		"many γ, too few rows for their d³": {3000, 3000, 16, many, "galerkin"},
		"unknown n":                         {-1, 3000, 256, many, "exact"},
		"the default size":                  {1e6, 12000, 0, one, "galerkin"},
		"γ to be chosen":                    {1e6, 1000, 256, nil, "galerkin"},
		"γ to be chosen, few features":      {1e6, 100, 256, nil, "exact"},
		"the same, n unknown":               {-1, 100, 256, nil, "exact"},
		"γ = 0":                             {1000, 3000, 256, []float64{0}, "exact"},
	} {
		if method, reason := ridge.ChooseMethod(c.n, c.d, 1, ridge.Options{Gammas: c.gammas, Size: c.m}); method != c.want || reason == "" {
			t.Errorf("%s: %s (%s), want %s", name, method, reason, c.want)
		}
	}
	// What a direct method may take decides, too, and no more is taken.
	var short *ridge.SizeError
	src := problem(rand.New(rand.NewPCG(1, 12)), "gaussian", 50, 12, 1, 1)
	if _, err := ridge.Fit(t.Context(), src, ridge.Options{Gammas: one, Method: "exact", MaxBytes: 1}); !errors.As(err, &short) {
		t.Fatalf("exact in a byte: %v", err)
	}
	for room, want := range map[uint64]string{0: "exact", short.Bytes: "exact", short.Bytes - 1: "galerkin"} {
		if f := must(ridge.Fit(t.Context(), src, ridge.Options{Gammas: one, Size: 4, MaxBytes: room}))(t); f.Method != want {
			t.Errorf("Fit in %d bytes runs %s (%s), want %s", room, f.Method, f.Reason, want)
		}
	}
	if method, reason := ridge.ChooseMethod(1e6, 5000, 1, ridge.Options{Gammas: one, MaxBytes: 64 << 20}); method == "exact" || !strings.Contains(reason, "MaxBytes") {
		t.Errorf("in 64 MiB: %s (%s)", method, reason)
	}
	if method, reason := ridge.ChooseMethod(1e6, 10, 1, ridge.Options{Method: "newton"}); method != "newton" || reason != "" {
		t.Errorf("asked for newton: %s (%s)", method, reason)
	}
}
