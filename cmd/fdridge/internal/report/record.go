package report

import (
	"encoding/json"
	"io"

	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// What is written for a program, as a model has it.
type (
	number           = model.Number
	perTarget[T any] = model.PerTarget[T]
)

// A fitRecord is the object that fit --json prints. With one γ the fields of its fit stand at
// the top level too.
type fitRecord struct {
	N            int64           `json:"n"`
	D            int             `json:"d"`
	Targets      int             `json:"targets"`
	Size         int             `json:"size"`
	Scatter      bool            `json:"scatter,omitempty"` // AᵀA itself is kept, in place of a sketch of that size
	Lanes        int             `json:"lanes,omitempty"`   // that were fed side by side, where there were several
	NNZ          int64           `json:"nnz"`
	Format       string          `json:"format"`
	Backend      string          `json:"backend"`
	Kernel       string          `json:"kernel"`
	Method       ridge.Method    `json:"method"`
	MethodReason string          `json:"method_reason,omitempty"`
	Reads        int             `json:"reads"`
	SketchTime   number          `json:"sketch_seconds"`
	TotalTime    number          `json:"total_seconds"`
	PeakRSS      int64           `json:"peak_rss_bytes"`
	Converged    bool            `json:"converged"`
	Status       ridge.Status    `json:"status,omitzero"`    // why not
	Tol          number          `json:"tol,omitempty"`      // that was asked for, where it was not reached
	Unsolved     []number        `json:"unsolved,omitempty"` // γ at which there is no solution
	Remedies     []string        `json:"remedies,omitempty"`
	Model        string          `json:"model,omitempty"`
	Penalties    *penalties      `json:"penalties,omitempty"` // where columns had some
	Choice       *choice         `json:"choice,omitempty"`
	Trace        []*Trace        `json:"trace,omitempty"`
	Ranks        []Rank          `json:"ranks,omitempty"`    // with --mpi
	Encoding     *encodingRecord `json:"encoding,omitempty"` // of columns, where something was made of them
	HeldOut      *heldOutRecord  `json:"holdout,omitempty"`
	Fits         []model.Record  `json:"fits"`
}

// A Rank is what one of several ranks has done.
type Rank struct {
	Rank     int    `json:"rank"`
	Rows     int64  `json:"rows"`
	Seconds  number `json:"seconds"`
	Waiting  number `json:"communicating_seconds"` // moving bytes and waiting for others
	Share    number `json:"communicating_share"`   // of the seconds
	Sent     int64  `json:"bytes_sent"`
	Received int64  `json:"bytes_received"`
}

// NewRank is what a rank has done in so many seconds, of which it was communicating some.
func NewRank(rank int, rows int64, seconds, communicating float64, sent, received int64) Rank {
	return Rank{rank, rows, number(seconds), number(communicating), number(communicating / seconds), sent, received}
}

// record is the fit for a program.
func (f *Fit) record() *fitRecord {
	found, cost := f.Found, &f.Cost
	t, d := found.Solutions[0].Dims()
	out := &fitRecord{
		N: found.Solutions[0].Rows, D: d, Targets: t, Size: f.Size(), Scatter: f.scatter() != "", NNZ: f.Data.Nonzeros, Format: f.Data.Format,
		Backend: cost.Backend, Kernel: cost.Kernel, Method: found.Method, MethodReason: f.methodReason(), Reads: cost.Reads,
		SketchTime: number(cost.Sketched.Seconds()), TotalTime: number(cost.Total.Seconds()), PeakRSS: rss.Peak(),
		Converged: found.Err() == nil, Remedies: f.Remedies, Model: f.Written.Model, Trace: f.Traces, Ranks: cost.Ranks,
		Penalties: f.penalties(), Encoding: f.Data.Encoded.record(), HeldOut: f.heldOut(),
	}
	if s := found.Summary; s != nil && s.Config().Lanes > 1 {
		out.Lanes = s.Config().Lanes
	}
	for _, s := range found.Solutions {
		out.Fits = append(out.Fits, model.NewRecord(s, &f.Data.Preparation, cost.PreparingReads))
	}
	if !out.Converged {
		out.Tol, out.Status = number(f.Asked.Tol), found.Status
	}
	for _, g := range found.Unsolved() {
		out.Unsolved = append(out.Unsolved, number(g))
	}
	if found.Choice != nil {
		out.Choice = describe(found.Choice, wording{narrower: f.narrower(), far: f.far()})
	}
	return out
}

// WriteJSON writes one object.
func (f *Fit) WriteJSON(w io.Writer) error {
	rec := f.record()
	if len(rec.Fits) > 1 {
		return WriteJSON(w, rec)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	one, err := rec.Fits[0].MarshalWithout("method", "converged", "status") // which the report has itself
	if err != nil {
		return err
	}
	return WriteJSON(w, json.RawMessage(append(append(text[:len(text)-1], ','), one[1:]...)))
}

// WriteJSON writes a value as all commands do, indented.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
