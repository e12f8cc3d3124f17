package dataset

import (
	"math"
	"math/rand/v2"
)

// layers holds the tables of the ziggurat method for normal random numbers. It covers the right half of the normal
// density by 128 layers of equal area (G. Marsaglia, W. W. Tsang, "The ziggurat method for generating random
// variables", J. Stat. Software 5(8), 2000). The tables are float32, so that different rounding of math.Exp and
// math.Log on other machines does not change them.
type layers struct {
	inside [128]uint32  // a point below inside·2⁻³¹ of the width lies under the density
	width  [128]float32 // width of the layer times 2⁻³¹
	height [128]float32 // density at the right end of the layer
}

// The lowest layer consists of a box from 0 to tailBegins, and of the tail of the normal density beyond tailBegins.
// layerArea is the area of each layer.
const (
	tailBegins = 3.442619855899
	layerArea  = 9.91256303526217e-3
)

var ziggurat = makeLayers()

func makeLayers() *layers {
	density := func(x float64) float64 { return math.Exp(-0.5 * x * x) }
	var z layers
	// edge[i] is the right end of layer i, counted from the top. edge[128] is the width of a box that has the
	// height and the area of the lowest layer.
	var edge [129]float64
	edge[127], edge[128] = tailBegins, layerArea/density(tailBegins)
	for i := 126; i > 0; i-- {
		edge[i] = math.Sqrt(-2 * math.Log(layerArea/edge[i+1]+density(edge[i+1])))
	}
	for i := range z.inside {
		at := i
		if i == 0 {
			at = 128
		}
		z.inside[i] = uint32(edge[at-1] / edge[at] * (1 << 31))
		z.width[i] = float32(edge[at] / (1 << 31))
		z.height[i] = float32(density(edge[i]))
	}
	return &z
}

// normal draws a random number from the standard normal distribution. Saved models depend on the numbers drawn, see
// docs/model.md. So normal is a copy of rand.Rand.NormFloat64, which may change. The conversions of products to
// float64 prevent fused multiply-adds, which would round differently.
func (z *layers) normal(rng *rand.Rand) float64 {
	for {
		word := rng.Uint64()
		j := int32(word)
		i := word >> 32 & 127
		x := float64(j) * float64(z.width[i])
		if uint32(max(j, -j)) < z.inside[i] { // for j = −2³¹ both are −2³¹, which converts to 2³¹
			return x
		}
		if i == 0 {
			return math.Copysign(tailBegins+tail(rng), float64(j))
		}
		between := float32(float32(rng.Float64()) * (z.height[i-1] - z.height[i]))
		if z.height[i]+between < float32(math.Exp(-0.5*x*x)) {
			return x
		}
	}
}

// tail draws a number from the tail, minus tailBegins.
func tail(rng *rand.Rand) float64 {
	for {
		x := float64(-math.Log(rng.Float64()) * (1.0 / tailBegins))
		y := -math.Log(rng.Float64())
		if y+y >= float64(x*x) {
			return x
		}
	}
}
