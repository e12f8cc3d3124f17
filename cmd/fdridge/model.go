package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/model"
)

// readModel reads a model from a file and validates it. name is the path of the file. Every error message begins
// with the text flag.
func readModel(flag, name string) (*model.Model, error) {
	if err := cli.WantModel.Check(name); err != nil {
		return nil, cli.BadInput("%s%w", flag, err)
	}
	text, err := cli.ReadText(name)
	if err != nil {
		return nil, cli.BadInput("%s%w", flag, err)
	}
	m, err := model.Read(bytes.NewReader(text))
	if e, ok := errors.AsType[*model.VersionError](err); ok {
		return nil, cli.BadInput("%s%s has %w", flag, name, e)
	}
	if e, ok := errors.AsType[*model.FormatError](err); ok {
		return nil, cli.BadInput("%s%s is not a model: %w", flag, name, e.Err)
	}
	return m, err
}

// chooseFit returns a copy of the model with only the fit for the penalty gamma. If gamma is not given, the model
// must have a single fit.
func chooseFit(m *model.Model, gamma cli.Single) (*model.Model, error) {
	if !gamma.Given {
		if len(m.Fits) == 1 {
			return m, nil
		}
		return nil, cli.BadInput("--gamma: the model has fits for gamma = %s; choose one", listGammas(m.Gammas()))
	}
	g, err := cli.ParseGammas(gamma.Value, true)
	if err != nil {
		return nil, err
	}
	if len(g) == 1 {
		if one, err := m.At(g[0]); err == nil {
			return one, nil
		}
	}
	return nil, cli.BadInput(
		"--gamma: %s is not among the gammas of the model, %s",
		gamma.Value,
		listGammas(m.Gammas()),
	)
}

// listGammas formats gammas as a comma-separated list.
func listGammas(gammas []float64) string {
	words := make([]string, len(gammas))
	for i, g := range gammas {
		words[i] = fmt.Sprint(g)
	}
	return strings.Join(words, ", ")
}
