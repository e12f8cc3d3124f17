package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A keyReader reads the key of each row: the text in the column that --key names.
type keyReader struct {
	name string // of the column
	next func() (string, error, bool)
	row  int64  // of the current key, from 0
	key  string // of the current row
}

// read reads the key of a row, where row counts from 0. It must be called for each row once, in ascending order.
func (k *keyReader) read(row int64) error {
	key, err, ok := k.next()
	if err != nil {
		return err
	}
	if !ok {
		return cli.BadInput("--key: the column %s ends before row %d", errtext.Excerpt(k.name), row+1)
	}
	k.row, k.key = row, key
	return nil
}

// appendTo appends the current key as a csv field, followed by a comma. If k is nil, it appends nothing.
func (k *keyReader) appendTo(line []byte) []byte {
	if k == nil {
		return line
	}
	return append(append(line, csvField(k.key)...), ',')
}

// number returns the current key as a number. It returns NaN if the row has no key.
func (k *keyReader) number() (float64, error) {
	if k.key == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(k.key, 64)
	if err != nil || math.Abs(v) > 1<<53 {
		return 0, cli.BadInput(
			"--key: row %d has the key %q, which is not exact as a number, and arrays hold only numbers: "+
				"write csv (--out-format csv)",
			k.row+1,
			errtext.Excerpt(k.key),
		)
	}
	return v, nil
}

// csvField returns a text as a csv field, in quotes if necessary.
func csvField(text string) string {
	if text == strings.TrimSpace(text) && !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
