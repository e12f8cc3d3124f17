package window

import "time"

// A Span describes the rows that a summary of a [Window] or a [Fading] contains.
type Span struct {
	First, Rows int64     // the rows First to First+Rows−1 of all rows appended, counted from 0
	From, To    time.Time // times of the first and the last of these rows; zero without times
	// Edge is the number of rows of the sketch that contains rows inside and outside the window. Without such a sketch
	// it is 0. The Span begins with these rows, or, with [Config.Inside], right after them. Edge is at most
	// [Config.Share] times the number of all other rows of the Span.
	Edge int64
}
