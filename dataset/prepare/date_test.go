package prepare

import (
	"testing"
	"time"
)

// TestParseDate: each layout gives the seconds of its date, and what could be another date, or is none, is refused.
func TestParseDate(t *testing.T) {
	day := time.Date(2024, 3, 5, 0, 0, 0, 0, time.UTC).Unix()
	for text, want := range map[string]int64{
		"2024-03-05": day, "2024-3-5": day, "2024/03/05": day, "05.03.2024": day, "5.3.2024": day, "2024-03": day - 4*86400,
		"5 Mar 2024": day, "05-MAR-2024": day, "5 march 2024": day, "Mar 5, 2024": day, "March 5 2024": day,
		"2024-03-05T14:30": day + 52200, "2024-03-05 14:30:15": day + 52215, "2024-03-05T14:30:15.999Z": day + 52215, "5 Mar 2024 9:05": day + 32700,
		"2024-03-05T14:30:00+01:00": day + 48600, "2024-03-05T14:30:00-0530": day + 72000, "2024-03-05T14:30:00+01": day + 48600, "2024-03-05 23:59:59Z": day + 86399,
		"1969-12-31": -86400, "0001-01-01": -62135596800, "2024-02-29": day - 5*86400,
	} {
		if got, ok := parseDate([]byte(text)); !ok || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "2024", "20240305", "03/05/2024", "5/3/2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-03-05T24:00", "2024-03-05T10:60", "24-03-05",
		"2024-03-05x", "x2024-03-05", "2024-03-05T", "2024-03 10:00", "5 Mai 2024", "14:30:00", "2024.03.05", "Tuesday", "12 345", "1.2.3", "2024-03-05 14:30 PM", "٢٠٢٤-03-05",
	} {
		if got, ok := parseDate([]byte(text)); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// FuzzParseDate: no text panics, and what is a date is one in ISO 8601, too.
func FuzzParseDate(f *testing.F) {
	f.Add("2024-03-05T14:30:15.999+01:00")
	f.Add("March 5, 2024 1:02")
	f.Fuzz(func(t *testing.T, text string) {
		seconds, ok := parseDate([]byte(text))
		again, is := parseDate([]byte(time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05Z")))
		if ok && (!is || again != seconds) && time.Unix(seconds, 0).UTC().Year() < 10000 &&
			time.Unix(seconds, 0).UTC().Year() >= 0 {
			t.Errorf("%q is %d, then %d", text, seconds, again)
		}
	})
}
