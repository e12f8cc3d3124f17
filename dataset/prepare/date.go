package prepare

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// parseDate parses a date, with or without a time, and returns its seconds since 1970-01-01 UTC, without fractions. A
// time without a zone is UTC. Ambiguous dates such as 01/02/2006 are not accepted. The layouts are
//
//	2006-01-02, 2006/01/02, 2006-01    ISO 8601, and with slashes
//	02.01.2006                         day, month and year with dots
//	2 Jan 2006, 2-Jan-2006             an English month, whole or its first three letters
//	Jan 2, 2006
//
// A time follows T or a blank: 15:04, 15:04:05, 15:04:05.000; then Z, +07:00, +0700 or nothing.
func parseDate(s []byte) (seconds int64, ok bool) {
	const longest = 40
	if len(s) < len("2006-1") || len(s) > longest || !utf8.Valid(s) {
		return 0, false
	}
	layouts, clock := dayFirst, ""
	switch c := s[0]; {
	case s[4] == '-' || s[4] == '/':
		layouts = yearFirst
	case c < '0' || c > '9':
		layouts = monthFirst
	}
	date := string(s)
	if at := strings.IndexByte(date, ':'); at >= 0 { // the hour before the colon follows T or a blank
		at = strings.LastIndexAny(date[:at], "T ")
		if at < 0 {
			return 0, false
		}
		date, clock = date[:at], date[at+1:]
	}
	for _, layout := range layouts {
		day, err := time.Parse(layout, date)
		if err != nil || clock != "" && layout == "2006-1" {
			continue
		}
		if clock == "" {
			return day.Unix(), true
		}
		for _, layout := range clocks {
			if t, err := time.Parse(layout, clock); err == nil {
				return day.Unix() + t.Unix() - midnight, true
			}
		}
	}
	return 0, false
}

// isLikeDate reports whether a text looks like a date: three numbers separated by points, slashes or hyphens, such
// as 14.03.24 or 03/14/2024. The day, the month and the year can be in any order.
func isLikeDate(s string) bool {
	s, _, _ = strings.Cut(s, " ")
	parts := strings.FieldsFunc(s, func(r rune) bool {
		return r == '.' || r == '/' || r == '-'
	})
	if len(parts) != 3 ||
		len(s) != len(parts[0])+len(parts[1])+len(parts[2])+2 {
		return false
	}
	const lastDay, lastMonth = 31, 12
	days, months := 0, 0 // numbers that can be days, and numbers that can be months
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil || len(part) == 3 || len(part) > 4 {
			return false
		}
		if 1 <= n && n <= lastDay {
			days++
			if n <= lastMonth {
				months++
			}
		}
	}
	first, last := len(parts[0]), len(parts[2])
	return days >= 2 &&
		months >= 1 &&
		len(parts[1]) <= 2 &&
		(first == 4 && last <= 2 || first <= 2 && last%2 == 0)
}

// These are the layouts of dates and times for package time. Its parser also accepts single digits, upper and lower
// case, and fractions of seconds.
var (
	yearFirst  = []string{"2006-1-2", "2006/1/2", "2006-1"}
	monthFirst = []string{"Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006"}
	dayFirst   = []string{"2.1.2006", "2 Jan 2006", "2-Jan-2006", "2 January 2006", "2-January-2006"}
	clocks     = []string{
		"15:04:05",
		"15:04:05Z07:00",
		"15:04",
		"15:04:05Z0700",
		"15:04:05Z07",
		"15:04Z07:00",
		"15:04Z0700",
		"15:04Z07",
	}
)

// midnight is the result, in seconds, of parsing the time 00:00 without a date. It is subtracted from parsed times.
var midnight = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// A DateUnit names a part of a date, such as "month". The part becomes one or more features.
type DateUnit string

// Elapsed and Year become one number. Month, Weekday and Hour become one feature of 0 and 1 for each value.
const (
	Elapsed DateUnit = "elapsed" // days since 1970-01-01, with fractions
	Year    DateUnit = "year"
	Month   DateUnit = "month"   // 1 to 12
	Weekday DateUnit = "weekday" // 1 to 7, from Monday on
	Hour    DateUnit = "hour"    // 0 to 23
)

var dateUnits = []DateUnit{Elapsed, Year, Month, Weekday, Hour}

// isNumber reports whether the part becomes one number.
func (p DateUnit) isNumber() bool { return p == Elapsed || p == Year }

// of returns the part p of a date, which is given in seconds since the start of 1970.
func (p DateUnit) of(seconds float64) float64 {
	if p == Elapsed {
		return seconds / 86400
	}
	t := time.Unix(int64(seconds), 0).UTC()
	switch p {
	case Year:
		return float64(t.Year())
	case Month:
		return float64(t.Month())
	case Weekday:
		return float64((t.Weekday()+6)%7 + 1)
	}
	return float64(t.Hour())
}

// IsDate reports whether a text is a date that [Look] recognises. The text must have no surrounding blanks.
func IsDate(text []byte) bool {
	_, ok := parseDate(text)
	return ok
}
