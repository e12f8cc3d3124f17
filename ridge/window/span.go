package window

import "time"

// A Span describes the rows that a summary of a [Window] or a [Fading] contains.
type Span struct {
	First, Rows int64     // the rows First to First+Rows−1 of all rows appended, counted from 0
	From, To    time.Time // times of the first and the last of these rows; zero without times
	// Edge is the number of rows of the oldest sketch if some of its rows are outside the window. Otherwise Edge is
	// 0. The rows of this sketch are the first rows of the Span, unless [Config.Inside] leaves them out. Edge is at
	// most [Config.Share] times the number of all other rows of the Span.
	Edge int64
}
