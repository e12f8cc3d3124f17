// Package classes fits classifications by ridge regression, like scikit-learn's RidgeClassifier. Each class becomes
// a target: 1 for the rows of the class and −1 for all other rows. A row is assigned to the class with the largest
// prediction. If there are only two classes, one target is enough: 1 for class 1 and −1 for class 0. A row is then
// assigned to class 1 if its prediction is positive.
package classes

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// Most is the largest number of classes.
const Most = 1 << 16

// Classes are the classes of the training rows. Class k has the label Labels[k]. Labels are sorted by value if all
// labels are numbers, and otherwise by their bytes.
type Classes struct {
	Labels []string // text of each label
	Counts []int64  // number of training rows with each label
	// Balanced multiplies the weight of each row of a class by n/(K·m), for K classes, n rows and m rows of this
	// class. This is class_weight="balanced" of scikit-learn.
	Balanced bool

	classOf map[float64]int // class of each value of the target
}

// Learn makes a pass over src and returns the classes. src has one target, and each different value of this target is
// a class. The function text returns the label of a value. If text is nil, the label is the value as a decimal number.
//
// The error is a *[dataset.SourceError] in these cases:
//
//   - src does not have exactly one target.
//   - All labels are equal, or all labels are different.
//   - There are more than [Most] classes.
//
// The error is [ridge.ErrEmpty] if there are no rows.
func Learn(ctx context.Context, src dataset.Source, text func(value float64) string) (*Classes, error) {
	return LearnShared(ctx, src, text, nil)
}

// LearnShared is like [Learn] for several processes that share the rows. Each process reads its own rows, and all
// processes get the same classes. The processes may use different target values for one label. gather sends the
// message own to all processes. It returns the messages of all processes, in the same order on every process. If
// gather is nil, src has all rows.
func LearnShared(
	ctx context.Context, src dataset.Source, text func(value float64) string,
	gather func(ctx context.Context, own []byte) ([][]byte, error),
) (*Classes, error) {
	if src == nil {
		return nil, unfit("no source of rows")
	}
	if _, _, t := src.Dims(); t != 1 {
		return nil, unfit("%d targets; the labels of the classes must be in one column", t)
	}
	if text == nil {
		text = func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	}
	values, err := countValues(ctx, src)
	if err != nil {
		return nil, err
	}
	counts, valueOf := map[string]int64{}, map[string]float64{}
	for v, count := range values {
		label := text(v)
		counts[label], valueOf[label] = count, v
	}
	if gather != nil {
		counts, err = pool(ctx, counts, gather)
		if err != nil {
			return nil, err
		}
	}
	c := &Classes{Labels: slices.Collect(maps.Keys(counts)), classOf: map[float64]int{}}
	c.sort()
	n := int64(0)
	for k, label := range c.Labels {
		c.Counts = append(c.Counts, counts[label])
		n += counts[label]
		if v, own := valueOf[label]; own {
			c.classOf[v] = k
		}
	}
	switch k := int64(len(c.Labels)); {
	case k == 0:
		return nil, ridge.ErrEmpty
	case k > Most:
		return nil, unfit("the target has more than %d labels: is it a number?", Most)
	case k == 1:
		return nil, unfit(
			"all %d rows have the label %q; a classification needs two classes",
			n,
			errtext.Excerpt(c.Labels[0]),
		)
	case k == n && n > 2:
		return nil, unfit("each of the %d rows has a label of its own: is the target a number?", n)
	}
	return c, nil
}

func unfit(format string, args ...any) error {
	return &dataset.SourceError{Reason: fmt.Sprintf(format, args...)}
}

// countValues counts the rows with each value of the target.
func countValues(ctx context.Context, src dataset.Source) (map[float64]int64, error) {
	counts := map[float64]int64{}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for _, v := range b.Y[:b.N] {
			counts[v]++
		}
		if len(counts) > Most {
			return nil, unfit("the target has more than %d labels: is it a number?", Most)
		}
	}
	return counts, nil
}

// pool adds the counts of all processes.
func pool(
	ctx context.Context, own map[string]int64, gather func(ctx context.Context, own []byte) ([][]byte, error),
) (map[string]int64, error) {
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	messages, err := gather(ctx, text)
	if err != nil {
		return nil, err
	}
	all := map[string]int64{}
	for _, message := range messages {
		var counts map[string]int64
		if err := json.Unmarshal(message, &counts); err != nil {
			return nil, err
		}
		for label, count := range counts {
			all[label] += count
		}
	}
	return all, nil
}

// sort sorts the labels by value if all are numbers, and otherwise by their bytes.
func (c *Classes) sort() {
	values := make(map[string]float64, len(c.Labels))
	for _, label := range c.Labels {
		v, err := strconv.ParseFloat(label, 64)
		if err != nil {
			slices.Sort(c.Labels)
			return
		}
		values[label] = v
	}
	slices.SortFunc(c.Labels, func(a, b string) int {
		if values[a] < values[b] {
			return -1
		}
		return 1
	})
}

// Targets returns the number of targets of a fit with k classes: 1 for two classes, and k for any other number.
func Targets(k int) int {
	if k == 2 {
		return 1
	}
	return k
}

// Targets returns the number of targets of a fit.
func (c *Classes) Targets() int { return Targets(len(c.Labels)) }

// Of returns the class whose rows have the given value of the target, or −1 if no training row has this value.
func (c *Classes) Of(value float64) int {
	if k, ok := c.classOf[value]; ok {
		return k
	}
	return -1
}

// weight returns the factor for the weights of the rows of class k. It is 1 unless Balanced is true.
func (c *Classes) weight(k int) float64 {
	if !c.Balanced {
		return 1
	}
	n := int64(0)
	for _, v := range c.Counts {
		n += v
	}
	return float64(n) / (float64(len(c.Counts)) * float64(c.Counts[k]))
}

// Encode returns src with targets of ±1 instead of its only target. The function [Targets] gives their number. If
// Balanced is true, the weight of each row is multiplied by the factor of its class. If a row has a label that is
// not among the classes, a pass ends with a *[dataset.SourceError].
func (c *Classes) Encode(src dataset.Source) dataset.Source {
	return &encoded{c, src}
}

type encoded struct {
	*Classes
	src dataset.Source
}

func (e *encoded) Dims() (n int64, d, t int) {
	n, d, _ = e.src.Dims()
	return n, d, e.Targets()
}

func (e *encoded) Once() bool { return dataset.Once(e.src) }

func (e *encoded) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return e.BlocksFrom(ctx, 0)
}

// BlocksFrom implements [dataset.From].
func (e *encoded) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		var y, w []float64
		t := e.Targets()
		weights := make([]float64, len(e.Labels))
		for k := range weights {
			weights[k] = e.weight(k)
		}
		for b, err := range dataset.From(ctx, e.src, firstRow) {
			if err != nil {
				yield(dataset.Block{}, err)
				return
			}
			y, w = y[:0], w[:0]
			for i, v := range b.Y[:b.N] {
				class := e.Of(v)
				if class < 0 {
					yield(
						dataset.Block{},
						&dataset.SourceError{
							Reason: fmt.Sprintf(
								"row %d has a label that no row had in the pass before",
								b.First+int64(i)+1,
							),
						},
					)
					return
				}
				for k := range t {
					sign := -1.0
					if t == 1 && class == 1 || t > 1 && class == k {
						sign = 1
					}
					y = append(y, sign)
				}
				w = append(w, b.Weight(i)*weights[class])
			}
			b.Y = y
			if e.Balanced {
				b.W = w
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}
