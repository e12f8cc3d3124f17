package table

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
)

// OpenFor opens rows for predictions by the model m. Of s, only the fields that describe files are needed, because
// m determines the features and their preparation. If s.Target is given, the targets are read too. The label of
// svmlight rows is always read.
//
// The rows of the result are not yet prepared. Pass them and the Cells of the result to a [model.Predictor], which
// prepares them. Errors are as in [OpenLike].
func OpenFor(ctx context.Context, m *model.Model, s Spec, env Env) (*Rows, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	like := Like{Preparation: &m.Preparation, Owner: "model"}
	if len(m.Fits) > 0 {
		like.Own = len(m.Fits[0].Coef)
	}
	if len(s.Target) > 0 {
		like.Targets = like.Own
	}
	if m.Classes != nil {
		like.Labels = prepare.NewLabels()
		like.Targets = min(like.Targets, 1)
	}
	env.Pipe = env.listen(ctx, &s)
	format, err := file.Format(s.Data[0], file.Options{Format: s.Format, Origin: file.Origin{Pipe: env.Pipe}})
	if err != nil {
		return nil, err
	}
	if file.Labelled(format) {
		like.Targets = 1
	}
	rows, err := OpenLike(ctx, s, like, env)
	if err != nil {
		return nil, err
	}
	rows.Labels = like.Labels
	return rows, checkPreparation(&m.Preparation)
}

// Predict opens the rows of s by [OpenFor], and yields the prediction of the model m for each row. A prediction is
// valid until the next one is yielded. The argument by selects the data for proved intervals, such as
// model.ExactIntervals{}; nil means no intervals. The model must have a single ridge penalty γ; see
// [model.Model.At].
//
// The iteration ends after an error of OpenFor, [model.Model.Predictor] or [model.Predictor.Predict].
func Predict(
	ctx context.Context,
	m *model.Model,
	s Spec,
	by model.Intervals,
	env Env,
) iter.Seq2[model.Prediction, error] {
	return func(yield func(model.Prediction, error) bool) {
		p, err := m.Predictor(by)
		if err != nil {
			yield(model.Prediction{}, err)
			return
		}
		rows, err := OpenFor(ctx, m, s, env)
		if err != nil {
			yield(model.Prediction{}, err)
			return
		}
		p.Encode = prepare.EncodeOptions{Cells: rows.Opened.Cells, Tally: new(prepare.Tally)}
		for row, err := range p.Predict(ctx, rows.Source) {
			if err != nil {
				err = rows.Locate(prepare.NameRows(s.Name(), unwrapPreparation(err)))
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
