package certify

import "github.com/fdridge/fdridge/ridge/internal/roundoff"

// Attainable bounds the relative error that is certified, but for the round-off of a gradient, of
// weights that are x* rounded to float64. They are off by no more than u‖x*‖, u = 2⁻⁵³, and what Error
// makes of a distance is at most
//
//	(1 + ρ‖H⁻¹‖)(1 + ρ/(γ+ρ))
//
// times as much (docs/math.md §6). A tolerance above it is not out of reach of weights in float64;
// one below may be.
func (a At) Attainable() float64 {
	off := a.bound.RFD()
	return roundoff.Unit * (1 + off*a.inverse()) * (1 + off/(a.Gamma+a.bound.Shift()+a.eigen.Rest))
}
