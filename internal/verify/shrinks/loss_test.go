package shrinks

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
)

// Loss checks [spectral.Loss] of r×k rows that are nearly orthonormal, of a kind from 0 to 6.
func Loss(r, k, kind int, seed uint64, out *Report) {
	rng, v := rand.New(rand.NewPCG(seed, 3)), make([]float64, r*k)
	for i := range r {
		row := v[i*k : (i+1)*k]
		switch kind {
		case 0, 1, 2: // reflections of unit vectors
			u := make([]float64, k)
			for j := range u {
				u[j] = []float64{1, rand.New(rand.NewPCG(seed, uint64(j))).NormFloat64(), 1 / float64(j+1)}[kind]
			}
			square := dot(u, u).value()
			for j := range row {
				row[j] = -2 * u[i%k] * u[j] / square
			}
			row[i%k]++
		case 3: // signs
			for j := range row {
				row[j] = sign(i, j) / math.Sqrt(float64(k))
			}
		case 4: // few entries
			row[i%k] = 0.8
			row[(i+r)%k] += 0.6
		case 5: // the largest error of rounding to a grid
			for j := range row {
				row[j] = (math.Round(0x1p26/math.Sqrt(float64(k))) + 0.499) * 0x1p-26
			}
		default: // near to another row
			for j := range row {
				row[j] = rng.NormFloat64() / math.Sqrt(float64(k))
			}
		}
	}
	be, err := engine.Default()
	if err != nil {
		panic(err)
	}
	got := spectral.Loss(be, engine.View(r, k, v), engine.Matrix{}, make([]float64, spectral.Work(r, k)))
	var square float64
	for i := range r {
		for j := range i + 1 {
			x := dot(v[i*k:(i+1)*k], v[j*k:(j+1)*k])
			f := 2.0
			if i == j {
				x, f = x.minus(pair{1, 0}), 1
			}
			square += f * x.value() * x.value()
		}
	}
	out.Problems++
	out.check("loss", fmt.Sprintf("%d×%d, kind %d", r, k, kind), math.Sqrt(square), got+1e-300)
}
