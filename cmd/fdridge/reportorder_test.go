package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReportOrder: text and page have the scores first, then the coefficients, then what is proved.
func TestReportOrder(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	text := must(t, "fit", "--data", flats, "--target", "rent", "--prepare", "auto", "--holdout", "0.2", "--report", page)
	at := -1
	for _, word := range []string{"held-out R²", "\ncoefficient ", "error ≤", "\ncolumn ", "\nmethod "} {
		next := strings.Index(text, word)
		if next <= at {
			t.Errorf("%q is at byte %d of the text, after %d", word, next, at)
		}
		at = next
	}
	var sections []string
	for _, found := range regexp.MustCompile(`<section id="([a-z-]+)"`).FindAllStringSubmatch(
		parsePage(t, page).text, -1,
	) {
		sections = append(sections, found[1])
	}
	want := []string{"held-out", "weights", "certificate", "path", "columns", "ran", "reproduce"}
	if !slices.Equal(sections, want) {
		t.Errorf("sections %v, not %v", sections, want)
	}
	if !strings.Contains(parsePage(t, page).text, "The coefficients, in the units of the file, are proved") {
		t.Error("the verdict does not speak of the units of the file")
	}
}

// TestDrawnRows: the caption of a picture with a part of the held-out rows gives the numbers and the reason.
func TestDrawnRows(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	must(t, "fit", "--data", housing, "--target", "last", "--gamma", "1", "--holdout", "0.2", "--report", page)
	found := regexp.MustCompile(
		`(\d+) of the (\d+) rows, evenly spaced, because`,
	).FindStringSubmatch(parsePage(t, page).text)
	if found == nil || found[2] != "4170" {
		t.Errorf("the caption says %q", found)
	}
}

// TestRecall: the recall of a class is the share of its rows on the diagonal of the table.
func TestRecall(t *testing.T) {
	rows := "x,y\n"
	for i := range 40 {
		label := "low"
		if i >= 20 != (i%10 == 3) { // a tenth of each class has the other label
			label = "high"
		}
		rows += fmt.Sprintf("%d,%s\n", i, label)
	}
	text := must(t, "fit", "--data", write(t, "rows.csv", rows), "--target", "y", "--classes", "--gamma", "1")
	for _, want := range []string{
		`(?m)^training +→ high +→ low +recall$`,
		`(?m)^high +18 +2 +90 %$`,
		`(?m)^low +2 +18 +90 %$`,
		`baseline: 0.5 of the training rows have the label high`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no line like %s in\n%s", want, text)
		}
	}
}
