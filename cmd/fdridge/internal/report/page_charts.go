package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// A picture is a chart in the page and what is said below it.
type picture struct {
	SVG     template.HTML // made by chart, which escapes all text
	Caption string
}

// draw makes a picture of each panel, which so may stand side by side or not.
func draw(panels ...captioned) ([]picture, error) {
	var out []picture
	for _, panel := range panels {
		title := panel.Title
		panel.Title = ""
		f := chart.Figure{Columns: 1, Looks: looks, Panels: []chart.Panel{panel.Panel}}
		svg, err := f.Inline(title + ": " + panel.Y + " against " + panel.X)
		if err != nil {
			return nil, err
		}
		caption := strings.ToUpper(title[:1]) + title[1:] + "."
		if panel.caption != "" {
			caption += " " + panel.caption
		}
		if n := len(f.LeftOut()); n > 0 {
			caption += fmt.Sprintf(" %d values that are zero or not finite are not drawn.", n)
		}
		out = append(out, picture{template.HTML(svg), caption})
	}
	return out, nil
}

// A pathSection shows what γ was chosen from, or the several that were asked for.
type pathSection struct {
	Choice   string
	Pictures []picture
	Points   []pathRow
}

// A pathRow is what is known at one γ, summed over the targets.
type pathRow struct {
	Gamma, GCV, RSS, Dimension string
	Chosen                     bool
}

func (f *Fit) path(rec *fitRecord) (pathSection, error) {
	out := pathSection{Choice: fmt.Sprintf("γ = %s was asked for; --gamma auto would choose one.", chart.Digits(f.Found.Solutions[0].Gamma, 4))}
	if rec.Choice != nil {
		out.Choice = rec.Choice.sentence() + " GCV is generalised cross-validation, n·RSS/(n − df)², an estimate of the squared error on new rows."
	} else if n := len(rec.Fits); n > 1 {
		out.Choice = fmt.Sprintf("The %d γ were asked for; --gamma auto would choose one.", n)
	}
	path, err := pathIn(f.Data.Name, rec)
	if err != nil || path == nil {
		return out, err
	}
	if out.Pictures, err = draw(path.panels()...); err != nil {
		return out, err
	}
	for i, g := range path.gamma {
		out.Points = append(out.Points, pathRow{
			chart.Digits(g, 4), figureInPage(path.gcv[i]), figureInPage(path.rss[i]), figureInPage(path.dim[i]), path.choice != nil && path.choice.Gamma == g,
		})
	}
	return out, nil
}

// A spectrumSection shows the spectrum of the sketch.
type spectrumSection struct {
	Text     string
	Pictures []picture
}

func (f *Fit) spectrum() (spectrumSection, error) {
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
	out.Pictures, err = draw(captioned{Panel: spectrumPanel(s, gammas)})
	return out, err
}

// A convergenceSection shows how refining went.
type convergenceSection struct {
	Text     string
	Pictures []picture
}

func (f *Fit) convergence() (convergenceSection, error) {
	if f.Traces == nil {
		return convergenceSection{Text: "The method makes no refining passes."}, nil
	}
	slowest := slices.MaxFunc(f.Traces, func(a, b *Trace) int { return len(a.Points) - len(b.Points) })
	text := fmt.Sprintf("The slowest, γ = %s, took %d %s.", chart.Digits(float64(slowest.Gamma), 4), len(slowest.Points), plural(len(slowest.Points), "pass", "passes"))
	switch {
	case slowest.Predicted > 0:
		text += fmt.Sprintf(" The sketch's bound predicted %d at most, and one more to verify.", slowest.Predicted)
	case f.Asked.PlainFD:
		text += " Of plain Frequent Directions nothing is predicted."
	default:
		text += " The sketch's bound predicted nothing here: η is too large against γ, or the bound of the first pass is infinite."
	}
	bounded := func(x Point) bool { return !math.IsInf(float64(x.RelativeError), 1) }
	if !slices.ContainsFunc(f.Traces, func(t *Trace) bool { return slices.ContainsFunc(t.Points, bounded) }) {
		return convergenceSection{Text: text + " After no pass there was a bound on the relative error."}, nil
	}
	pictures, err := draw(captioned{convergencePanel(f.Traces), "Certified after each pass over the rows; at first there may be no finite bound."})
	return convergenceSection{text, pictures}, err
}
