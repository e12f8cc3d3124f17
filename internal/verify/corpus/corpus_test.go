package corpus

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCommands: the corpus can be read, and each entry is called something else, reads
// data that are made, and has something to compare.
func TestCommands(t *testing.T) {
	all, err := parse(commandText)
	if err != nil {
		t.Fatal(err)
	}
	there := []string{
		"in/cal.csv",
		"in/cal.csv.gz",
		"in/w8a.svm",
		"in/rows.parquet",
		"in/flats.csv",
		"in/rows.arrows",
		"in/rows.arrow",
		"in/none.csv",
	}
	for name := range made() {
		there = append(there, "in/"+name)
	}
	names, lines := make(map[string]bool), 0
	for _, e := range all {
		if names[e.name] {
			t.Errorf("two entries are called %q", e.name)
		}
		names[e.name] = true
		if len(e.commands) == 0 || e.commands[len(e.commands)-1].until != "" {
			t.Errorf("%s: nothing is compared", e.name)
		}
		for _, c := range e.commands {
			lines++
			for _, word := range strings.FieldsFunc(strings.Join(append(c.args, c.stdin), ","), func(r rune) bool { return r == ',' }) {
				if strings.HasPrefix(word, "in/") && !slices.Contains(there, word) {
					t.Errorf("%s: there is no %s", e.name, word)
				}
			}
		}
	}
	if lines < 400 {
		t.Errorf("%d command lines", lines)
	}
}

// TestParse: what words before a command line say.
func TestParse(t *testing.T) {
	all, err := parse(
		"# a comment\nname of it\n\texit=2 ranks=3 stdin=E stdout=F until=G timed=H,I fit --gamma auto:1=2\n",
	)
	if err != nil || len(all) != 1 || all[0].name != "name of it" || !all[0].byRanks() {
		t.Fatalf("%+v, %v", all, err)
	}
	c := all[0].commands[0]
	if c.exit != 2 || c.ranks != 3 || c.stdin != "E" || !slices.Equal(c.timed, []string{"H", "I"}) || c.stdout != "F" ||
		c.until != "G" ||
		strings.Join(c.args, " ") != "fit --gamma auto:1=2" {
		t.Errorf("%+v", c)
	}
	for _, text := range []string{"\tfit\n", "a\n\tspeed=1 fit\n", "a\n\texit=x fit\n", "a\n\texit=1\n"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestMade: the data are the same each time.
func TestMade(t *testing.T) {
	a, b := made(), made()
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s is another the second time", name)
		}
	}
}

// TestIgnored: what is about time and place is no difference.
func TestIgnored(t *testing.T) {
	for name, c := range map[string][2]string{
		"fields":  {"{\n  \"total_seconds\": 1.5e-3,\n  \"n\": 3\n}", "{\n  \"total_seconds\": null,\n  \"n\": 3\n}"},
		"live":    {`{"time":"2026-11-23T08:47:50.326Z","rows":9,"rows_per_second":7873.7}`, `{"time":"2026-11-24T08:47:50Z","rows":9,"rows_per_second":78}`},
		"last":    {`{"n":3,"seconds":2}`, `{"n":3,"seconds":3}`},
		"string":  {`{"go": "go1 \"x\"", "n": 3}`, `{"go": "go2", "n": 3}`},
		"object":  {"{\"modules\": {\n\"a\": \"v1\"\n}, \"n\": 3}", "{\"modules\": {\"b\": \"v2\"}, \"n\": 3}"},
		"text":    {"3 passes over the data, 0.01 s, 30 MiB of memory, purego (avx2)", "3 passes over the data, 12.51 s, 112 MiB of memory, purego (avx2)"},
		"lock":    {"process 1826 on vm", "process 18420 on another"},
		"ranks":   {"rank  rows  seconds  communicating  sent  received\n0     5     0.15     0.05 s (34 %)  2 MB  3 MB\n", "rank  rows  seconds  communicating  sent  received\n0     5     10.15    0.05 s (0.4 %) 2 MB  3 MB\n"},
		"page":    {"<!DOCTYPE html>\n<dd>3 passes over the data, 0.01 s, 30 MiB of memory, purego</dd><dt>Threads</dt><dd>2 of A</dd><footer>Written by fdridge v1.</footer>", "<!DOCTYPE html>\n<dd>3 passes over the data, 2.01 s, 31 MiB of memory, purego</dd><dt>Threads</dt><dd>2 of B</dd><footer>Written by fdridge v2.</footer>"},
		"planned": {"planned from 3 rows; 9 GFLOP/s\n→ exact 5 MiB 2.3e-05 s yes\n  newton 3\n\nexact reaches the tolerance fastest\n", "planned from 3 rows; 11 GFLOP/s\n  exact    6 MiB 2 s     yes\n\ncg reaches the tolerance fastest; newton is next\n"},
		"paper":   {"# fdridge: v1\n# n: 3\nsee ridge.Estimator.Bounds;\n", "# fdridge: v2\n# n: 3\nsee paper.Estimator.Bounds;\n"},
	} {
		if d := differences(outcome{name: []byte(c[0])}, outcome{name: []byte(c[1])}); d != nil {
			t.Error(d)
		}
	}
}

// TestDifferences: a last digit, an exit code, a byte and a file are told, and where.
func TestDifferences(t *testing.T) {
	base := outcome{
		"line 1, exit code": []byte("0\n"), "line 1, stdout": []byte("{\n  \"n\": 3,\n  \"coef\": [\n    1.25,\n    1.5\n  ]\n}\n"),
		"a.fd": {0, 1, 2}, "m": []byte("cg in 0.01 s"),
	}
	change := func(name string, content []byte) outcome {
		other := outcome{name: content}
		for n, c := range base {
			if n != name {
				other[n] = c
			}
		}
		return other
	}
	if d := differences(base, change("m", []byte("cg in 3.01 s"))); d != nil {
		t.Errorf("the same: %q", d)
	}
	for want, other := range map[string]outcome{
		"line 1, exit code: 1 lines, the first 1: 0 | 1":                                        change("line 1, exit code", []byte("1\n")),
		"line 1, stdout: 1 lines, the first 5 (coef): 1.5 | 1.4999999999999998, relatively 1.5": change("line 1, stdout", []byte("{\n  \"n\": 3,\n  \"coef\": [\n    1.25,\n    1.4999999999999998\n  ]\n}\n")),
		"a.fd: 3 and 3 bytes, they differ from byte 2 on":                                       change("a.fd", []byte{0, 1, 3}),
		"ck: NEW only": change("ck", nil),
		"m: 1 lines":   change("m", []byte("galerkin in 0.01 s")),
	} {
		if d := differences(base, other); len(d) != 1 || !strings.HasPrefix(d[0].String(), want) {
			t.Errorf("%q, want %q", d, want)
		}
	}
	if d := differences(change("ck", nil), base); len(d) != 1 || d[0].String() != "ck: OLD only" {
		t.Errorf("%q", d)
	}
}

// TestAsExpected: an entry that fails otherwise than it should compares nothing.
func TestAsExpected(t *testing.T) {
	e := entry{commands: []command{{until: "ck"}, {exit: 2}}}
	if err := e.asExpected(outcome{"line 2, exit code": []byte("2\n")}); err != nil {
		t.Error(err)
	}
	if err := e.asExpected(outcome{"line 2, exit code": []byte("1\n")}); err == nil {
		t.Error("another exit code is taken")
	}
}

// TestMaskTimes: the times in the file of a window and its checksum are no difference;
// any other byte is one.
func TestMaskTimes(t *testing.T) {
	from := time.Now()
	to := from.Add(time.Second)
	file := func(at time.Time, rest ...byte) []byte {
		b := binary.LittleEndian.AppendUint64([]byte("window\x00"), uint64(at.UnixNano()))
		return maskTimes(append(b, rest...), from, to)
	}
	base := file(from, 7, 1, 2, 3, 4)
	if !bytes.Equal(base, file(from.Add(time.Millisecond), 7, 5, 6, 7, 8)) {
		t.Error("a time within the run, or the checksum, differs")
	}
	if bytes.Equal(base, file(from, 8, 1, 2, 3, 4)) || bytes.Equal(base, file(from.Add(-time.Hour), 7, 1, 2, 3, 4)) {
		t.Error("another byte, or a time before the run, is not told")
	}
}
