package report

import (
	"fmt"

	"github.com/fdridge/fdridge/model"
)

// HeldOut holds the scores of the solutions on rows that were kept out of the fit.
type HeldOut struct {
	Share float64 // fraction of the rows that is held out
	*model.Evaluation
}

// A heldOutRecord is the JSON form of HeldOut.
type heldOutRecord struct {
	Share number         `json:"share"`
	Rows  int64          `json:"rows"`
	Fits  []heldOutScore `json:"fits"`
}

// A heldOutScore holds the scores for one γ.
type heldOutScore struct {
	Gamma number            `json:"gamma"`
	R2    perTarget[number] `json:"r2"`
	RMSE  perTarget[number] `json:"rmse"`

	R2Bracket   brackets `json:"r2_bracket"`
	RMSEBracket brackets `json:"rmse_bracket"`
	// intervals for the mean absolute error, and for the RMSE of predicting the mean of the held-out rows
	MAEBracket      brackets `json:"mae_bracket"`
	BaselineBracket brackets `json:"baseline_rmse_bracket"`
}

// rows returns the number of held-out rows whose sample weight is positive.
func (h *HeldOut) rows() int64 {
	return h.Scores[0][0].Rows()
}

// heldOut returns the JSON form of the scores on held-out rows. It returns nil if no rows were held out.
func (f *Fit) heldOut() *heldOutRecord {
	if f.HeldOut == nil {
		return nil
	}
	out := &heldOutRecord{Share: number(f.HeldOut.Share), Rows: f.HeldOut.rows()}
	for i, scores := range f.HeldOut.Scores {
		score := heldOutScore{Gamma: number(f.Found.Solutions[i].Gamma)}
		for j := range scores {
			score.R2 = append(score.R2, number(scores[j].R2()))
			score.RMSE = append(score.RMSE, number(scores[j].RMSE()))
			score.R2Bracket = append(score.R2Bracket, scores[j].R2Bracket())
			score.RMSEBracket = append(score.RMSEBracket, scores[j].RMSEBracket())
			score.MAEBracket = append(score.MAEBracket, scores[j].MAEBracket())
			score.BaselineBracket = append(score.BaselineBracket, scores[j].BaselineBracket())
		}
		out.Fits = append(out.Fits, score)
	}
	return out
}

// sentence states how many rows were held out.
func (r *heldOutRecord) sentence() string {
	if r.Rows == 0 {
		return "no row was held out: the share is too small for these rows"
	}
	return fmt.Sprintf(
		"%d %s kept out of the fit for the held-out scores",
		r.Rows,
		plural(int(r.Rows), "row was", "rows were"),
	)
}
