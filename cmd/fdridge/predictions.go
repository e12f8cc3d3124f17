package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A predictionWriter writes predictions, one after the other.
type predictionWriter interface {
	write(row *model.Prediction) error
	end() error
}

// arrow says in which form of Arrow predictions are written, "" for none.
func (o *predictOptions) arrow() (string, error) {
	if err := oneOf("out-format", o.outFormat, "auto", "text", "arrow", "arrows"); err != nil {
		return "", err
	}
	as := o.outFormat
	if as == "auto" {
		as = map[string]string{".arrow": "arrow", ".feather": "arrow", ".arrows": "arrows"}[filepath.Ext(o.out)]
	}
	switch {
	case as == "" || as == "text":
		return "", nil
	case slices.Contains(file.LeftOut(), "arrow"):
		return "", badInput("--out-format: this fdridge was built without Arrow (tag noarrow): it writes predictions as text or JSON")
	case o.json || o.digits:
		return "", badInput("--out-format: %s has all digits of the numbers; --json and --digits are text", as)
	}
	return as, nil
}

// writer returns what writes to w. prompt says that a batch ends where no more rows have come.
func (p *predictionRun) writer(w io.Writer, prompt bool) (predictionWriter, error) {
	switch {
	case p.asJSON:
		return &jsonPredictions{predictionRun: p, to: w, all: []model.PerTarget[model.Number]{}}, nil
	case p.asArrow == "":
		return &linesOfPredictions{predictionRun: p, to: bufio.NewWriter(w)}, nil
	}
	k, _ := p.of.Dims()
	var names []string
	for j := range k {
		suffix := ""
		if k > 1 {
			suffix = fmt.Sprintf("_%d", j+1)
		}
		names = append(names, "prediction"+suffix)
		if p.of.Basis() != "" {
			names = append(names, "low"+suffix, "high"+suffix)
		}
	}
	notes := []string{"gamma", strconv.FormatFloat(p.gamma, 'g', -1, 64)}
	if basis := p.of.Basis(); basis != "" {
		notes = append(notes, "intervals_from", string(basis))
	}
	return newArrowPredictions(w, p.asArrow == "arrows", prompt, names, notes)
}

// linesOfPredictions are text, flushed where no more rows have come.
type linesOfPredictions struct {
	*predictionRun
	to   *bufio.Writer
	line []byte
}

func (l *linesOfPredictions) write(row *model.Prediction) error {
	l.line = append(l.appendLine(l.line[:0], row), '\n')
	if _, err := l.to.Write(l.line); err != nil || !row.Last {
		return err
	}
	return l.to.Flush()
}

func (l *linesOfPredictions) end() error { return l.to.Flush() }

// appendLine appends a line without its end.
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

// jsonPredictions are one object, written at the end.
type jsonPredictions struct {
	*predictionRun
	to        io.Writer
	all       []model.PerTarget[model.Number]
	intervals []model.PerTarget[ridge.Interval]
}

func (o *jsonPredictions) write(row *model.Prediction) error {
	o.all = append(o.all, model.Numbers(row.Y))
	if row.Intervals != nil {
		o.intervals = append(o.intervals, slices.Clone(row.Intervals))
	}
	return nil
}

func (o *jsonPredictions) end() error {
	report := map[string]any{"gamma": o.gamma, "n": len(o.all), "predictions": o.all}
	if o.intervals != nil {
		report["intervals"], report["intervals_from"] = o.intervals, o.of.Basis()
	}
	var r2, rmse []float64
	for _, s := range o.scores {
		r2, rmse = append(r2, s.R2()), append(rmse, s.RMSE())
	}
	if o.scores != nil {
		report["r2"], report["rmse"] = model.Numbers(r2), model.Numbers(rmse)
	}
	return json.NewEncoder(o.to).Encode(report)
}
