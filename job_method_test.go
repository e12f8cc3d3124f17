package fdridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// TestChooseMethod: the choice compares the work of a factorisation with the work and memory of cg and galerkin. A
// factorisation takes d²·n flops, and d³/3 for each γ, but at most 3d³ for all γ. If there are fewer rows than
// features, it takes n²·d + n³/3.
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
		want   ridge.Method
	}{
		"narrow":                            {1e6, 100, 256, one, ridge.Exact},
		"not so narrow":                     {1e6, 5000, 256, one, ridge.Exact},
		"wide":                              {1e6, 9000, 256, one, ridge.Exact},
		"wide and not long":                 {9100, 9000, 32, one, ridge.Galerkin},
		"fewer rows than features":          {3000, 9000, 256, one, ridge.Exact},
		"far fewer":                         {3000, 1e6, 256, one, ridge.Exact},
		"far fewer, many γ":                 {3000, 1e6, 256, many, ridge.Exact},
		"n² does not fit":                   {11586, 1e6, 100, one, ridge.CG},
		"d² does not fit":                   {1e6, 11586, 100, one, ridge.Galerkin},
		"d² just fits":                      {1e6, 11585, 1000, one, ridge.Exact},
		"nor do many vectors":               {1e6, 55000, 100, one, ridge.CG},
		"a large sketch":                    {1e6, 12000, 600, one, ridge.CG},
		"vectors of many γ":                 {1e6, 55000, 100, many, ridge.Galerkin},
		"many γ":                            {1e5, 9000, 256, many, ridge.Exact},
		"three γ":                           {20000, 9000, 256, many[:3], ridge.Exact},
		"four γ":                            {20000, 9000, 256, many[:4], ridge.Exact},
		"many γ, wide":                      {10000, 4096, 256, many[:50], ridge.Exact},
		"many γ, wide and not long":         {9100, 9000, 64, many, ridge.Galerkin},
		"many γ, too few rows for their d³": {3000, 3000, 16, many, ridge.Galerkin},
		"unknown n":                         {-1, 3000, 256, many, ridge.Exact},
		"the default size":                  {1e6, 12000, plan.DefaultSize, one, ridge.Galerkin},
		"γ to be chosen":                    {1e6, 1000, 256, nil, ridge.Exact},
		"γ to be chosen, few features":      {1e6, 100, 256, nil, ridge.Exact},
		"the same, n unknown":               {-1, 100, 256, nil, ridge.Exact},
		"γ = 0":                             {1000, 3000, 256, []float64{0}, ridge.Exact},
	} {
		p := plan.Problem{
			Rows:     c.n,
			Dim:      c.d,
			Targets:  1,
			Gammas:   c.gammas,
			Grid:     choose.GridSize,
			Size:     c.m,
			MaxBytes: ridge.DefaultMaxBytes,
		}
		if got := plan.Choose(p); got.Method != c.want || got.Reason.Rule == reason.Asked {
			t.Errorf("%s: %s (%v), want %s", name, got.Method, got.Reason, c.want)
		}
	}
	// What a direct method may take decides, too, and no more is taken.
	var short *ridge.SizeError
	src := testkit.Problem(rand.New(rand.NewPCG(1, 12)), "gaussian", 50, 12, 1, 1)
	_, err := fdridge.Fit(
		t.Context(),
		src,
		fdridge.Options{NoIntercept: true, Gammas: one, Method: ridge.Exact, MaxBytes: 1},
	)
	if !errors.As(err, &short) {
		t.Fatalf("exact in a byte: %v", err)
	}
	for room, want := range map[uint64]ridge.Method{
		0:               ridge.Exact,
		short.Bytes:     ridge.Exact,
		short.Bytes - 1: ridge.Galerkin,
	} {
		f := testkit.Must(
			fdridge.Fit(t.Context(), src, fdridge.Options{NoIntercept: true, Gammas: one, Size: 4, MaxBytes: room}),
		)(
			t,
		)
		if f.Method != want {
			t.Errorf("Fit in %d bytes runs %s (%v), want %s", room, f.Method, f.Reason(), want)
		}
	}
	if got := plan.Choose(
		plan.Problem{Rows: 1e6, Dim: 5000, Targets: 1, Gammas: one, Size: 256, MaxBytes: 64 << 20},
	); got.Method == ridge.Exact ||
		got.Reason.Rule != reason.MemoryTooSmall {
		t.Errorf("in 64 MiB: %s (%v)", got.Method, got.Reason)
	}
	if got := plan.Choose(
		plan.Problem{Method: ridge.Newton, Rows: 1e6, Dim: 10, Targets: 1, Size: 256, MaxBytes: ridge.DefaultMaxBytes},
	); got.Method != ridge.Newton ||
		got.Reason.Rule != reason.Asked {
		t.Errorf("asked for newton: %s (%v)", got.Method, got.Reason)
	}
}
