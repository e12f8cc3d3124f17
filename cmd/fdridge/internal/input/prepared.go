package input

import (
	"errors"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
)

// CheckPreparationMemory returns an error if the random weights of the Fourier features in p do not fit into memory.
func CheckPreparationMemory(p *model.Preparation) error {
	if p.Features == nil {
		return nil
	}
	return cli.CheckMemory(
		8*float64(p.Inputs)*float64(p.Features.Components),
		cli.ManyFeatures,
		"--features: rff:%d of %d columns",
		p.Features.Components,
		p.Inputs,
	)
}

// PrepareEncoded applies the preparation p to the rows of src: encoding, scaling and computed features. The options o
// concern the encoding.
func PrepareEncoded(
	p *model.Preparation,
	src dataset.Source,
	be engine.Backend,
	o prepare.EncodeOptions,
) (dataset.Source, error) {
	if err := CheckPreparationMemory(p); err != nil {
		return nil, err
	}
	src, err := p.ApplyEncoded(src, be, o)
	return src, UnwrapPreparation(err)
}

// UnwrapPreparation returns the error inside a *model.PreparationError. It returns other errors unchanged.
func UnwrapPreparation(err error) error {
	if e, ok := errors.AsType[*model.PreparationError](err); ok {
		return cli.BadInput("%w", e.Err)
	}
	return err
}
