package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// A picture is a chart in the page and what is said below it.
type picture struct {
	SVG     []template.HTML // made by chart, which escapes all text; one for wide and one for narrow pages, or one for all
	Caption string
}

// A pen draws the pictures of one page, which share their letters.
type pen struct{ letters chart.Letters }

// beside makes a picture of each panel, which so may stand side by side or not.
func (p *pen) beside(panels ...captioned) ([]picture, error) {
	var out []picture
	for _, panel := range panels {
		one, err := p.draw(panel, "")
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// across makes a picture as wide as the page: one for wide pages and one for narrow ones, whose
// letters would be too small in the other.
func (p *pen) across(panel captioned) ([]picture, error) {
	both, err := p.draw(panel, "wide", "narrow")
	return []picture{both}, err
}

// sizes are those of a panel in the page, in points, by the class of its element.
var sizes = map[string][2]float64{"wide": {620, 250}, "narrow": {290, 220}}

// draw makes a picture of a panel, once for each class of elements.
func (p *pen) draw(panel captioned, classes ...string) (picture, error) {
	title := panel.Title
	panel.Title = ""
	f := chart.Figure{Columns: 1, Looks: looks, Panels: []chart.Panel{panel.Panel}}
	caption := strings.ToUpper(title[:1]) + title[1:] + "."
	if panel.caption != "" {
		caption += " " + panel.caption
	}
	if n := len(f.LeftOut()); n > 0 {
		caption += fmt.Sprintf(" %d values that are zero or not finite are not drawn.", n)
	}
	out := picture{Caption: caption}
	for _, class := range classes {
		f.Width, f.Height = sizes[class][0], sizes[class][1]
		svg, err := f.Inline(class, title+": "+panel.Y+" against "+panel.X, &p.letters)
		if err != nil {
			return picture{}, err
		}
		out.SVG = append(out.SVG, template.HTML(svg))
	}
	return out, nil
}

// A pathSection shows what γ was chosen from, or the several that were asked for.
type pathSection struct {
	Choice   string
	Warnings []string // of the γ chosen
	Pictures []picture
	Points   []pathRow
}

// A pathRow is what is known at one γ, summed over the targets.
type pathRow struct {
	Gamma               float64
	GCV, RSS, Dimension ridge.Interval
	Chosen              bool
}

func (f *Fit) path(rec *fitRecord, p *pen) (pathSection, error) {
	out := pathSection{Choice: fmt.Sprintf("γ = %s was asked for; --gamma auto would choose one.", chart.Digits(f.Found.Solutions[0].Gamma, 4))}
	if rec.Choice != nil {
		out.Choice = rec.Choice.sentence() + " GCV is generalised cross-validation, n·RSS/(n − df)², an estimate of the squared error on new rows."
		for _, w := range rec.Choice.warnings(typeset) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("γ = %s %s.", chart.Digits(float64(rec.Choice.Gamma), 4), w))
		}
	} else if n := len(rec.Fits); n > 1 {
		out.Choice = fmt.Sprintf("The %d γ were asked for; --gamma auto would choose one.", n)
	}
	path, err := pathOf(f.Data.Name, rec.Choice, rec.Fits)
	if err != nil || path == nil {
		return out, err
	}
	if out.Pictures, err = p.beside(path.panels()...); err != nil {
		return out, err
	}
	for i, g := range path.gamma {
		out.Points = append(out.Points, pathRow{g, path.gcv[i], path.rss[i], path.dim[i], path.choice != nil && float64(path.choice.Gamma) == g})
	}
	return out, nil
}

// A spectrumSection shows the spectrum of the sketch.
type spectrumSection struct {
	Text     string
	Pictures []picture
}

func (f *Fit) spectrum(p *pen) (spectrumSection, error) {
	if f.Found.Summary == nil {
		return spectrumSection{Text: "There is none: the method keeps no sketch."}, nil
	}
	s, err := f.Found.Summary.Spectrum()
	if err != nil {
		return spectrumSection{}, err
	}
	if len(s.Sigma2) == 0 {
		return spectrumSection{Text: "It is empty: every column is constant or zero."}, nil
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
	out := spectrumSection{Text: fmt.Sprintf("Of the %d directions that the sketch keeps, %d have a σ² above η. What lies well above η is seen for sure; a γ well above η makes the rest not matter.", len(s.Sigma2), above)}
	out.Pictures, err = p.across(captioned{Panel: spectrumPanel(s, gammas)})
	return out, err
}

// A convergenceSection shows how refining went.
type convergenceSection struct {
	Text     string
	Pictures []picture
}

func (f *Fit) convergence(p *pen) (convergenceSection, error) {
	if f.Traces == nil {
		return convergenceSection{Text: "The method makes no refining passes."}, nil
	}
	slowest := slices.MaxFunc(f.Traces, func(a, b *Trace) int { return len(a.Points) - len(b.Points) })
	text := fmt.Sprintf("The slowest, γ = %s, took %d %s.", chart.Digits(float64(slowest.Gamma), 4), len(slowest.Points), plural(len(slowest.Points), "pass", "passes"))
	if slowest.Predicted > 0 {
		text += fmt.Sprintf(" The sketch's bound predicted %d at most, and one more to verify.", slowest.Predicted)
	} else {
		text += " The sketch's bound predicted nothing here: η is too large against γ, or the bound of the first pass is infinite."
	}
	bounded := func(x Point) bool { return !math.IsInf(float64(x.RelativeError), 1) }
	if !slices.ContainsFunc(f.Traces, func(t *Trace) bool { return slices.ContainsFunc(t.Points, bounded) }) {
		return convergenceSection{Text: text + " After no pass there was a bound on the relative error."}, nil
	}
	pictures, err := p.across(captioned{convergencePanel(f.Traces), "Certified after each pass over the rows; at first there may be no finite bound."})
	return convergenceSection{text, pictures}, err
}
