package adversary

import (
	"math"
	"reflect"
)

// Smaller returns a genome with as many genes as possible zero, small or round. Like g, the genome satisfies holds.
func Smaller(g Genome, holds func(Genome) bool) Genome {
	for changed := true; changed; {
		changed = false
		for i := range reflect.TypeFor[Genome]().NumField() {
			for _, value := range simpler(reflect.ValueOf(g).Field(i)) {
				try := g
				reflect.ValueOf(&try).Elem().Field(i).Set(value)
				try = try.clip()
				if try.Block < 1 || try == g || size(try) >= size(g) || !holds(try) {
					continue
				}
				g, changed = try, true
				break
			}
		}
	}
	return g
}

// simpler are values to take the place of v, the simplest first.
func simpler(v reflect.Value) []reflect.Value {
	var out []reflect.Value
	add := func(x any) { out = append(out, reflect.ValueOf(x).Convert(v.Type())) }
	switch {
	case v.IsZero():
	case v.CanInt():
		for _, x := range []int64{0, 1, 2, 3, v.Int() / 2, v.Int() * 3 / 4, v.Int() - 1} {
			if x < v.Int() {
				add(x)
			}
		}
	case v.CanUint():
		for x := range uint64(8) {
			add(x)
		}
	case v.CanFloat():
		for _, x := range []float64{
			0, -20, 1, math.Round(v.Float()/10) * 10, math.Round(v.Float()), math.Round(10*v.Float()) / 10,
		} {
			add(x)
		}
	default:
		out = append(out, reflect.Zero(v.Type()))
	}
	return out
}

// size is how much there is to say of g: characters, and what its counts come to.
func size(g Genome) float64 {
	work := math.Log(float64(g.Rows*g.Repeat*g.cycles())) + float64(g.Cols+g.Targets+g.Parts+g.Decays)
	return float64(len(g.String())) + 3*work
}
