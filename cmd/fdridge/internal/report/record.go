package report

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// Types of numbers in JSON.
type (
	number           = model.Number
	perTarget[T any] = model.PerTarget[T]
)

// ReportVersion is the version of the JSON objects that fit and predict print. From version 2 on, a field with a
// value for each target is always a list. Objects without a version number have version 1. In version 1 such a
// field is a single value if there is one target.
const ReportVersion = 2

// A fitRecord is the JSON object that fit --json prints. Fits has an element for each penalty γ. If there is only
// one, the fields of this element are repeated at the top level.
type fitRecord struct {
	Version int   `json:"fdridge_report"`
	N       int64 `json:"n"`
	D       int   `json:"d"`
	Targets int   `json:"targets"`
	Size    int   `json:"size"`
	Scatter bool  `json:"scatter,omitempty"` // AᵀA is stored instead of a sketch
	// number of sketches built in parallel; omitted if there is only one
	Lanes        int               `json:"lanes,omitempty"`
	NNZ          int64             `json:"nnz"`
	Format       string            `json:"format"`
	Backend      string            `json:"backend"`
	Kernel       string            `json:"kernel"`
	Method       ridge.Method      `json:"method"`
	MethodReason string            `json:"method_reason,omitempty"`
	Reads        int               `json:"reads"`
	SketchTime   number            `json:"sketch_seconds"`
	TotalTime    number            `json:"total_seconds"`
	PeakRSS      int64             `json:"peak_rss_bytes"`
	Converged    bool              `json:"converged"`
	Status       ridge.Status      `json:"status,omitzero"`    // why a fit missed its tolerance
	Tol          number            `json:"tol,omitempty"`      // only if a fit missed the tolerance
	Unsolved     []number          `json:"unsolved,omitempty"` // γ without a solution
	Remedies     []string          `json:"remedies,omitempty"`
	Model        string            `json:"model,omitempty"`
	Penalties    *penalties        `json:"penalties,omitempty"` // nil: all are 1
	Choice       *choice           `json:"choice,omitempty"`
	Each         *eachChoice       `json:"per_target,omitempty"`
	Trace        []*Trace          `json:"trace,omitempty"`
	Ranks        []Rank            `json:"ranks,omitempty"`    // one record for each process, with --mpi
	Encoding     *encodingRecord   `json:"encoding,omitempty"` // encoding of the columns
	HeldOut      *heldOutRecord    `json:"holdout,omitempty"`
	Coverage     []*model.Coverage `json:"coverage,omitempty"` // one for each element of Fits
	// for each element of Fits, and each target
	StandardErrors   [][]standardErrorsRecord `json:"standard_errors,omitempty"`
	NoStandardErrors string                   `json:"no_standard_errors,omitempty"` // why they are missing
	Classes          *classesRecord           `json:"classes,omitempty"`
	Fits             []model.Record           `json:"fits"`
}

// A Rank is the JSON record of the work of one process in a job with --mpi. Its field Rank is the number of the
// process.
type Rank struct {
	Rank     int    `json:"rank"`
	Rows     int64  `json:"rows"`
	Seconds  number `json:"seconds"`
	Waiting  number `json:"communicating_seconds"` // time for transfers and waiting
	Share    number `json:"communicating_share"`   // fraction of Seconds
	Sent     int64  `json:"bytes_sent"`
	Received int64  `json:"bytes_received"`
}

// NewRank returns the record of one process of a job with --mpi. transferSeconds is the time for transfers between
// the processes, including the time to wait for them.
func NewRank(rank int, rows int64, seconds, transferSeconds float64, sent, received int64) Rank {
	return Rank{rank, rows, number(seconds), number(transferSeconds), number(transferSeconds / seconds), sent, received}
}

// record returns the JSON form of the report.
func (f *Fit) record() *fitRecord {
	found := f.Found
	cost := &f.Cost
	t, d := found.Solutions[0].Dims()
	out := &fitRecord{
		Version:          ReportVersion,
		N:                found.Solutions[0].Rows,
		D:                d,
		Targets:          t,
		Size:             f.Size(),
		Scatter:          f.describeGram() != "",
		NNZ:              f.Data.Nonzeros,
		Format:           f.Data.Format,
		Backend:          cost.Backend,
		Kernel:           cost.Kernel,
		Method:           found.Method,
		MethodReason:     f.methodReason(),
		Reads:            cost.Reads,
		SketchTime:       number(cost.Sketched.Seconds()),
		TotalTime:        number(cost.Total.Seconds()),
		PeakRSS:          rss.Peak(),
		Converged:        found.Err() == nil,
		Remedies:         f.Remedies,
		Model:            f.Written.Model,
		Trace:            f.Traces,
		Ranks:            cost.Ranks,
		Penalties:        f.penalties(),
		Encoding:         f.Data.Encoded.record(),
		HeldOut:          f.heldOut(),
		Classes:          f.Classes.record(),
		Coverage:         f.Coverage,
		StandardErrors:   f.standardErrors(),
		NoStandardErrors: f.NoStandardErrors,
	}
	if s := found.Summary; s != nil && d == 0 { // the coefficients were not kept
		out.D = s.Config().Dim
	}
	if s := found.Summary; s != nil && s.Config().Lanes > 1 {
		out.Lanes = s.Config().Lanes
	}
	for _, s := range found.Solutions {
		out.Fits = append(out.Fits, model.NewRecord(s, &f.Data.Preparation, cost.PreparingReads))
	}
	if !out.Converged {
		out.Tol = number(f.Asked.Tol)
		out.Status = found.Status
	}
	for _, g := range found.Unsolved() {
		out.Unsolved = append(out.Unsolved, number(g))
	}
	if found.Choice != nil {
		out.Choice = describe(found.Choice, wording{f.narrower()})
	}
	if found.Each != nil {
		out.Each = describeEach(found.Each)
	}
	return out
}

// scores returns, for each target, an interval that contains the score by which the penalty γ was chosen. If the
// user gave γ, the score is GCV (generalised cross-validation).
func (r *fitRecord) scores(of *model.Record) brackets {
	if r.Each != nil {
		return r.Each.Scores
	}
	if r.Choice != nil {
		for _, p := range r.Choice.Path {
			if p.scores != nil && p.Gamma == of.Gamma {
				return slices.Repeat(p.scores, len(of.Certificates)/len(p.scores)) // an error rate has one bracket for all targets
			}
		}
	}
	var out brackets
	for _, c := range of.Certificates {
		out = append(out, c.GCV)
	}
	return out
}

// WriteJSON writes the report as one JSON object.
func (f *Fit) WriteJSON(w io.Writer) error {
	rec := f.record()
	if len(rec.Fits) > 1 {
		return WriteJSON(w, rec)
	}
	text, err := jsonfields.Value(rec)
	if err != nil {
		return err
	}
	one, err := rec.Fits[0].MarshalWithout("method", "converged", "status") // the report itself has these fields
	if err != nil {
		return err
	}
	return WriteJSON(w, json.RawMessage(append(append(text[:len(text)-1], ','), one[1:]...)))
}

// WriteJSON writes a value as indented JSON. A float64 is written with a point or an exponent, even if it is an
// integer.
func WriteJSON(w io.Writer, v any) error {
	return jsonfields.Encode(w, v, "  ")
}
