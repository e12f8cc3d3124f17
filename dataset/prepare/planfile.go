package prepare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/internal/jsonfields"
)

// planVersion is the version of the plan file.
const planVersion = 1

// planFile is the JSON form of an encoding with Columns, such as an encoding made by [Look]. Users may edit the
// JSON. Fields of the encoding that follow from the columns are left out.
type planFile struct {
	Version int      `json:"fdridge_plan"`
	Targets Missing  `json:"targets,omitempty"`
	Lenient bool     `json:"lenient,omitempty"`
	Columns []Column `json:"columns"`
}

// WritePlan writes an encoding made by [Look] as JSON. The file may be edited before [ReadPlan] reads it.
func (e *Encoding) WritePlan(w io.Writer) error {
	if e.Columns == nil {
		return newSourceError("the encoding is not a plan")
	}
	text, err := jsonfields.Text(planFile{planVersion, e.Targets, e.Lenient, e.Columns})
	if err != nil {
		return err
	}
	return jsonfields.Write(w, text, "  ")
}

// ReadPlan reads an encoding from JSON that WritePlan has written and that may have been edited. Without edits, the
// result equals the encoding that was written. Unknown fields are an error.
func ReadPlan(r io.Reader) (*Encoding, error) {
	from := json.NewDecoder(r)
	from.DisallowUnknownFields()
	var p planFile
	err := from.Decode(&p)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is not a plan: %w", jsonfields.Explain(err))
	case p.Version != planVersion:
		return nil, fmt.Errorf("it is a plan of version %d, this program reads version %d", p.Version, planVersion)
	case len(p.Columns) == 0:
		return nil, errors.New("it has no columns")
	}
	if _, err := from.Token(); err != io.EOF {
		return nil, errors.New("there is more after the plan")
	}
	return FromColumns(p.Columns, p.Targets, p.Lenient)
}
