package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
)

// readModel reads and validates a model file.
func readModel(name string) (*model.Model, error) {
	if err := wantModel.check(name); err != nil {
		return nil, badInput("--model: %w", err)
	}
	text, err := readText(name)
	if err != nil {
		return nil, badInput("--model: %w", err)
	}
	m, err := model.Read(bytes.NewReader(text))
	if e, ok := errors.AsType[*model.VersionError](err); ok {
		return nil, badInput("--model: %s has %w", name, e)
	}
	if e, ok := errors.AsType[*model.FormatError](err); ok {
		return nil, badInput("--model: %s is not a model: %w", name, e.Err)
	}
	return m, err
}

// chooseFit returns the model with the fit at a γ alone. With one fit there is nothing to
// choose.
func chooseFit(m *model.Model, gamma once) (*model.Model, error) {
	if !gamma.set {
		if len(m.Fits) == 1 {
			return m, nil
		}
		return nil, badInput("--gamma: the model has fits for gamma = %s; say which", listed(m.Gammas()))
	}
	g, err := parseGammas(gamma.value, true)
	if err != nil {
		return nil, err
	}
	if len(g) == 1 {
		if one, err := m.At(g[0]); err == nil {
			return one, nil
		}
	}
	return nil, badInput("--gamma: %s is not among the model's fits, gamma = %s", gamma.value, listed(m.Gammas()))
}

func listed(gammas []float64) string {
	words := make([]string, len(gammas))
	for i, g := range gammas {
		words[i] = fmt.Sprint(g)
	}
	return strings.Join(words, ", ")
}

// prepare returns src prepared.
func prepare(p *model.Preparation, src dataset.Source, be engine.Backend) (dataset.Source, error) {
	return prepareEncoded(p, src, be, dataset.EncodeOptions{})
}

// prepareEncoded is prepare of rows that are encoded first.
func prepareEncoded(p *model.Preparation, src dataset.Source, be engine.Backend, o dataset.EncodeOptions) (dataset.Source, error) {
	if err := checkPreparationMemory(p); err != nil {
		return nil, err
	}
	src, err := p.ApplyEncoded(src, be, o)
	return src, unwrapPreparation(err)
}

// unwrapPreparation returns what is wrong with rows that cannot be prepared, in the words of
// what found it, and any other error as it is.
func unwrapPreparation(err error) error {
	if e, ok := errors.AsType[*model.PreparationError](err); ok {
		return badInput("%w", e.Err)
	}
	return err
}
