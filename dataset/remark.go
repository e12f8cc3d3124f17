package dataset

import "fmt"

// A Remark tells how a text file was read that has more than one interpretation. For example, the point in 12.345
// is either a decimal point or separates thousands.
type Remark struct {
	File string
	Line int // from 1; 0 if the remark is about the whole file
	Msg  string
	// Doubt is true if another interpretation of the file is equally likely. Msg then names the options that select
	// one.
	Doubt bool
}

// String returns the remark with its position, in the form file:line: message.
func (r Remark) String() string {
	if r.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Msg)
	}
	return r.File + ": " + r.Msg
}
