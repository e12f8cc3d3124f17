package prepare

import (
	"cmp"
	"slices"
)

// A Text states how numbers and missing values are written in text files. A model keeps it, so that new rows are read
// like the training rows. The zero value means that the notation is detected.
type Text struct {
	// Decimal is the decimal mark, "." or ",". The other mark then separates groups of three digits. "" detects the
	// mark.
	Decimal string `json:"decimal,omitempty"`
	// Marks are texts and numbers that stand for a missing value, beside the usual ones.
	Marks []string `json:"missing_marks,omitempty"`
	// FirstIndex is the smallest index of svmlight rows, "0" or "1". "" detects it.
	FirstIndex string `json:"first_index,omitempty"`
	// Escape is the character before a quote within quotes: '\\' as in "5\" pipe", or '"' as in "5"" pipe". A quote after
	// another quote is always read. 0 detects whether \" is a quote.
	Escape byte `json:"-"`
	// IsDefault means that Decimal is used only for files whose numbers do not show which mark they use.
	IsDefault bool `json:"-"`
}

// Or returns t completed by the settings of a model: a setting that t leaves empty has the model's value. The marks of
// both apply.
func (t Text) Or(model *Text) Text {
	if model == nil {
		return t
	}
	if t.Decimal == "" {
		t.Decimal, t.IsDefault = model.Decimal, true
	}
	if t.FirstIndex == "" {
		t.FirstIndex = cmp.Or(model.FirstIndex, "1")
	}
	t.Marks = append(slices.Clone(model.Marks), t.Marks...)
	return t
}

// IsZero reports whether t sets nothing.
func (t Text) IsZero() bool {
	return t.Decimal == "" &&
		len(t.Marks) == 0 &&
		t.FirstIndex == ""
}
