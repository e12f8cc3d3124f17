package corpus

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"time"
)

// ignored lists the JSON fields about time, speed, memory and place. They occur in the report of
// fit and solve, the table of ranks, the plan, and the paper's report and figures. A plan's bytes
// count the program itself, and its best and reason depend on the speed. time and rows_per_second
// belong to an interval of a live sketch.
var ignored = []string{
	"sketch_seconds", "total_seconds", "open_seconds", "seconds", "peak_rss_bytes",
	"communicating_seconds", "communicating_share", "time", "rows_per_second",
	"gemm_gflops", "read_gigabytes_per_second", "fresh_gigabytes_per_second", "bytes", "best", "reason",
	"version", "cpu", "platform", "go", "modules",
}

// A rule replaces all matches of a pattern in a text.
type rule struct {
	pattern *regexp.Regexp
	with    string
}

func replace(pattern, with string) rule { return rule{regexp.MustCompile(pattern), with} }

// The value of a JSON field is a number, a word, a string or an object without nested objects.
var fields = replace(
	`"(`+strings.Join(ignored, "|")+`)":\s*(-?[\d.]+(?:e[+-]?\d+)?|null|true|false|"(?:[^"\\]|\\.)*"|\{[^{}]*\})`,
	`"$1": ~`,
)

// words are rules for the texts of fit and solve, and for the text of the paper.
var words = []rule{
	replace(`\bin \d+\.\d+ s\b`, "in ~ s"),
	replace(`\d+ MiB at most`, "~ MiB at most"),
	replace(`(over the data(?: \([^)]*\))?), \d+\.\d+ s, \d+ MiB of memory`, "$1, ~ s, ~ MiB of memory"),
	replace(`^process \d+ on .*`, "process ~"), // a lock left by a checkpoint
	replace(
		`rank +rows +seconds +(?:of which )?communicating +sent +received`,
		"rank rows seconds communicating sent received",
	),
	replace(`(?m)^(\d+) +(\d+) +\d+\.\d\d +\d+\.\d\d (?:s )?\([^)]*\) +`, "$1 $2 ~ ~ "),
}

// page has the rules for the HTML report.
var page = []rule{
	replace(`(over the data(?: \([^)]*\))?), \d+\.\d+ s, \d+ MiB of memory`, "$1, ~ s, ~ MiB of memory"),
	replace(`<dt>Threads</dt><dd>(\d+) of [^<]*</dd>`, "<dt>Threads</dt><dd>$1 of ~</dd>"),
	replace(`each rank spent at most [^<]* of its time`, "each rank spent at most ~ of its time"),
	replace(`Written by fdridge [^<]*</footer>`, "Written by fdridge ~</footer>"),
}

// planned has the rules for the text of plan. They remove memory, times and the reason, and the mark of the
// fastest method. Methods that plan shows only if they are fastest are removed too.
var planned = []rule{
	replace(`[\d.]+(?:e[+-]\d+)? (GFLOP/s|GB/s of rows|s to open them|MiB|GiB|s\b)`, "~ $1"),
	replace(`(?m)^[→ ]*newton .*\n`, ""),
	replace(`(?m)^.*(?:\n  .*)*reaches\s+the\s+tolerance\s+fastest.*\n(?:  .*\n)*`, ""),
	replace(`→`, " "),
	replace(` +`, " "),
}

// paper has the rules for the tables of the paper and RESULTS.md. They remove the machine, the build, and the
// place in the code that judges or explains a claim. Claims about times are removed.
var paper = []rule{
	replace(`(?m)^.*\btime to sketch\b.*\n`, ""),
	replace(`(?m)^# (fdridge|CPU|Go): .*$`, "# $1: ~"),
	replace(`(?m)^(.*\b(?:fdridge|CPU|Go)\b *\| *).*$`, "$1~"),
	replace(`by a rule in [a-z/ ]+\.`, "by a rule in ~."),
	replace(`\bsee (ridge|paper)\.[A-Z][A-Za-z.]*`, "see ~"),
}

// normalise removes times and places from an output. It leaves binary files unchanged.
func normalise(b []byte) []byte {
	var rules []rule
	switch {
	case bytes.HasPrefix(b, []byte("{")):
		rules = []rule{fields}
	case bytes.HasPrefix(b, []byte("<!DOCTYPE html>")):
		rules = page
	case bytes.Contains(b, []byte("planned from")):
		rules = planned
	case bytes.HasPrefix(b, []byte("# ")):
		rules = paper
	case bytes.IndexByte(b, 0) < 0:
		rules = words
	}
	for _, r := range rules {
		b = r.pattern.ReplaceAll(b, []byte(r.with))
	}
	return b
}

// checksum is the length of the checksum at the end of a message.
const checksum = 4

// maskTimes returns a sketch file without its checksum and without the arrival times of rows. A time is any 8
// bytes whose value, in little-endian nanoseconds since 1970, lies between from and to.
func maskTimes(b []byte, from, to time.Time) []byte {
	out := bytes.Clone(b)
	for i := 0; i+8 <= len(out); {
		t := int64(binary.LittleEndian.Uint64(out[i:]))
		if t < from.UnixNano() || t > to.UnixNano() {
			i++
			continue
		}
		clear(out[i : i+8])
		i += 8
	}
	clear(out[max(0, len(out)-checksum):])
	return out
}
