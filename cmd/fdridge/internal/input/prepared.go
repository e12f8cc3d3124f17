package input

import (
	"errors"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
)

// CheckPreparationMemory returns an error if the weights of the Fourier features do not fit into memory.
func CheckPreparationMemory(p *model.Preparation) error {
	if p.Features == nil {
		return nil
	}
	return cli.CheckMemory(8*float64(p.Inputs)*float64(p.Features.Components), cli.ManyFeatures, "--features: rff:%d of %d columns", p.Features.Components, p.Inputs)
}

// PrepareEncoded returns the rows of src after the preparation p is applied to them. o configures the encoding of
// cells.
func PrepareEncoded(p *model.Preparation, src dataset.Source, be engine.Backend, o prepare.EncodeOptions) (dataset.Source, error) {
	if err := CheckPreparationMemory(p); err != nil {
		return nil, err
	}
	src, err := p.ApplyEncoded(src, be, o)
	return src, UnwrapPreparation(err)
}

// UnwrapPreparation returns the cause of a *model.PreparationError, and any other error unchanged.
func UnwrapPreparation(err error) error {
	if e, ok := errors.AsType[*model.PreparationError](err); ok {
		return cli.BadInput("%w", e.Err)
	}
	return err
}
