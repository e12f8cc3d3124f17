package dataset

import (
	"math"
	"math/rand/v2"
)

// layers are the 128 layers that the right half of a normal density lies under, all of the same
// area, by G. Marsaglia and W. W. Tsang, "The ziggurat method for generating random variables",
// J. Stat. Software 5(8), 2000. They are of float32, and so the same on every machine: what
// math.Exp and math.Log may round in another way is rounded away.
type layers struct {
	inside [128]uint32  // below this, of 2³¹, a point of the layer is under the density
	width  [128]float32 // of the layer, by 2⁻³¹
	height [128]float32 // of the density at the right end of the layer
}

// Where the tail begins, and the area of each layer; the lowest has the tail with it.
const (
	tailBegins = 3.442619855899
	layerArea  = 9.91256303526217e-3
)

var ziggurat = makeLayers()

func makeLayers() *layers {
	density := func(x float64) float64 { return math.Exp(-0.5 * x * x) }
	var z layers
	var edge [129]float64 // right ends of the layers, from the top; of the lowest that of a box of its area
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

// normal draws a number of the standard normal distribution, as rand.Rand.NormFloat64 does, written out so that they are part of what a saved model means, and that no machine joins a
// product and a sum, which might take another number for the next. docs/model.md has it for other
// languages.
func (z *layers) normal(rng *rand.Rand) float64 {
	for {
		word := rng.Uint64()
		j, i := int32(word), word>>32&127
		x := float64(j) * float64(z.width[i])
		if uint32(max(j, -j)) < z.inside[i] { // of −2³¹, which has no opposite, 2³¹
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

// tail draws how far beyond its beginning a number of the tail is.
func tail(rng *rand.Rand) float64 {
	for {
		x := float64(-math.Log(rng.Float64()) * (1.0 / tailBegins))
		if y := -math.Log(rng.Float64()); y+y >= float64(x*x) {
			return x
		}
	}
}
