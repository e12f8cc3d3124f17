package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// A picture is a chart with a caption on the HTML page.
type picture struct {
	SVG     []template.HTML // two versions, for wide and for narrow pages, or one; chart escapes the text
	Caption string
}

// drawSideBySide draws each panel as a picture of its own. The HTML page shows these pictures next to each other.
func drawSideBySide(panels ...captioned) ([]picture, error) {
	var out []picture
	for _, panel := range panels {
		one, err := draw(panel, "")
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// drawFullWidth draws a panel twice: at the full width of the HTML page, and smaller for narrow pages.
func drawFullWidth(panel captioned) ([]picture, error) {
	both, err := draw(panel, "wide", "narrow")
	return []picture{both}, err
}

// sizes maps a CSS class to the width and height of its pictures in points.
var sizes = map[string][2]float64{"wide": {620, 250}, "narrow": {290, 220}}

// draw returns a picture of the panel, with one drawing for each CSS class. The class determines the size of a
// drawing.
func draw(panel captioned, classes ...string) (picture, error) {
	title := panel.Title
	panel.Title = ""
	f := chart.Figure{Columns: 1, Looks: looks, Panels: []chart.Panel{panel.Panel}}
	caption := strings.ToUpper(title[:1]) + title[1:] + "."
	if panel.caption != "" {
		caption += " " + panel.caption
	}
	if n := len(f.LeftOut()); n > 0 {
		caption += fmt.Sprintf(" %d values are zero or not finite and not drawn.", n)
	}
	out := picture{Caption: caption}
	for _, class := range classes {
		f.Width, f.Height = sizes[class][0], sizes[class][1]
		svg, err := f.Inline(class, title+": "+panel.Y+" against "+panel.X)
		if err != nil {
			return picture{}, err
		}
		out.SVG = append(out.SVG, template.HTML(svg))
	}
	return out, nil
}

// A pathSection shows the scores of several penalties γ: of the candidates for a choice, or of the given values.
type pathSection struct {
	Choice   string
	Warnings []string // reasons to doubt the chosen γ
	Pictures []picture
	Points   *table // brackets at each γ, summed over the targets; nil: none
}

func (f *Fit) path(rec *fitRecord) (pathSection, error) {
	out := pathSection{
		Choice: fmt.Sprintf(
			"γ = %s was given; --gamma auto would choose one.",
			chart.Digits(f.Found.Solutions[0].Gamma, 4),
		),
	}
	if rec.Choice != nil {
		out.Choice = rec.Choice.sentence() +
			". GCV is generalised cross-validation, n·RSS/(n − df)², " +
			"which estimates the squared error on new rows."
		if why := describePasses(rec.Choice.Passes, rec.Choice.Spent); why != "" {
			out.Choice += " " + strings.ToUpper(why[:1]) + why[1:] + "."
		}
		out.Warnings = rec.Choice.Warnings
	} else if n := len(rec.Fits); n > 1 {
		out.Choice = fmt.Sprintf("%d γ were given; --gamma auto would choose one.", n)
	}
	if rec.Fits[0].Gammas != nil {
		out.Choice = "Each target has a γ of its own."
	}
	if rec.Each != nil {
		lines := rec.Each.lines()
		out.Choice = strings.ToUpper(lines[0][:1]) + lines[0][1:] + "."
		out.Warnings = rec.Each.Warnings
	}
	if rec.Targets > mostTargets && rec.Fits[0].Gammas != nil {
		return out, nil
	}
	path, err := pathOf(f.Data.Name, rec.Choice, rec.Fits)
	if err != nil || path == nil {
		return out, err
	}
	out.Pictures, err = drawSideBySide(path.panels()...)
	if err != nil {
		return out, err
	}
	scores := path.gcv
	if path.scores != nil {
		scores = path.scores
	}
	out.Points = &table{
		rows: [][]string{{"gamma", criterionOf(path.by).Words().Score, "training error", "effective dimension"}},
	}
	for i, g := range path.gamma {
		gamma := fmt.Sprintf("%.4g", g)
		if path.choice != nil && float64(path.choice.Gamma) == g {
			gamma += " (chosen)"
		}
		out.Points.add(
			gamma,
			formatFigure(scores[i]),
			formatFigure(path.rss[i]),
			formatFigure(path.dim[i]),
		)
	}
	return out, nil
}

// A spectrumSection shows the spectrum of the sketch.
type spectrumSection struct {
	Text     string
	Pictures []picture
}

// spectrum returns the section of the HTML page about the sketch. It returns nil if the method makes no sketch.
func (f *Fit) spectrum() (*spectrumSection, error) {
	if f.Found.Summary == nil {
		return nil, nil
	}
	s, err := f.Found.Summary.Spectrum()
	if err != nil {
		return nil, err
	}
	if len(s.Sigma2) == 0 {
		return &spectrumSection{Text: "The spectrum is empty: every column is constant or zero."}, nil
	}
	var gammas []float64
	for _, s := range f.Found.Solutions {
		gammas = append(gammas, s.Gamma)
	}
	above := 0
	for _, v := range s.Sigma2 {
		if v > s.Bound.FD() {
			above++
		}
	}
	out := &spectrumSection{
		Text: fmt.Sprintf(
			"The sketch has %d directions, %d of them with σ² above η. Directions well above η are known. If γ "+
				"is well above η, the others do not matter.",
			len(s.Sigma2),
			above,
		),
	}
	out.Pictures, err = drawFullWidth(captioned{Panel: spectrumPanel(s, gammas)})
	return out, err
}

// A convergenceSection shows the progress of the refinement.
type convergenceSection struct {
	Text     string
	Pictures []picture
}

// convergence returns the section of the HTML page about the passes that refine the solution. It returns nil if the
// method does not refine.
func (f *Fit) convergence() (*convergenceSection, error) {
	if f.Traces == nil {
		return nil, nil
	}
	slowest := slices.MaxFunc(f.Traces, func(a, b *Trace) int {
		return len(a.Points) - len(b.Points)
	})
	text := fmt.Sprintf(
		"The slowest fit, γ = %s, needed %d %s.",
		chart.Digits(float64(slowest.Gamma), 4),
		len(slowest.Points),
		plural(len(slowest.Points), "pass", "passes"),
	)
	if slowest.Predicted > 0 {
		text += fmt.Sprintf(" The sketch's bound predicted at most %d, and one more to verify.", slowest.Predicted)
	} else {
		text += " The sketch's bound predicts nothing here: η/γ is too large, " +
			"or the bound after the first pass is infinite."
	}
	bounded := func(x Point) bool { return !math.IsInf(float64(x.RelativeError), 1) }
	if !slices.ContainsFunc(f.Traces, func(t *Trace) bool {
		return slices.ContainsFunc(t.Points, bounded)
	}) {
		return &convergenceSection{Text: text + " No pass gave a finite bound on the relative error."}, nil
	}
	if len(slowest.Points) < 2 { // one dot is no chart
		return &convergenceSection{Text: text}, nil
	}
	pictures, err := drawFullWidth(
		captioned{
			convergencePanel(f.Traces, f.targetName),
			"Proved after each pass over the rows. The first passes may have no finite bound.",
		},
	)
	return &convergenceSection{text, pictures}, err
}
