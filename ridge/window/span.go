package window

import "time"

// A Span says which rows a summary covers that was read from a [Window] or a [Fading].
type Span struct {
	First, Rows int64     // rows First to First+Rows, the last not included, of all that were appended, counted from 0
	From, To    time.Time // when the first and the last of them came; zero where no time was told
	// Edge is how many rows the sketch holds that the edge of the window goes through, 0 where it
	// goes between two sketches or through rows that are kept. These are the first of those covered,
	// and at least one of them was asked for and one was not; with [Config.Inside] they are
	// those right before First. All other rows that are covered were asked for. Edge is at most
	// [Config.Share] times as many as these.
	Edge int64
}
