package paper

import "github.com/fdridge/fdridge/internal/chart"

// styles is the look of every method in every figure. The colour tells the model,
// the marker the sketch: a circle for FD, a square for RFD, a triangle for
// Gaussian, a cross for SJLT, a diamond for Nyström; hollow and broken for
// conjugate gradients. SJLT is broken too, for print without colours.
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
