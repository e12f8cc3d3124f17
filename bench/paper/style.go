package paper

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A look is how a method is drawn.
type look struct {
	color  color.Color
	marker draw.GlyphDrawer // nil: none
	dashes []vg.Length      // nil: solid
}

// Colours of M. Okabe and K. Ito, "Color Universal Design" (2008), told apart by
// the colour-blind; three of P. Tol beside them.
var (
	black     = color.RGBA{0x00, 0x00, 0x00, 0xff}
	blue      = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	vermilion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green     = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	orange    = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	sky       = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
	pink      = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	purple    = color.RGBA{0x88, 0x2e, 0x9e, 0xff}
	grey      = color.RGBA{0x66, 0x66, 0x66, 0xff}
	lightGrey = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	white     = color.RGBA{0xff, 0xff, 0xff, 0xff}
	olive     = color.RGBA{0x80, 0x7a, 0x1c, 0xff}
)

var (
	shortDash = []vg.Length{2, 2}
	longDash  = []vg.Length{6, 2.5}
)

// styles is the look of every method in every figure. The colour tells the model,
// the marker the sketch: a circle for FD, a square for RFD, a triangle for
// Gaussian, a cross for SJLT, a diamond for Nyström; hollow and broken for
// conjugate gradients. SJLT is broken too, for print without colours.
var styles = map[string]look{
	"Exact": {black, nil, shortDash},

	"FDRR":  {blue, disc, nil},
	"RFDRR": {vermilion, square, nil},
	"FD":    {blue, disc, nil},
	"RFD":   {vermilion, square, nil},

	"Classical:Gaussian": {green, triangle, nil},
	"Classical:SJLT":     {green, cross, longDash},
	"Hessian:Gaussian":   {purple, triangle, nil},
	"Hessian:SJLT":       {purple, cross, longDash},
	"Single:Gaussian":    {olive, triangle, nil},
	"Single:SJLT":        {olive, cross, longDash},
	"IHS:Gaussian":       {sky, triangle, nil},
	"IHS:SJLT":           {sky, cross, longDash},

	"CG:FD":      {blue, hollow(disc), longDash},
	"CG:RFD":     {vermilion, hollow(square), longDash},
	"CG:Nyström": {pink, hollow(diamond), longDash},
	"CG":         {grey, hollow(triangle), longDash},
	"Chebyshev":  {orange, diamond, nil},

	"Gaussian": {green, triangle, nil},
	"SJLT":     {sky, cross, longDash},
	"Nyström":  {pink, diamond, nil},
}
