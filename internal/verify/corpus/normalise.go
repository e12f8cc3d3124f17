package main

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"time"
)

// ignored are the fields of JSON that are about time, speed, memory and place: of the
// report of fit and solve, the table of ranks, the plan, the paper's report and its
// figures. bytes is a plan's memory, which counts the program as it stands; best and
// reason are its choice, which the speed decides. time and rows_per_second are of an
// interval of a live sketch.
var ignored = []string{
	"sketch_seconds", "total_seconds", "open_seconds", "seconds", "peak_rss_bytes",
	"communicating_seconds", "communicating_share", "time", "rows_per_second",
	"gemm_gflops", "read_gigabytes_per_second", "fresh_gigabytes_per_second", "bytes", "best", "reason",
	"version", "cpu", "platform", "go", "modules",
}

// A rule replaces what matches in a text.
type rule struct {
	pattern *regexp.Regexp
	with    string
}

func replace(pattern, with string) rule { return rule{regexp.MustCompile(pattern), with} }

// A value in JSON is a number, a word, a string or a flat object.
var fields = replace(`"(`+strings.Join(ignored, "|")+`)":\s*(-?[\d.]+(?:e[+-]?\d+)?|null|true|false|"(?:[^"\\]|\\.)*"|\{[^{}]*\})`, `"$1": ~`)

// The texts of fit and solve, and of the paper.
var words = []rule{
	replace(`\bin \d+\.\d+ s\b`, "in ~ s"),
	replace(`\d+ MiB at most`, "~ MiB at most"),
	replace(`^process \d+ on .*`, "process ~"), // a lock that a checkpoint leaves
	replace(`rank +rows +seconds +of which communicating +sent +received`, "rank rows seconds of which communicating sent received"),
	replace(`(?m)^(\d+) +(\d+) +\d+\.\d\d +\d+\.\d\d \([^)]*\) +`, "$1 $2 ~ ~ "),
}

// The HTML report.
var page = []rule{
	replace(`<dt>(Time|Memory)</dt><dd>[^<]*</dd>`, "<dt>$1</dt><dd>~</dd>"),
	replace(`(\d+ threads? of )[^<]*</dd>`, "$1~</dd>"),
	replace(`up to [^<]* of a rank&#39;s time`, "up to ~ of a rank's time"),
	replace(` --targets \d+`, ""), // see knownTo
	replace(`Made by fdridge [^<]*</footer>`, "Made by fdridge ~</footer>"),
}

// The text of plan: the methods that it shows only where they are the fastest go, and
// so do the mark of the fastest, memory, times and the reason, its last but for sizes.
var planned = []rule{
	replace(`[\d.]+(?:e[+-]\d+)? (GFLOP/s|GB/s of rows|s to open them|MiB|GiB|s\b)`, "~ $1"),
	replace(`(?m)^[→ ]*(chebyshev|newton) .*\n`, ""),
	replace(`(?m)^.*reaches the tolerance soonest.*\n`, ""),
	replace(`→`, " "),
	replace(` +`, " "),
}

// What a table or RESULTS.md of the paper says of the machine and the build, and where
// in the code it says that a claim is judged or explained. Claims about times go.
var paper = []rule{
	replace(`(?m)^.*\btime to sketch\b.*\n`, ""),
	replace(`(?m)^# (fdridge|CPU|Go): .*$`, "# $1: ~"),
	replace(`(?m)^(.*\b(?:fdridge|CPU|Go)\b *\| *).*$`, "$1~"),
	replace(`by a rule in [a-z/ ]+\.`, "by a rule in ~."),
	replace(`\bsee (ridge|paper)\.[A-Z][A-Za-z.]*`, "see ~"),
}

// normalise takes from what was printed or written what is about time and place. Of
// binary files nothing is.
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

// checksum is the length of the checksum that ends the file of a sketch.
const checksum = 4

// maskTimes returns the file of a sketch without the times at which its rows came and
// without its checksum. A time is 8 bytes, little-endian nanoseconds since 1970, between
// from and to. All other bytes are kept.
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
