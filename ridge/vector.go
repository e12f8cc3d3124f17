package ridge

import "gonum.org/v1/gonum/floats"

func axpy(a float64, x, y []float64) { floats.AddScaled(y, a, x) }
func scale(a float64, x []float64)   { floats.Scale(a, x) }
func dot(x, y []float64) float64     { return floats.Dot(x, y) }
func norm(x []float64) float64       { return floats.Norm(x, 2) }
