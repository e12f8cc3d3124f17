package window

import "time"

// A Span describes the rows that a summary of a [Window] or a [Fading] contains.
type Span struct {
	First, Rows int64     // the rows First to First+Rows−1 of all rows appended, counted from 0
	From, To    time.Time // times of the first and the last of these rows; zero without times
	// Edge is the number of rows of the sketch at the edge of the window, which contains rows inside and outside the window. It
	// is 0 if there is no such sketch.
	//
	// The rows of the Span begin with the rows of this sketch, or, with [Config.Inside], right after them. All other rows of the
	// Span are inside the window. Edge is at most [Config.Share] times the number of these other rows.
	Edge int64
}
