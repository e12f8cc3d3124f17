package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/classes"
)

// Classes holds the class labels of a classification and the scores of the predicted classes.
type Classes struct {
	*classes.Classes
	*fdridge.Decisions
	HeldOut []*classes.Score // for each solution; nil: no rows were held out
}

// A classesRecord is the JSON form of Classes.
type classesRecord struct {
	Labels   []string    `json:"labels"`
	Counts   []int64     `json:"counts"`
	Balanced bool        `json:"balanced,omitempty"`
	Training []decisions `json:"training,omitempty"`
	LeftOut  *decisions  `json:"left_out,omitempty"`
	HeldOut  []decisions `json:"holdout,omitempty"`
}

// decisions is the JSON form of a score.
type decisions struct {
	*classes.Score
	Accuracy        number         `json:"accuracy"`
	Exact           ridge.Interval `json:"accuracy_bracket"`
	Balanced        number         `json:"balanced_accuracy"`
	BalancedBracket ridge.Interval `json:"balanced_accuracy_bracket"`
}

func newDecisions(s *classes.Score) decisions {
	value, exact := s.Accuracy()
	balanced, bracket := s.Balanced()
	return decisions{s, number(value), exact, number(balanced), bracket}
}

// Names returns the labels, or nil without classes.
func (c *Classes) Names() []string {
	if c == nil {
		return nil
	}
	return c.Labels
}

func (c *Classes) record() *classesRecord {
	if c == nil {
		return nil
	}
	out := &classesRecord{Labels: c.Labels, Counts: c.Counts, Balanced: c.Balanced}
	for _, s := range c.Training {
		out.Training = append(out.Training, newDecisions(s))
	}
	for _, s := range c.HeldOut {
		out.HeldOut = append(out.HeldOut, newDecisions(s))
	}
	if c.LeftOut != nil {
		one := newDecisions(c.LeftOut)
		out.LeftOut = &one
	}
	return out
}

// lines describes the classes and the accuracies.
func (c *Classes) lines(solutions []*ridge.Solution) []string {
	if c == nil {
		return nil
	}
	out := []string{fmt.Sprintf("%d classes and their rows: %s", len(c.Labels), listLabels(c.Labels, c.Counts))}
	most := 0
	all := int64(0)
	for k, n := range c.Counts {
		all += n
		if n > c.Counts[most] {
			most = k
		}
	}
	if all > 0 {
		out = append(out, fmt.Sprintf(
			"baseline: %.4g of the training rows have the label %s",
			float64(c.Counts[most])/float64(all),
			labelName(c.Labels[most]),
		))
	}
	for i, s := range solutions {
		at := ""
		if len(solutions) > 1 {
			at = fmt.Sprintf("gamma = %.4g: ", s.Gamma)
		}
		if c.Training != nil {
			out = append(out, at+accuracy("training rows", c.Training[i]))
			if k, same := onlyDecision(c.Training[i]); same {
				text := at + "all training rows get the label " + labelName(c.Labels[k])
				if !c.Balanced {
					text += "; --class-weight balanced gives rare classes more weight"
				}
				out = append(out, text)
			}
		}
		if c.HeldOut != nil {
			out = append(out, at+accuracy("held-out rows", c.HeldOut[i]))
		}
	}
	if c.LeftOut != nil {
		out = append(out, accuracy("rows left out one by one", c.LeftOut))
	}
	return out
}

// onlyDecision returns the class that was predicted for every row. same is false if several classes were predicted,
// or none.
func onlyDecision(s *classes.Score) (class int, same bool) {
	class = -1
	for _, row := range s.Confusion {
		for k, n := range row {
			if n > 0 && k != class {
				if class >= 0 {
					return 0, false
				}
				class = k
			}
		}
	}
	return class, class >= 0
}

// listLabels returns the first labels, separated by commas. Each label is followed by its count in parentheses,
// unless counts is nil.
func listLabels(labels []string, counts []int64) string {
	var words []string
	for k, label := range labels[:min(len(labels), mostNamed)] {
		word := labelName(label)
		if counts != nil {
			word += fmt.Sprintf(" (%d)", counts[k])
		}
		words = append(words, word)
	}
	if len(labels) > mostNamed {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// labelName returns a label as one line of text. It quotes a label that contains control characters.
func labelName(label string) string {
	if strings.ContainsFunc(label, unicode.IsControl) {
		return strconv.Quote(errtext.Excerpt(label))
	}
	return errtext.Excerpt(label)
}

// accuracy describes one score.
func accuracy(which string, s *classes.Score) string {
	value, exact := s.Accuracy()
	balanced, _ := s.Balanced()
	text := fmt.Sprintf(
		"accuracy on %s: %.4g, balanced %.4g, of %d; %d %s proved",
		which,
		value,
		balanced,
		s.Rows,
		s.Proved,
		plural(int(s.Proved), "decision is", "decisions are"),
	)
	if s.Proved < s.Rows {
		text += "; the exact solution's accuracy lies in " + bracket(exact)
	}
	if s.Unknown > 0 {
		text += fmt.Sprintf(
			"; %d %s a label that no training row has, and count as wrong",
			s.Unknown,
			plural(int(s.Unknown), "row has", "rows have"),
		)
	}
	return text
}

// WriteAccuracy writes the accuracy and the confusion matrix of predicted classes to w.
func WriteAccuracy(w io.Writer, labels []string, s *classes.Score) {
	w = errtext.Writer(w)
	fmt.Fprintln(w, wrapText(accuracy("these rows", s)))
	if t := confusionTable(labels, "these", s); t != nil {
		fmt.Fprintln(w)
		t.write(w)
	}
}

// confusion returns the confusion matrix of the first solution as a table. It uses the first kind of predictions in
// this list that was computed:
//   - predictions for held-out rows
//   - leave-one-out predictions
//   - predictions for training rows
//
// It returns nil if none was computed, or if the fit is no classification.
func (c *Classes) confusion() *table {
	switch {
	case c == nil:
	case len(c.HeldOut) > 0:
		return confusionTable(c.Labels, "held out", c.HeldOut[0])
	case c.LeftOut != nil:
		return confusionTable(c.Labels, "left out one by one", c.LeftOut)
	case len(c.Training) > 0:
		return confusionTable(c.Labels, "training", c.Training[0])
	}
	return nil
}

// confusionTable returns the confusion matrix of s as a table. It has a row for each class and a column for each
// predicted class. The last column is the recall: the share of the rows of a class that were predicted correctly.
// The first heading is kind, which says what rows were counted. For more than 12 classes confusionTable returns
// nil.
func confusionTable(labels []string, kind string, s *classes.Score) *table {
	const most = 12
	if len(labels) > most {
		return nil
	}
	const recall = "recall"
	t := &table{keys: 1, rows: [][]string{{kind}}, verbatim: true}
	for _, label := range labels {
		t.rows[0] = append(t.rows[0], "→ "+shorten(labelName(label), 16))
	}
	t.rows[0] = append(t.rows[0], recall)
	for k, row := range s.Confusion {
		cells := []string{shorten(labelName(labels[k]), 24)}
		total := int64(0)
		for _, n := range row {
			cells = append(cells, fmt.Sprint(n))
			total += n
		}
		share := "no row"
		if total > 0 {
			share = percent(float64(row[k]) / float64(total))
		}
		t.add(append(cells, share)...)
	}
	return t
}
