package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// looks maps the kinds of lines and marks in the charts to their styles.
var looks = map[string]chart.Look{
	"bracket":   {Color: chart.Blue},
	"chosen":    {Color: chart.Vermilion, Dashes: chart.LongDash},
	"possible":  {Color: chart.Orange},
	"spectrum":  {Color: chart.Blue, Marker: chart.Disc},
	"shrinkage": {Color: chart.Vermilion, Dashes: chart.LongDash},
	"gamma":     {Color: chart.Green, Dashes: chart.ShortDash},
	"tolerance": {Color: chart.Grey, Dashes: chart.ShortDash},
	"between":   {Color: chart.Grey},
	"held out":  {Color: chart.Blue, Marker: chart.Disc},
	"exactly":   {Color: chart.Vermilion, Dashes: chart.LongDash},
	"row":       {Color: chart.Blue, Marker: chart.Disc},
	"worst row": {Color: chart.Vermilion, Marker: chart.Square},

	"trace 0": {Color: chart.Blue, Marker: chart.Disc},
	"trace 1": {Color: chart.Vermilion, Marker: chart.Square},
	"trace 2": {Color: chart.Green, Marker: chart.Triangle},
	"trace 3": {Color: chart.Purple, Marker: chart.Diamond},
	"trace 4": {Color: chart.Sky, Marker: chart.Hollow(chart.Disc)},
	"trace 5": {Color: chart.Olive, Marker: chart.Hollow(chart.Square)},
}

// fewPoints is the maximum number of points of a line with markers. A line with more points has no markers.
const fewPoints = 25

// A captioned is a panel with a caption. The HTML page shows the caption below the panel, and fdridge plot omits
// it.
type captioned struct {
	chart.Panel
	caption string
}

// panels returns panels that show the scores, the training error and the effective dimension. The horizontal axis
// of each is the penalty γ.
func (p *gammaPath) panels() []captioned {
	of := ""
	if p.targets > 1 {
		of = fmt.Sprintf(", sum of %d targets", p.targets)
	}
	var out []captioned
	add := func(values []ridge.Interval, title, y string, logY bool, caption string) {
		panel := chart.Panel{
			Title: title,
			X:     "γ",
			Y:     y,
			LogX:  10,
			LogY:  logY,
		}
		p.drawBrackets(&panel, values)
		out = append(out, captioned{panel, caption})
	}
	if p.scores != nil {
		by := criterionOf(p.by)
		ofScores := of
		if by.IsErrorRate() {
			ofScores = ""
		}
		words := by.Words()
		add(
			p.scores,
			words.Score+ofScores,
			words.Axis,
			!by.IsErrorRate() && !by.IsLogarithm(),
			words.Caption,
		)
	}
	add(
		p.gcv,
		"GCV"+of,
		"n·RSS / (n − df)²",
		true,
		"The band is the proved bracket at each γ. It continues beyond the picture.",
	)
	add(p.rss, "training error"+of, "RSS, sum of squared residuals", true, "On the training rows.")
	add(
		p.dim,
		"effective dimension",
		"df, degrees of freedom",
		false,
		"The number of free parameters under the penalty.",
	)
	return out
}

// drawBrackets adds to the panel an interval at each penalty γ. If γ was chosen, it also marks the chosen γ and
// the range of γ that may be the best.
func (p *gammaPath) drawBrackets(panel *chart.Panel, values []ridge.Interval) {
	if panel.LogY {
		panel.YMin, panel.YMax = window(values)
	}
	line := chart.Line{Method: "bracket", Label: "proved bracket", X: p.gamma}
	for _, v := range values {
		line.Y = append(line.Y, clampToAxis(v.Lo, panel))
		line.High = append(line.High, clampToAxis(v.Hi, panel))
	}
	panel.Lines = []chart.Line{line}
	if c := p.choice; c != nil {
		if lo, hi := float64(c.Possible[0]), float64(c.Possible[1]); lo < hi {
			panel.Marks = append(panel.Marks, chart.Mark{
				Method: "possible",
				Lo:     lo,
				Hi:     hi,
				Label:  "possible best γ",
			})
		}
		gamma := float64(c.Gamma)
		panel.Marks = append(panel.Marks, chart.Mark{
			Method: "chosen",
			Lo:     gamma,
			Hi:     gamma,
			Label:  "chosen γ",
		})
	}
}

// window returns the ends of a logarithmic axis for the given intervals. The axis shows at least a part of each
// interval. It may cut intervals whose ends differ by more than a factor of 1000. If no end of an interval is
// positive and finite, window returns 0, 0.
func window(values []ridge.Interval) (lo, hi float64) {
	leastLo := math.Inf(1)
	mostLo := 0.0
	leastHi := math.Inf(1)
	mostHi := 0.0
	for _, v := range values {
		if v.Lo > leastShown && !math.IsInf(v.Lo, 1) {
			leastLo, mostLo = min(leastLo, v.Lo), max(mostLo, v.Lo)
		}
		if v.Hi > leastShown && !math.IsInf(v.Hi, 1) {
			leastHi, mostHi = min(leastHi, v.Hi), max(mostHi, v.Hi)
		}
	}
	const beyond, room = 1e3, 1.1
	switch {
	case mostLo == 0 && mostHi == 0:
		return 0, 0
	case mostLo == 0:
		leastLo, mostLo = leastHi/beyond, mostHi
	case mostHi == 0:
		leastHi, mostHi = leastLo, mostLo*beyond
	}
	from := max(leastLo, leastHi/beyond)
	to := max(leastHi, min(mostHi, mostLo*beyond))
	return from / room, min(to*room, math.MaxFloat64)
}

// leastShown is the smallest value shown on a logarithmic axis. Smaller ends of intervals count as zero, because
// outward rounding turns zero into a tiny number.
const leastShown = 0x1p-1000

// clampToAxis moves a value far outside the axis to a point just beyond the nearer end of the axis. On a
// logarithmic axis a value up to leastShown counts as 0. If the range of the axis is automatic, no value is moved.
func clampToAxis(v float64, p *chart.Panel) float64 {
	if p.LogY && v <= leastShown {
		v = 0
	}
	if p.YMin == 0 && p.YMax == 0 {
		return v
	}
	return min(max(v, p.YMin/2), p.YMax*2, math.MaxFloat64)
}

// spectrumPanel shows the squared singular values of a sketch. Horizontal lines show the error bound of the sketch
// and the penalties.
func spectrumPanel(s *fd.Spectrum, gammas []float64) chart.Panel {
	p := chart.Panel{
		Title:  "spectrum of the sketch",
		X:      "direction",
		WholeX: true,
		Y:      "sum of squares along it",
		LogY:   true,
	}
	sigma := chart.Line{
		Method: "spectrum",
		Label:  "σ² of the sketch",
		Y:      s.Sigma2,
		Plain:  len(s.Sigma2) > fewPoints,
	}
	for i := range s.Sigma2 {
		sigma.X = append(sigma.X, float64(i+1))
	}
	p.Lines = append(p.Lines, sigma)
	across := []float64{1, float64(max(2, len(s.Sigma2)))}
	level := func(method, label string, v float64) {
		p.Lines = append(p.Lines, chart.Line{
			Method: method,
			Label:  label,
			X:      across,
			Y:      []float64{v, v},
		})
	}
	level("shrinkage", "η, bound on the missing part", s.Bound.FD())
	switch n := len(gammas); {
	case n == 1:
		level("gamma", "γ = "+chart.Digits(gammas[0], 4), gammas[0])
	case n > 1:
		level("gamma", "smallest and largest γ", slices.Min(gammas))
		level("gamma", "smallest and largest γ", slices.Max(gammas))
	}
	return p
}

// convergencePanel shows the error bound after each pass. Each trace belongs to one penalty γ and one target. A
// solid line shows its proved bounds, and a dashed line shows its predicted bounds. If there are more than six
// traces, only the first and the last have their own colours.
func convergencePanel(traces []*Trace, nameTarget func(j int) string) chart.Panel {
	const most = 6
	p := chart.Panel{
		Title:  "convergence",
		X:      "pass over the rows after the first",
		WholeX: true,
		Y:      "bound on ‖x − x*‖ / ‖x*‖",
		LogY:   true,
	}
	targets, last := 1, 0
	for _, t := range traces {
		targets = max(targets, t.Target)
		last = max(last, t.Points[len(t.Points)-1].Pass)
	}
	for i, t := range traces {
		line := chart.Line{
			Method: fmt.Sprint("trace ", i),
			Label:  "γ = " + chart.Digits(float64(t.Gamma), 4),
		}
		if targets > 1 {
			line.Label += ", " + nameTarget(t.Target-1)
		}
		if len(traces) > most {
			switch i {
			case 0:
			case len(traces) - 1:
				line.Method = "trace 1"
			default:
				line.Method = "between"
				line.Label = fmt.Sprintf("the %d between", len(traces)-2)
			}
		}
		line.Plain = len(t.Points) > fewPoints
		for _, x := range t.Points {
			line.X = append(line.X, float64(x.Pass))
			line.Y = append(line.Y, float64(x.RelativeError))
		}
		p.Lines = append(p.Lines, line)
		if predicted := t.predicted(1.5 * float64(last)); predicted.X != nil {
			predicted.Method = line.Method
			p.Lines = append(p.Lines, predicted)
		}
	}
	first := float64(traces[0].Points[0].Pass)
	tol := float64(traces[0].Tol)
	p.Lines = append(
		p.Lines,
		chart.Line{
			Method: "tolerance",
			Label:  "tolerance",
			X:      []float64{first, max(float64(last), first+1)},
			Y:      []float64{tol, tol},
		},
	)
	return p
}

// predicted returns the dashed line of predicted error bounds. The line falls from the first bound to the
// tolerance in t.Predicted passes, which include the pass of the first bound. It ends early at pass lastPass.
func (t *Trace) predicted(lastPass float64) chart.Line {
	line := chart.Line{Label: "predicted from η", Dashed: true}
	if t.Predicted < 2 {
		return line
	}
	x := float64(t.Points[0].Pass)
	y := float64(t.Points[0].RelativeError)
	steps := float64(t.Predicted - 1)
	shown := math.Min(steps, math.Max(1, lastPass-x))
	line.X = []float64{x, x + shown}
	line.Y = []float64{y, y * math.Pow(float64(t.Tol)/y, shown/steps)}
	return line
}
