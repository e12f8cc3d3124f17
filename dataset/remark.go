package dataset

import "fmt"

// A Remark tells how the text of a file was read, where another reading was possible.
type Remark struct {
	File string
	Line int // from 1; 0 if the remark is about the whole file
	Msg  string
	// Doubt is true if the other reading is as likely. The message then names the options that select one of the two.
	Doubt bool
}

// String returns the remark with its position, like the text of an [InputError].
func (r Remark) String() string {
	if r.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Msg)
	}
	return r.File + ": " + r.Msg
}
