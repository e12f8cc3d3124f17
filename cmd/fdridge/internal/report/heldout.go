package report

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/model"
)

// HeldOut is how the solutions do on rows that were held out of the fit.
type HeldOut struct {
	Share float64 // of all rows
	*model.Evaluation
}

// A heldOutRecord is a HeldOut for a program.
type heldOutRecord struct {
	Share number         `json:"share"`
	Rows  int64          `json:"rows"`
	Fits  []heldOutScore `json:"fits"`
}

// A heldOutScore is that of the solution for one γ.
type heldOutScore struct {
	Gamma number            `json:"gamma"`
	R2    perTarget[number] `json:"r2"`
	RMSE  perTarget[number] `json:"rmse"`
}

// rows is how many rows were held out and have weight.
func (h *HeldOut) rows() int64 { return h.Scores[0][0].Rows() }

// heldOut is nil where no rows were held out.
func (f *Fit) heldOut() *heldOutRecord {
	if f.HeldOut == nil {
		return nil
	}
	out := &heldOutRecord{Share: number(f.HeldOut.Share), Rows: f.HeldOut.rows()}
	for i, scores := range f.HeldOut.Scores {
		score := heldOutScore{Gamma: number(f.Found.Solutions[i].Gamma)}
		for j := range scores {
			score.R2, score.RMSE = append(score.R2, number(scores[j].R2())), append(score.RMSE, number(scores[j].RMSE()))
		}
		out.Fits = append(out.Fits, score)
	}
	return out
}

// sentence says what the scores are of.
func (r *heldOutRecord) sentence() string {
	if r.Rows == 0 {
		return "no row is held out: there are too few for that share"
	}
	return fmt.Sprintf("%d %s held out of the fit: R² and RMSE held out are of these alone, those of training of the others", r.Rows, plural(int(r.Rows), "row is", "rows are"))
}

// headings are those of the columns of a table that cells fill, none where no rows were held out.
func (r *heldOutRecord) headings() string {
	if r == nil {
		return ""
	}
	return "held-out R²\theld-out RMSE\t"
}

// cells are those of solution i and target j.
func (r *heldOutRecord) cells(i, j int) string {
	if r == nil {
		return ""
	}
	return scored(r.Fits[i].R2[j]) + "\t" + scored(r.Fits[i].RMSE[j]) + "\t"
}

// scored is a score of held-out rows for people.
func scored(v number) string {
	if math.IsNaN(float64(v)) {
		return "undefined"
	}
	return fmt.Sprintf("%.6g", float64(v))
}
