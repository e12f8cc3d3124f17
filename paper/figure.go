package paper

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/chart"
)

// A figure is a grid of panels with one legend, and a table of its numbers.
type figure struct {
	Number   int
	Title    string
	Columns  int            // panels per row
	Settings map[string]any // the settings used, for the record
	Panels   []chart.Panel
	Table    table
}

// A table holds rows of values, one for each column. A value is a string, a number or a bool.
type table struct {
	Columns []string
	Rows    [][]any
}

// styles is the look of every method in all figures. The colour shows the model. The marker shows the sketch: a
// circle for FD, a square for RFD, a triangle for Gaussian, a cross for SJLT, a diamond for Nyström. Conjugate
// gradients are hollow and dashed. SJLT is also dashed, for prints without colours.
var styles = map[string]chart.Look{
	"Exact": {Color: chart.Black, Dashes: chart.ShortDash},

	"FDRR":  {Color: chart.Blue, Marker: chart.Disc},
	"RFDRR": {Color: chart.Vermilion, Marker: chart.Square},
	"FD":    {Color: chart.Blue, Marker: chart.Disc},
	"RFD":   {Color: chart.Vermilion, Marker: chart.Square},

	"Classical:Gaussian": {Color: chart.Green, Marker: chart.Triangle},
	"Classical:SJLT":     {Color: chart.Green, Marker: chart.Cross, Dashes: chart.LongDash},
	"Hessian:Gaussian":   {Color: chart.Purple, Marker: chart.Triangle},
	"Hessian:SJLT":       {Color: chart.Purple, Marker: chart.Cross, Dashes: chart.LongDash},
	"Single:Gaussian":    {Color: chart.Olive, Marker: chart.Triangle},
	"Single:SJLT":        {Color: chart.Olive, Marker: chart.Cross, Dashes: chart.LongDash},
	"IHS:Gaussian":       {Color: chart.Sky, Marker: chart.Triangle},
	"IHS:SJLT":           {Color: chart.Sky, Marker: chart.Cross, Dashes: chart.LongDash},

	"CG:FD":      {Color: chart.Blue, Marker: chart.Hollow(chart.Disc), Dashes: chart.LongDash},
	"CG:RFD":     {Color: chart.Vermilion, Marker: chart.Hollow(chart.Square), Dashes: chart.LongDash},
	"CG:Nyström": {Color: chart.Pink, Marker: chart.Hollow(chart.Diamond), Dashes: chart.LongDash},
	"CG":         {Color: chart.Grey, Marker: chart.Hollow(chart.Triangle), Dashes: chart.LongDash},

	"Gaussian": {Color: chart.Green, Marker: chart.Triangle},
	"SJLT":     {Color: chart.Sky, Marker: chart.Cross, Dashes: chart.LongDash},
	"Nyström":  {Color: chart.Pink, Marker: chart.Diamond},
}

// power formats a power of two such as 2⁻⁴, and any other number in digits.
func power(x float64) string {
	if frac, e := math.Frexp(x); frac == 0.5 {
		switch e--; e {
		case 0:
			return "1"
		case 1:
			return "2"
		}
		return "2" + chart.Superscript(e)
	}
	return fmt.Sprintf("%.4g", x)
}

// span formats the range of several numbers.
func span(x ...float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	if a, b := chart.Short(lo), chart.Short(hi); a != b {
		return a + " to " + b
	}
	return chart.Short(lo)
}
