package prepare

import (
	"cmp"
	"slices"
)

// A Text states how numbers and missing values are written in text files. A model keeps it, so that new rows are
// read like the training rows. With the zero value, readers detect this from the file.
type Text struct {
	// Decimal is the decimal mark, "." or ",". The other character then separates groups of three digits. "" means
	// that readers detect the mark.
	Decimal string `json:"decimal,omitempty"`
	// Marks are further texts and numbers that stand for a missing value. The usual marks, such as NA, need not be
	// named.
	Marks []string `json:"missing_marks,omitempty"`
	// FirstIndex is the smallest column index of svmlight files, "0" or "1". "" means that readers detect it.
	FirstIndex string `json:"first_index,omitempty"`
	// Escape is the character that stands before a quote in a quoted text. It is '\\' for "5\" pipe", and '"' for
	// "5"" pipe". The second form is always accepted. 0 means that readers detect whether the first form occurs.
	Escape byte `json:"-"`
	// IsDefault means that Decimal is used only for files whose numbers do not show which mark they use.
	IsDefault bool `json:"-"`
}

// Or returns t with its empty settings replaced by the settings of a model. The marks for missing values of both
// apply.
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
