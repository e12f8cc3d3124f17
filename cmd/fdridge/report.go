package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// What is written for a program, as a model has it.
type (
	number           = model.Number
	perTarget[T any] = model.PerTarget[T]
	fitRecord        = model.Record
)

// record describes a fit; passes counts every read of the data it rests on.
func (r *result) record(f *ridge.Solution) fitRecord {
	out := model.NewRecord(f, &r.prep, r.scans)
	out.Converged = r.failure == nil || !slices.ContainsFunc(f.Targets, func(o ridge.Target) bool { return !(o.RelativeErrorBound <= r.o.tol) })
	return out
}

// jsonReport is the object that fit --json prints. With one γ the fields of its
// fit stand at the top level too.
type jsonReport struct {
	N            int64        `json:"n"`
	D            int          `json:"d"`
	Targets      int          `json:"targets"`
	Size         int          `json:"size"`
	NNZ          int64        `json:"nnz"`
	Format       string       `json:"format"`
	Backend      string       `json:"backend"`
	Kernel       string       `json:"kernel"`
	Method       string       `json:"method"`
	MethodReason string       `json:"method_reason,omitempty"`
	Reads        int          `json:"reads"`
	SketchTime   number       `json:"sketch_seconds"`
	TotalTime    number       `json:"total_seconds"`
	PeakRSS      int64        `json:"peak_rss_bytes"`
	Converged    bool         `json:"converged"`
	Model        string       `json:"model,omitempty"`
	SizedFor     number       `json:"size_for_error,omitempty"` // the error that the size was chosen for
	Choice       *choice      `json:"choice,omitempty"`
	Trace        []*trace     `json:"trace,omitempty"`
	Ranks        []rankRecord `json:"ranks,omitempty"` // with --mpi
	Fits         []fitRecord  `json:"fits"`
}

func (r *result) report() jsonReport {
	t, d := r.fits[0].Dims()
	out := jsonReport{
		N: r.fits[0].Rows, D: d, Targets: t, Size: r.size, NNZ: r.nnz, Format: r.format,
		Backend: r.backend.Name(), Kernel: r.backend.Capabilities()["kernel"],
		Method: r.method, MethodReason: r.reason, Reads: r.reads,
		SketchTime: number(r.sketched.Seconds()), TotalTime: number(r.total.Seconds()), PeakRSS: rss.Peak(),
		Converged: r.failure == nil, Trace: r.traces, Ranks: r.ranks, SizedFor: number(r.sizedFor),
	}
	if r.failure == nil {
		out.Model = r.o.out
	}
	for _, f := range r.fits {
		out.Fits = append(out.Fits, r.record(f))
	}
	if r.choice != nil {
		out.Choice = describe(r.choice)
		out.Choice.narrower = r.narrower()
	}
	return out
}

// A choice is how γ was chosen: by the least score, summed over the targets.
type choice struct {
	By       string         `json:"by"` // "gcv" or "cv"
	Gamma    number         `json:"gamma"`
	Score    ridge.Interval `json:"score"`
	Certain  bool           `json:"certain"`  // no other γ of the path can have a smaller score
	Possible [2]number      `json:"possible"` // the least and the largest γ that can
	Excess   number         `json:"excess"`   // how much smaller another one's score can be
	AtEnd    bool           `json:"at_end"`   // it is the least or the largest of the path
	Path     []pathPoint    `json:"path"`

	narrower string // what would make brackets narrower
}

type pathPoint struct {
	Gamma              number                    `json:"gamma"`
	EffectiveDimension ridge.Interval            `json:"effective_dimension"`
	RSS                perTarget[ridge.Interval] `json:"rss"`
	GCV                perTarget[ridge.Interval] `json:"gcv"`
	CV                 perTarget[ridge.Interval] `json:"cv,omitempty"`
	RelativeErrorBound perTarget[number]         `json:"relative_error_bound"`
}

func describe(p *ridge.GammaChoice) *choice {
	gamma := func(i int) number { return number(p.Path[i].Gamma) }
	possible := p.Possible
	c := &choice{
		By: "gcv", Gamma: gamma(p.Index), Score: p.Score, Certain: p.Certain, Excess: number(p.Excess),
		Possible: [2]number{gamma(possible[0]), gamma(possible[len(possible)-1])},
	}
	if p.CV != nil {
		c.By = "cv"
	}
	c.AtEnd = p.Index == 0 || p.Index == len(p.Path)-1
	for i, f := range p.Path {
		point := pathPoint{Gamma: number(f.Gamma), EffectiveDimension: f.EffectiveDimension}
		for j := range f.Targets {
			o := &f.Targets[j]
			point.RSS, point.GCV = append(point.RSS, o.RSS), append(point.GCV, o.GCV)
			point.RelativeErrorBound = append(point.RelativeErrorBound, number(o.RelativeErrorBound))
		}
		if p.CV != nil {
			point.CV = p.Scores[i]
		}
		c.Path = append(c.Path, point)
	}
	return c
}

// score is what was least, in words.
func (c *choice) score() string {
	return map[string]string{"gcv": "GCV", "cv": "cross-validated error"}[c.By]
}

// String says it in words.
func (c *choice) String() string {
	gamma := fmt.Sprintf("gamma %.4g", float64(c.Gamma))
	switch {
	case c.Certain:
		return fmt.Sprintf("%s has the least %s of %d, for certain%s", gamma, c.score(), len(c.Path), c.edge())
	case math.IsInf(c.Score.Hi, 1) || math.IsNaN(c.Score.Hi):
		return fmt.Sprintf("%s: the sketch bounds no %s from above, the choice says nothing", gamma, c.score())
	case float64(c.Excess) <= 1e-9*c.Score.Hi:
		return fmt.Sprintf("%s has the least %s of %d, %s; others have the same, to round-off%s", gamma, c.score(), len(c.Path), bracket(c.Score), c.edge())
	}
	return fmt.Sprintf("%s has the least proved %s of %d, %s; the sketch leaves open any from %s to %s, %s would narrow it%s",
		gamma, c.score(), len(c.Path), bracket(c.Score), atLeast(float64(c.Possible[0]), 4, general), atMost(float64(c.Possible[1]), 4, general), c.narrower, c.edge())
}

// narrower is what would make the brackets of GCV narrower: a sketch of d rows has only
// round-off left.
func (r *result) narrower() string {
	if r.size < r.sum.Config().Dim {
		return "a larger --size"
	}
	return "--standardize, or features of like scale,"
}

// edge warns that the γ chosen is the least or the largest of those tried.
func (c *choice) edge() string {
	if !c.AtEnd {
		return ""
	}
	return "; it is at the end of those tried, and the best may lie beyond: say --gamma auto:G,G,…"
}

func (r *result) writeJSON(w io.Writer) error {
	rep := r.report()
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if len(rep.Fits) > 1 {
		return e.Encode(rep)
	}
	// Of fields by the same name the outer ones are printed: method, converged.
	return e.Encode(struct {
		jsonReport
		oneFit
	}{rep, oneFit{rep.Fits[0]}})
}

// oneFit nests a record one level deeper, so that a field the report has by the
// same name wins.
type oneFit struct{ fitRecord }

// human prints the report for a person.
func (r *result) human(w io.Writer) error {
	rep := r.report()
	fmt.Fprintf(w, "%d rows × %d features, %d target(s), read %d time(s) in %.2f s on %s (%s), %d MiB at most\n",
		rep.N, rep.D, rep.Targets, rep.Reads, float64(rep.TotalTime), rep.Backend, rep.Kernel, (rep.PeakRSS+1<<20-1)>>20)
	if rep.MethodReason != "" {
		fmt.Fprintf(w, "method %s: %s\n", rep.Method, rep.MethodReason)
	}
	if rep.Choice != nil {
		fmt.Fprintln(w, rep.Choice)
	}
	if rep.Size > 0 {
		fmt.Fprintf(w, "sketch of %d rows in %.2f s, ‖AᵀA − BᵀB‖ ≤ %s%s\n", rep.Size, float64(rep.SketchTime), atMost(float64(rep.Fits[0].Shrinkage), 4, general), r.missed())
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\ngamma\ttarget\tmethod\tpasses\trelative error ≤\t‖x̂ − x*‖ ≤\tR²\teffective dimension\tGCV\tstopped")
	for _, f := range rep.Fits {
		for j := range f.R2 {
			fmt.Fprintf(tab, "%.6g\t%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", float64(f.Gamma), j+1, f.Method, f.Passes,
				atMost(float64(f.RelativeErrorBound[j]), 3, general), atMost(float64(f.ErrorBound[j]), 3, general), bracket(f.R2Bracket[j]), bracket(f.EffectiveDimension), bracket(f.GCV[j]), f.Stop)
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if rep.Ranks != nil {
		fmt.Fprintln(tab, "\nrank\trows\tseconds\tof which communicating\tsent\treceived")
		for _, k := range rep.Ranks {
			fmt.Fprintf(tab, "%d\t%d\t%.2f\t%.2f (%s)\t%s\t%s\n", k.Rank, k.Rows, float64(k.Seconds), float64(k.Waiting), percent(float64(k.Share)), megabytes(k.Sent), megabytes(k.Received))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	for _, written := range [][2]string{{"model", rep.Model}, {"report", r.o.report}} {
		if written[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s written to %s\n", written[0], written[1]); err != nil {
			return err
		}
	}
	return nil
}

func megabytes(b int64) string { return fmt.Sprintf("%.3g MB", float64(b)/1e6) }

// missed says that the one-shot fit does not have the error that the size was chosen
// for, by a pilot, if so.
func (r *result) missed() string {
	if r.sizedFor == 0 || r.method != "one-shot" {
		return ""
	}
	worst := 0.0
	for _, f := range r.fits {
		for j := range f.Targets {
			worst = math.Max(worst, f.Targets[j].RelativeErrorBound)
		}
	}
	if worst <= r.sizedFor {
		return ""
	}
	return fmt.Sprintf("; it was chosen for an error of %g by every tenth row, and all of them prove %s: ask for less, or for more rows", r.sizedFor, atMost(worst, 3, general))
}
