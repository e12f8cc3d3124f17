package main

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/classes"
)

// A decider predicts the class of each row with a classification model. The fields class, margin and isProved are
// the results for the row that was last decided.
type decider struct {
	*classes.Classes
	texts *prepare.Lexicon // labels of the target
	score *classes.Score   // of the rows that have a label

	class    int // −1 for a row that the model leaves out
	margin   float64
	isProved bool // the exact solution is proved to decide for class

	labels  []string // of all rows, for JSON
	margins []model.Number
	proved  []bool
}

func newDecider(labels []string, texts *prepare.Lexicon) *decider {
	c := &classes.Classes{Labels: labels}
	return &decider{
		Classes: c,
		texts:   texts,
		score:   c.NewScore(),
		labels:  []string{},
		margins: []model.Number{},
		proved:  []bool{},
	}
}

// decide predicts the class of a row. If the true label of the row is known, decide also counts whether the
// prediction is right.
func (d *decider) decide(row *model.Prediction) {
	d.class = -1
	d.margin = math.NaN()
	d.isProved = false
	if math.IsNaN(row.Y[0]) {
		return
	}
	d.class = classes.Decide(row.Y)
	d.margin = classes.Margin(row.Y)
	d.isProved = classes.Proves(row.Intervals, d.class)
	if len(row.Observed) == 1 && !math.IsNaN(row.Observed[0]) {
		d.score.Add(
			slices.Index(d.Labels, d.texts.Label(row.Observed[0])),
			row.Y,
			row.Intervals,
		)
	}
}

// label returns the predicted class of the last row, or "" if the model made no prediction for that row.
func (d *decider) label() string {
	if d.class < 0 {
		return ""
	}
	return d.Labels[d.class]
}

// linesOfClasses writes one csv line for each row: the predicted label, the margin, and whether the prediction is
// proved for the exact solution. With keys, the line begins with the key of the row.
type linesOfClasses struct {
	*decider
	keys *keyReader // nil: none
	to   *csv.Writer
}

func (l *linesOfClasses) write(row *model.Prediction) error {
	fields := []string{
		l.label(),
		strconv.FormatFloat(l.margin, 'g', -1, 64),
		strconv.FormatBool(l.isProved),
	}
	if l.keys != nil {
		fields = append([]string{l.keys.key}, fields...)
	}
	err := l.to.Write(fields)
	if err == nil && row.Last {
		l.to.Flush()
		err = l.to.Error()
	}
	return err
}

func (l *linesOfClasses) end() error {
	l.to.Flush()
	return l.to.Error()
}

// asNumbers returns a writer that passes each row to next as three numbers:
//   - the predicted class, counted from 0
//   - the margin
//   - 1 if the class is proved for the exact solution, otherwise 0
//
// If d is nil, because the model is not for classes, asNumbers returns next itself.
func (d *decider) asNumbers(next predictionWriter) predictionWriter {
	if d == nil {
		return next
	}
	return &numbersOfClasses{next, d}
}

type numbersOfClasses struct {
	predictionWriter
	*decider
}

func (n *numbersOfClasses) write(row *model.Prediction) error {
	proved := 0.0
	if n.isProved {
		proved = 1
	}
	return n.predictionWriter.write(&model.Prediction{
		Y:    []float64{float64(n.class), n.margin, proved},
		Last: row.Last,
	})
}
