package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A predictionWriter writes predictions one at a time.
type predictionWriter interface {
	write(row *model.Prediction) error
	end() error
}

// outFormats are the values of --out-format.
var outFormats = []string{"auto", "text", "csv", "arrow", "arrows", "npy"}

// predictionForm returns the format of the predictions: "csv", "arrow", "arrows", "npy", or "" for plain text and
// for JSON.
func (o *predictOptions) predictionForm() (string, error) {
	as, err := o.form()
	if err != nil {
		return "", err
	}
	switch {
	case as == "" ||
		as == "text" ||
		as == "csv" && o.json && o.outFormat == "auto":
		return "", nil
	case as == "csv" && !o.json:
		return as, nil
	case o.json || o.digits:
		return "", cli.BadInput(
			"--out-format: %s has numbers, not the text of --json or --digits; leave out one of the two", as)
	}
	return as, nil
}

// writer returns a writer of predictions to w. If prompt is true, predictions in the Arrow format are written
// before the program waits for the next rows.
func (p *predictionRun) writer(w io.Writer, prompt bool) (predictionWriter, error) {
	switch {
	case p.block != nil:
		return p.block, nil
	case p.asJSON:
		return &jsonPredictions{
			predictionRun: p,
			to:            w,
			all:           []model.PerTarget[model.Number]{},
		}, nil
	case p.form == "npy":
		return p.decider.asNumbers(&npyPredictions{to: w, keys: p.keys}), nil
	case p.form == "csv":
		names := p.columnNames()
		if p.keys != nil {
			names[0] = csvField(names[0])
		}
		if _, err := fmt.Fprintln(w, strings.Join(names, ",")); err != nil {
			return nil, err
		}
	}
	switch {
	case p.form != "" && p.form != "csv":
	case p.decider != nil:
		return &linesOfClasses{p.decider, p.keys, csv.NewWriter(w)}, nil
	default:
		return &linesOfPredictions{predictionRun: p, to: bufio.NewWriter(w)}, nil
	}
	notes := []string{"gamma", strconv.FormatFloat(p.gamma, 'g', -1, 64)}
	if basis := p.of.Basis(); basis != "" {
		notes = append(notes, "intervals_from", string(basis))
	}
	to, err := arrow.NewWriter(w, p.form == "arrows", p.columnNames(), notes...)
	return p.decider.asNumbers(&arrowPredictions{to: to, keys: p.keys, prompt: prompt}), err
}

// columnNames returns the names of the columns of a csv or Arrow file of predictions.
func (p *predictionRun) columnNames() []string {
	var names []string
	if p.keys != nil {
		names = append(names, p.keys.name)
	}
	if p.decider != nil {
		return append(names, "class", "margin", "proved")
	}
	k, _ := p.of.Dims()
	for j := range k {
		suffix := ""
		if k > 1 {
			suffix = fmt.Sprintf("_%d", j+1)
		}
		names = append(names, "prediction"+suffix)
		if p.of.Basis() != "" && !p.asDigits {
			names = append(names, "low"+suffix, "high"+suffix)
		}
	}
	return names
}

// linesOfPredictions writes each prediction as a line of text. It flushes its buffer after the last row of each
// block, because the next block may take time.
type linesOfPredictions struct {
	*predictionRun
	to   *bufio.Writer
	line []byte
}

func (l *linesOfPredictions) write(row *model.Prediction) error {
	l.line = append(l.appendLine(l.keys.appendTo(l.line[:0]), row), '\n')
	if _, err := l.to.Write(l.line); err != nil || !row.Last {
		return err
	}
	return l.to.Flush()
}

func (l *linesOfPredictions) end() error { return l.to.Flush() }

// appendLine appends the text of one row's predictions to line, without a newline.
func (p *predictionRun) appendLine(line []byte, row *model.Prediction) []byte {
	for j, v := range row.Y {
		if j > 0 {
			line = append(line, ',')
		}
		if p.asDigits {
			line = append(line, report.Proved(row.Intervals[j])...)
			continue
		}
		line = strconv.AppendFloat(line, v, 'g', -1, 64)
		if row.Intervals != nil {
			line = strconv.AppendFloat(append(line, ','), row.Intervals[j].Lo, 'g', -1, 64)
			line = strconv.AppendFloat(append(line, ','), row.Intervals[j].Hi, 'g', -1, 64)
		}
	}
	return line
}

// npyPredictions collects all predictions and then writes them as one .npy array. The array has the same columns as
// the text format.
type npyPredictions struct {
	to   io.Writer
	keys *keyReader // nil: none
	rows int
	all  []float64
}

func (a *npyPredictions) write(row *model.Prediction) error {
	a.rows++
	if a.keys != nil {
		key, err := a.keys.number()
		if err != nil {
			return err
		}
		a.all = append(a.all, key)
	}
	for j, v := range row.Y {
		a.all = append(a.all, v)
		if row.Intervals != nil {
			a.all = append(a.all, row.Intervals[j].Lo, row.Intervals[j].Hi)
		}
	}
	return nil
}

func (a *npyPredictions) end() error {
	if a.rows == 0 {
		return npy.Write(a.to, 0, 1, nil)
	}
	return npy.Write(a.to, a.rows, len(a.all)/a.rows, a.all)
}

// blockPredictions collects predictions for blocks of targets in one array. The array has a row for each row of the
// data, and a column for each target.
type blockPredictions struct {
	rows, targets int
	first         int       // the first target of the block, counted from 0
	all           []float64 // rows×targets
}

func (a *blockPredictions) write(row *model.Prediction) error {
	if i := int(row.Row); i >= a.rows {
		a.rows = i + 1
		a.all = append(a.all, make([]float64, a.rows*a.targets-len(a.all))...)
	}
	copy(a.all[int(row.Row)*a.targets+a.first:], row.Y)
	return nil
}

func (a *blockPredictions) end() error { return nil }

// jsonPredictions writes one JSON object after the last prediction.
type jsonPredictions struct {
	*predictionRun
	to        io.Writer
	all       []model.PerTarget[model.Number]
	intervals []model.PerTarget[ridge.Interval]

	keysOfRows []string
}

func (o *jsonPredictions) write(row *model.Prediction) error {
	o.all = append(o.all, model.Numbers(row.Y))
	if o.keys != nil {
		o.keysOfRows = append(o.keysOfRows, o.keys.key)
	}
	if d := o.decider; d != nil {
		d.labels = append(d.labels, d.label())
		d.margins = append(d.margins, model.Number(d.margin))
		d.proved = append(d.proved, d.isProved)
	}
	if row.Intervals != nil {
		o.intervals = append(o.intervals, slices.Clone(row.Intervals))
	}
	return nil
}

func (o *jsonPredictions) end() error {
	record := map[string]any{
		"fdridge_report": report.ReportVersion,
		"gamma":          o.gamma,
		"n":              len(o.all),
		"predictions":    o.all,
	}
	if o.decider != nil {
		record["classes"] = o.decider.Labels
		record["labels"] = o.decider.labels
		record["margins"] = o.decider.margins
		record["proved"] = o.decider.proved
	}
	if o.keys != nil {
		record["key"], record["keys"] = o.keys.name, o.keysOfRows
	}
	if o.gammas != nil {
		record["gammas"] = o.gammas
	}
	if o.intervals != nil {
		record["intervals"], record["intervals_from"] = o.intervals, o.of.Basis()
	}
	var r2, rmse []float64
	var r2Brackets, rmseBrackets, maeBrackets, baselines model.PerTarget[ridge.Interval]
	for _, s := range o.scores {
		r2 = append(r2, s.R2())
		rmse = append(rmse, s.RMSE())
		r2Brackets = append(r2Brackets, s.R2Bracket())
		rmseBrackets = append(rmseBrackets, s.RMSEBracket())
		maeBrackets = append(maeBrackets, s.MAEBracket())
		baselines = append(baselines, s.BaselineBracket())
	}
	if o.scores != nil {
		record["r2"], record["rmse"] = model.Numbers(r2), model.Numbers(rmse)
		record["r2_bracket"], record["rmse_bracket"] = r2Brackets, rmseBrackets
		record["mae_bracket"], record["baseline_rmse_bracket"] = maeBrackets, baselines
	}
	return jsonfields.Encode(o.to, record, "")
}
