package table

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
)

// OpenFor opens rows for the model m. s needs only the fields that describe files: the features are selected and
// prepared as m requires. If s.Target is given, the targets are read too. The label of svmlight rows is always read.
//
// The rows are not yet prepared, because the [model.Predictor] prepares them, with the Cells of the result. Errors are
// as in [OpenLike].
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

// Predict opens the rows of s for m, see [OpenFor], and yields a prediction for each row. A prediction is valid until
// the next prediction. The argument by selects the data for proved intervals, such as model.ExactIntervals{}.
// nil means no intervals. The model must have a single γ; see [model.Model.At].
//
// The iteration ends after an error: the errors of OpenFor, [model.Model.Predictor] and [model.Predictor.Predict].
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
