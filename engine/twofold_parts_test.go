package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
)

// TestGradientTwofoldParts compares calls without X or without G to calls with zeros, bit for bit.
func TestGradientTwofoldParts(t *testing.T) {
	const d, q = 70, 3
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(rows, cols int) engine.Matrix {
		m := zeros(rows, cols)
		for i := range m.Data {
			m.Data[i] = rng.NormFloat64()
		}
		return m
	}
	twofold := func(rows, cols int) engine.Twofold {
		return engine.Twofold{Hi: zeros(rows, cols), Lo: zeros(rows, cols), Err: zeros(rows, cols)}
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, n := range []int{1, 7, 300} {
			a, x, b := normal(n, d), normal(q, d), normal(n, q)
			s := engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}, Val: a.Data}
			for range n {
				for j := range d {
					s.ColIdx = append(s.ColIdx, int32(j))
				}
				s.RowPtr = append(s.RowPtr, len(s.ColIdx))
			}
			for name, compute := range map[string]func(x, b engine.Matrix, c, w []float64, g, r engine.Twofold){
				"dense": func(x, b engine.Matrix, c, w []float64, g, r engine.Twofold) {
					be.GradientTwofold(a, x, b, c, w, g, r)
				},
				"sparse": s.GradientTwofold,
			} {
				g, r := twofold(q, d), twofold(n, q)
				compute(x, b, nil, nil, g, r)
				without := twofold(n, q)
				compute(x, b, nil, nil, engine.Twofold{}, without)
				sameTwofold(t, name+", R without G", r, without)

				g, r = twofold(q, d), twofold(n, q)
				compute(zeros(q, d), b, nil, nil, g, r)
				without = twofold(q, d)
				compute(engine.Matrix{Rows: q}, b, nil, nil, without, r)
				sameTwofold(t, name+", G without X", g, without)
				for i, v := range b.Data {
					if r.Hi.Data[i] != -v || r.Lo.Data[i] != 0 {
						t.Errorf("%s: R without X is %g + %g, want %g", name, r.Hi.Data[i], r.Lo.Data[i], -v)
					}
				}
			}
		}
	})
}

func zeros(rows, cols int) engine.Matrix {
	return engine.View(rows, cols, make([]float64, rows*cols))
}

func sameTwofold(t *testing.T, what string, want, got engine.Twofold) {
	t.Helper()
	for _, m := range [][2]engine.Matrix{{want.Hi, got.Hi}, {want.Lo, got.Lo}, {want.Err, got.Err}} {
		if !slices.Equal(m[0].Data, m[1].Data) {
			t.Errorf("%s: other bits", what)
		}
	}
}
