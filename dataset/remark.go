package dataset

import "fmt"

// A Remark tells how an ambiguous text file was read. For example, 12.345 may have a decimal point, or a point that
// separates thousands.
type Remark struct {
	File string
	Line int // from 1; 0 if the remark is about the whole file
	Msg  string
	// Doubt is true if another interpretation of the text is as likely as the chosen interpretation. Msg then names the
	// options that select an interpretation.
	Doubt bool
}

// String returns the remark with its position, in the form file:line: message.
func (r Remark) String() string {
	if r.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Msg)
	}
	return r.File + ": " + r.Msg
}
