package main

import (
	"errors"
	"io/fs"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// An intervalKind is a kind of prediction intervals that the flag --interval can request.
type intervalKind interface {
	// isForNewRows reports whether the intervals are for new observations. Such intervals account for the noise of
	// the observations.
	isForNewRows() bool
	// file returns the name of the file that is needed besides the model to compute the intervals, or "".
	file() string
	// of returns the intervals for the model m. The text is a remark for the user, or "".
	of(m *model.Model) (model.Intervals, string, error)
	// explain names flags in an error of model.Model.Predictor.
	explain(m *model.Model, err error) error
}

// intervalKinds maps values of --interval to kinds. Any other value is the name of a file.
var intervalKinds = map[string]intervalKind{
	"exact":    exactIntervals{},
	"coverage": coverageIntervals{},
}

// kind returns the kind of intervals that --interval requests. It returns noIntervals if the flag is not given.
func (o *predictOptions) kind() intervalKind {
	if k, ok := intervalKinds[o.interval]; ok {
		return k
	}
	switch {
	case o.interval == "":
		return noIntervals{}
	case cli.SameFile(o.interval, o.model):
		return exactIntervals{}
	}
	return &sketchIntervals{name: o.interval, model: o.model}
}

// predictor returns a predictor for the model m with the intervals that --interval requests. The text is a remark
// for the user, or "".
func (o *predictOptions) predictor(m *model.Model) (*model.Predictor, string, error) {
	kind := o.kind()
	if m.Classes != nil && kind.isForNewRows() {
		return nil, "", cli.BadInput("--interval: %s is for numbers, the model predicts classes", o.interval)
	}
	by, remark, err := kind.of(m)
	if err != nil {
		return nil, "", err
	}
	p, err := m.Predictor(by)
	if e, ok := errors.AsType[*model.CertificateError](err); ok {
		return nil, "", cli.BadInput("--model: the certificate cannot be read: %w", e.Err)
	}
	if err != nil {
		return nil, "", kind.explain(m, err)
	}
	return p, remark, nil
}

// noIntervals is the kind if --interval is not given. It computes no intervals, except for a classification. A
// classification has exact intervals, because they prove its decisions.
type noIntervals struct{}

func (noIntervals) isForNewRows() bool { return false }
func (noIntervals) file() string       { return "" }

func (noIntervals) of(m *model.Model) (model.Intervals, string, error) {
	if m.Classes != nil {
		return model.ExactIntervals{}, "", nil
	}
	return nil, "", nil
}

func (noIntervals) explain(m *model.Model, err error) error {
	if m.Classes != nil {
		return exactIntervals{}.explain(m, err)
	}
	return err
}

// exactIntervals are intervals that contain the predictions of the exact ridge solution. They are computed from the
// model alone.
type exactIntervals struct{}

func (exactIntervals) isForNewRows() bool { return false }
func (exactIntervals) file() string       { return "" }

func (exactIntervals) of(*model.Model) (model.Intervals, string, error) {
	return model.ExactIntervals{}, "", nil
}

func (exactIntervals) explain(_ *model.Model, err error) error {
	if errors.Is(err, model.ErrUnrecorded) {
		return cli.BadInput(
			"--interval: the model comes from an older version and has no data for intervals; fit again, or give a sketch")
	}
	return cli.BadInput("--interval: %w", err)
}

// sketchIntervals are intervals that contain the predictions of the exact ridge solution. They are computed from a
// sketch and the model.
type sketchIntervals struct {
	name, model string         // files
	sum         *ridge.Summary // set by of
}

func (*sketchIntervals) isForNewRows() bool { return false }
func (s *sketchIntervals) file() string     { return s.name }

func (s *sketchIntervals) of(m *model.Model) (model.Intervals, string, error) {
	be, err := engine.Default()
	if err != nil {
		return nil, "", cli.BadInput("%w", err)
	}
	sum, d, err := load(s.name, be)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", cli.BadInput("--interval: %w; it must be exact, coverage, or the file of a sketch", err)
	}
	if err != nil {
		return nil, "", err
	}
	s.sum = sum
	remark := ""
	if m.Fits[0].Fitted == nil {
		remark = "intervals use only the sketch: " + s.model +
			" comes from an older version; fit again for narrower intervals"
	}
	return model.ExactIntervals{Summary: sum, Preparation: &d.Preparation}, remark, nil
}

func (s *sketchIntervals) explain(m *model.Model, err error) error {
	e, ok := errors.AsType[*model.SummaryError](err)
	if !ok {
		return err
	}
	switch {
	case errors.Is(e, model.ErrPreparation):
		return cli.BadInput("--interval: the rows of %s were prepared differently from those of the model", s.name)
	case errors.Is(e, model.ErrShape):
		its := s.sum.Config()
		return cli.BadInput(
			"--interval: %s is no sketch of the rows of the model: it has %s and %s, the model in %s has %s and %s",
			s.name,
			count(int64(its.Dim), "feature"),
			count(int64(its.Targets), "target"),
			s.model,
			count(int64(m.Features), "feature"),
			count(int64(len(m.Fits[0].Coef)), "target"),
		)
	}
	return cli.BadInput("--interval: %s: %w", s.name, e.Err)
}
