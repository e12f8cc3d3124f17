package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Look is how a line is drawn.
type Look struct {
	Color  color.Color
	Marker draw.GlyphDrawer // nil: none
	Dashes []vg.Length      // nil: solid
}

// Colours of M. Okabe and K. Ito, "Color Universal Design" (2008), told apart by
// the colour-blind; three of P. Tol beside them.
var (
	Black     = color.RGBA{0x00, 0x00, 0x00, 0xff}
	Blue      = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	Vermilion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	Green     = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	Orange    = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	Sky       = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
	Pink      = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	Purple    = color.RGBA{0x88, 0x2e, 0x9e, 0xff}
	Grey      = color.RGBA{0x66, 0x66, 0x66, 0xff}
	lightGrey = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	white     = color.RGBA{0xff, 0xff, 0xff, 0xff}
	Olive     = color.RGBA{0x80, 0x7a, 0x1c, 0xff}
)

// Dashes.
var (
	ShortDash = []vg.Length{2, 2}
	LongDash  = []vg.Length{6, 2.5}
)

// faint is a colour for an area.
func faint(c color.Color) color.Color {
	solid := color.NRGBAModel.Convert(c).(color.NRGBA)
	solid.A = 0x38
	return solid
}
