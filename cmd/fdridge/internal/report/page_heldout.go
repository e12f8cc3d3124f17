package report

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/chart"
)

// A heldOutSection shows how the fit does on rows that were held out of it.
type heldOutSection struct {
	Text     string
	Fits     []heldOutRow
	Pictures []picture
}

// A heldOutRow is a line of its table.
type heldOutRow struct{ Gamma, Target, Training, R2, RMSE string }

// mostDrawn is how many rows a picture shows at most, and mostPictured of how many targets there are
// pictures.
const (
	mostDrawn    = 500
	mostPictured = 3
)

// heldOutInPage is nil where no rows were held out.
func (f *Fit) heldOutInPage(rec *fitRecord, draws *pen) (*heldOutSection, error) {
	if rec.HeldOut == nil {
		return nil, nil
	}
	out := &heldOutSection{Text: fmt.Sprintf("A share of %g of the rows was held out of the fit, by a hash of their numbers: %d. R² and the root of the mean squared error on these say how well it predicts what it has not seen; they are computed, and what is computed of few rows varies with these.", float64(rec.HeldOut.Share), rec.HeldOut.Rows)}
	if rec.HeldOut.Rows == 0 {
		return out, nil
	}
	for i, s := range rec.HeldOut.Fits {
		for j := range s.R2 {
			out.Fits = append(out.Fits, heldOutRow{chart.Digits(float64(s.Gamma), 4), f.targetName(j), figureInPage(rec.Fits[i].R2Bracket[j]), scored(s.R2[j]), scored(s.RMSE[j])})
		}
	}
	var panels []captioned
	for j := range rec.HeldOut.Fits[0].R2 {
		if j == mostPictured {
			break
		}
		panels = append(panels, f.heldOutPanels(rec.HeldOut, j)...)
	}
	var err error
	out.Pictures, err = draws.beside(panels...)
	return out, err
}

// heldOutPanels are predictions against what was observed, and residuals against predictions, of the
// solution that does best on target j.
func (f *Fit) heldOutPanels(rec *heldOutRecord, j int) []captioned {
	best := 0
	for i := range rec.Fits {
		if rec.Fits[i].RMSE[j] < rec.Fits[best].RMSE[j] {
			best = i
		}
	}
	t := len(rec.Fits[0].R2)
	points := f.HeldOut.Points
	every := (len(points) + mostDrawn - 1) / mostDrawn
	drawn := chart.Line{Method: "held out", Label: "a row that was held out", Loose: true}
	residual := drawn
	lo, hi := math.Inf(1), math.Inf(-1)
	least, most := lo, hi // of the predictions
	for i := 0; i < len(points); i += max(every, 1) {
		y, yhat := points[i].Observed[j], points[i].Predicted[best*t+j]
		drawn.X, drawn.Y = append(drawn.X, y), append(drawn.Y, yhat)
		residual.X, residual.Y = append(residual.X, yhat), append(residual.Y, y-yhat)
		lo, hi = min(lo, y, yhat), max(hi, y, yhat)
		least, most = min(least, yhat), max(most, yhat)
	}
	of := ""
	if t > 1 {
		of = ", " + f.targetName(j)
	}
	caption := fmt.Sprintf("At γ = %s, of %d rows.", chart.Digits(f.Found.Solutions[best].Gamma, 4), len(drawn.X))
	return []captioned{
		{chart.Panel{Title: "predicted against actual" + of, X: "actual", Y: "predicted", Lines: []chart.Line{drawn, {Method: "exactly", Label: "predicted exactly", X: []float64{lo, hi}, Y: []float64{lo, hi}}}}, caption + " On the line a row is predicted exactly."},
		{chart.Panel{Title: "residuals" + of, X: "predicted", Y: "actual − predicted", Lines: []chart.Line{residual, {Method: "exactly", Label: "predicted exactly", X: []float64{least, most}, Y: []float64{0, 0}}}}, caption + " A bend, or a spread that grows, says what the model leaves out."},
	}
}
