package report

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/chart"
)

// A heldOutSection shows the scores.
type heldOutSection struct {
	Text     string
	Classes  []string // accuracies; nil: no classification
	Table    *table
	Pictures []picture
}

// Limits on the pictures of held-out rows.
const (
	mostDrawn    = 500 // maximum number of rows in a picture
	mostPictured = 3   // maximum number of targets with pictures
)

// heldOutInPage returns the section of the HTML page about scores. It contains scores of the held-out rows, if
// there are any, and of the training rows.
func (f *Fit) heldOutInPage(rec *fitRecord) (heldOutSection, error) {
	out := heldOutSection{
		Table:   f.scoresTable(rec),
		Classes: f.Classes.lines(f.Found.Solutions),
	}
	if rec.HeldOut == nil {
		out.Text = "R² is of the training rows."
		if f.Classes == nil || f.Classes.HeldOut == nil {
			out.Text += " --holdout 0.2 keeps 20 % of the rows out of the fit, to estimate how well the model predicts new rows."
		}
		return out, nil
	}
	out.Text = fmt.Sprintf(
		"%d rows (%g of all, chosen by a hash of the row number) were kept out of the fit. R², RMSE and MAE on "+
			"these rows estimate how well the model predicts new rows. With few rows these estimates vary. The "+
			"baseline is the RMSE of predicting the mean of these rows.",
		rec.HeldOut.Rows,
		float64(rec.HeldOut.Share),
	)
	if rec.HeldOut.Rows < 2 { // one dot is no chart
		return out, nil
	}
	var panels []captioned
	for j := range rec.HeldOut.Fits[0].R2 {
		if j == mostPictured {
			break
		}
		panels = append(panels, f.heldOutPanels(rec.HeldOut, j)...)
	}
	var err error
	out.Pictures, err = drawSideBySide(panels...)
	return out, err
}

// heldOutPanels returns two panels for target j: predictions against observations, and residuals against
// predictions. If there are several solutions, it uses the solution with the smallest RMSE on the held-out rows.
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
	drawn := chart.Line{Method: "held out", Label: "held-out row", Loose: true}
	residual := drawn
	lo, hi := math.Inf(1), math.Inf(-1)
	least, most := lo, hi // smallest and largest prediction
	for i := 0; i < len(points); i += max(every, 1) {
		y := points[i].Observed[j]
		yhat := points[i].Predicted[best*t+j]
		drawn.X = append(drawn.X, y)
		drawn.Y = append(drawn.Y, yhat)
		residual.X = append(residual.X, yhat)
		residual.Y = append(residual.Y, y-yhat)
		lo, hi = min(lo, y, yhat), max(hi, y, yhat)
		least, most = min(least, yhat), max(most, yhat)
	}
	of := ""
	if t > 1 {
		of = ", " + f.targetName(j)
	}
	caption := fmt.Sprintf("γ = %s, ", chart.Digits(f.Found.Solutions[best].Gamma, 4))
	if n := int64(len(drawn.X)); n < rec.Rows {
		caption += fmt.Sprintf("%d of the %d rows, evenly spaced, because more dots would hide each other.", n, rec.Rows)
	} else {
		caption += fmt.Sprintf("%d %s.", n, plural(int(n), "row", "rows"))
	}
	return []captioned{
		{
			chart.Panel{
				Title: "predicted against actual" + of,
				X:     "actual",
				Y:     "predicted",
				Lines: []chart.Line{
					drawn,
					{
						Method: "exactly",
						Label:  "exact prediction",
						X:      []float64{lo, hi},
						Y:      []float64{lo, hi},
					},
				},
			},
			caption + " Rows on the line are predicted exactly.",
		},
		{
			chart.Panel{
				Title: "residuals" + of,
				X:     "predicted",
				Y:     "actual − predicted",
				Lines: []chart.Line{
					residual,
					{
						Method: "exactly",
						Label:  "exact prediction",
						X:      []float64{least, most},
						Y:      []float64{0, 0},
					},
				},
			},
			caption + " A bend or a growing spread shows what the model misses.",
		},
	}
}
